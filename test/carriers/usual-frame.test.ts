// A frame that a carrier writes as usual is cut, not parsed. Whatever a message is, both ways say the same: blanks in front of it mean
// nothing in JSON, and only the full parse takes them.
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { openMediaDialect as openA } from '../../src/carriers/carrier-a/media.js';
import type { MediaDialect } from '../../src/carriers/carrier.js';
import { openMediaDialect as openB } from '../../src/carriers/carrier-b/media.js';
import { runs } from '../support/depth.js';
import { garbled, mutations } from '../support/garbled.js';

const PAYLOADS = [160, 80, 1, 2, 0].map((bytes) => Buffer.alloc(bytes, 0xa5).toString('base64'));

interface Wire {
  readonly carrier: string;
  open(): MediaDialect;
  readonly start: string;
  readonly frames: readonly string[];
}

const inbound = (payload: string) =>
  `"media":{"track":"inbound","chunk":"7","timestamp":"120","payload":"${payload}"}`;
const startA = {
  event: 'start',
  start: {
    streamSid: 'MZ1',
    callSid: 'CA1',
    mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
  },
};
const startB = {
  event: 'start',
  stream_id: 's-1',
  start: { call_control_id: 'v3:abc', media_format: { encoding: 'PCMU', sample_rate: 8000, channels: 1 } },
};

const WIRES: readonly Wire[] = [
  {
    carrier: 'A',
    open: openA,
    start: JSON.stringify(startA),
    frames: PAYLOADS.flatMap((payload) => [
      `{"event":"media","sequenceNumber":"8",${inbound(payload)},"streamSid":"MZ1"}`,
      `{"event":"media","sequenceNumber":"8","streamSid":"MZ1",${inbound(payload)}}`,
      `{"event":"media","sequenceNumber":"8","streamSid":"MZ2",${inbound(payload)},"streamSid":"MZ1"}`,
      `{"event":"media","sequenceNumber":"8","streamSid":"MZ2",${inbound(payload)}}`,
    ]),
  },
  {
    carrier: 'B',
    open: () => openB({ codec: 'fallback', l16ByteOrder: 'little' }),
    start: JSON.stringify(startB),
    frames: PAYLOADS.flatMap((payload) => [
      `{"event":"media","sequence_number":"8",${inbound(payload)},"stream_id":"s-1"}`,
      `{"event":"media","sequence_number":"8",${inbound(payload)},"stream_id":"s-2"}`,
    ]),
  },
];

/** What a stream hears of `text` behind its start. */
function heard({ open, start }: Wire, text: string): unknown {
  const dialect = open();
  dialect.decode('{"event":"connected"}');
  expect(dialect.decode(start)).toMatchObject({ type: 'start' });
  const message = dialect.decode(text);
  return message.type === 'audio' ? { ...message, payload: [...message.payload] } : message;
}

describe.each(WIRES)('a frame of carrier $carrier', (wire) => {
  it('that is written as usual is audio', () => {
    expect(heard(wire, wire.frames[0] ?? '')).toEqual({ type: 'audio', payload: Array(160).fill(0xa5) });
  });

  it('is read without the whole of its message', () => {
    const dialect = wire.open();
    dialect.decode('{"event":"connected"}');
    dialect.decode(wire.start);
    const parse = vi.spyOn(JSON, 'parse');
    const [frame = ''] = wire.frames;
    expect(dialect.decode(frame).type).toBe('audio');
    expect(parse).not.toHaveBeenCalled();
  });

  it('is what the whole of its message says, however that was garbled', { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(fc.constantFrom(...wire.frames), mutations, (frame, changes) => {
        const text = garbled(frame, changes);
        expect(heard(wire, text)).toEqual(heard(wire, ` ${text}`));
      }),
      { numRuns: runs(5000, 200_000) },
    );
  });
});
