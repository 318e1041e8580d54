// What no carrier should send on a stream, and a phone server must survive.
import type { StreamNoise } from './switchboard.js';

/** Longer than any message of the carrier. */
const OVERSIZE_BYTES = 200_000;

/**
 * Noise for every stream: media before the start, then a binary frame, broken JSON, a message that is far too long, a second
 * start, media of another stream, and an event that does not exist.
 */
export const streamNoise: StreamNoise = ({ streamSid, callSid, accountSid }) => {
  const media = (sid: string, payload: string) =>
    JSON.stringify({
      event: 'media',
      sequenceNumber: '1',
      streamSid: sid,
      media: { track: 'inbound', chunk: '1', timestamp: '0', payload },
    });
  const start = {
    accountSid,
    streamSid,
    callSid,
    tracks: ['inbound'],
    mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
    customParameters: { caller: '+19995550000', callee: '+19995550001' },
  };
  const silence = Buffer.alloc(160, 0xff).toString('base64');
  return {
    beforeStart: [media(streamSid, silence)],
    afterStart: [
      new Uint8Array([0, 1, 2, 3]),
      '{"event":"media",',
      media(streamSid, 'A'.repeat(OVERSIZE_BYTES)),
      JSON.stringify({ event: 'start', sequenceNumber: '2', streamSid, start }),
      media(`MZ${'0'.repeat(32)}`, silence),
      JSON.stringify({ event: 'weather', sequenceNumber: '3', streamSid }),
    ],
  };
};
