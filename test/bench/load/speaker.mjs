// The agent's half of a voice pipeline on `ws`: speech of 24 kHz from memory, brought to mu-law by offhook's transcoder, as frames of 20 ms
// in real time with a mark each second. One timer serves all calls. The caller's frames are read and dropped.
import { headsOf, openBareServer, textOf } from './bare-server.mjs';
import { createSpeech, SPEECH_RATE_HZ } from './speech.mjs';

/** @type {typeof import('../../../src/transcoder/index.js')} */
const { transcoder } = await import(new URL('../../../dist/transcoder/index.js', import.meta.url).href);

const FRAME_MS = 20;
const FRAME_SAMPLES = (SPEECH_RATE_HZ * FRAME_MS) / 1000;
const FRAMES_PER_MARK = 50;

const speech = createSpeech(4 * SPEECH_RATE_HZ);
/** Sends the frames of one call that are due. @type {Set<(now: number) => void>} */
const speakers = new Set();
setInterval(() => {
  const now = performance.now();
  for (const speak of speakers) speak(now);
}, FRAME_MS);

openBareServer((socket) => {
  /** @type {ReturnType<typeof createSpeaker> | undefined} */
  let speak;
  socket.on('message', (data) => {
    const text = textOf(data);
    if (speak !== undefined || !text.includes('"start"')) return;
    speak = createSpeaker(socket, JSON.parse(text).streamSid);
    speakers.add(speak);
  });
  socket.on('close', () => speak !== undefined && speakers.delete(speak));
});

/** @param {import('./bare-server.mjs').StreamSocket} socket @param {string} streamSid */
function createSpeaker(socket, streamSid) {
  const heads = headsOf(streamSid);
  const resampler = transcoder.createResampler(SPEECH_RATE_HZ, 8000);
  const encoded = Buffer.alloc(160);
  const beganAt = performance.now();
  let sent = 0;
  const sendFrame = () => {
    const from = (sent * FRAME_SAMPLES) % speech.length;
    const bytes = resampler.processToMulaw(speech.subarray(from, from + FRAME_SAMPLES), encoded);
    const payload = encoded.toString('base64', 0, bytes.length);
    sent += 1;
    if (sent % FRAMES_PER_MARK !== 0) {
      socket.send(`${heads.media}${payload}"}}`);
      return;
    }
    socket._socket.cork();
    socket.send(`${heads.media}${payload}"}}`);
    socket.send(`${heads.mark}${sent}"}}`);
    socket._socket.uncork();
  };
  /** @param {number} now */
  return (now) => {
    while (beganAt + sent * FRAME_MS <= now) sendFrame();
  };
}
