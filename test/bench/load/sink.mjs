// The caller's half of a voice pipeline on `ws`: each frame parsed, decoded and brought to 16 kHz by offhook's transcoder; nothing is sent.
import { openBareServer } from './bare-server.mjs';

/** @type {typeof import('../../../src/transcoder/index.js')} */
const { transcoder } = await import(new URL('../../../dist/transcoder/index.js', import.meta.url).href);

openBareServer((socket) => {
  const resampler = transcoder.createResampler(8000, 16_000);
  const heard = new Int16Array(320);
  socket.on('close', () => resampler.free());
  socket.on('message', (data) => {
    const { event, media } = JSON.parse(data.toString());
    if (event === 'media') resampler.processFromMulaw(Buffer.from(media.payload, 'base64'), heard);
  });
});
