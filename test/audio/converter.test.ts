import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createInboundConverter, createOutboundConverter } from '../../src/audio/converter.js';
import { ALAW_8K, type AudioFormat, frameBytes, MULAW_8K, PCM_16K, PCM_24K } from '../../src/audio/format.js';
import { loadTranscoder } from '../../src/transcoder/select.js';

const backend = loadTranscoder('javascript');
const FORMATS: readonly (readonly [string, AudioFormat])[] = [
  ['mu-law 8 kHz', MULAW_8K],
  ['A-law 8 kHz', ALAW_8K],
  ['PCM 8 kHz', { encoding: 'pcm', sampleRateHz: 8000 }],
  ['PCM 16 kHz', PCM_16K],
  ['PCM 24 kHz', PCM_24K],
];

function tone(samples: number, rateHz: number): Int16Array {
  return Int16Array.from({ length: samples }, (_, index) =>
    Math.round(8000 * Math.sin((2 * Math.PI * 440 * index) / rateHz)),
  );
}

function toneIn(format: AudioFormat, ms: number): Uint8Array {
  const pcm = tone((format.sampleRateHz * ms) / 1000, format.sampleRateHz);
  if (format.encoding === 'pcm') return new Uint8Array(pcm.buffer);
  return format.encoding === 'mulaw' ? backend.mulawEncode(pcm) : backend.alawEncode(pcm);
}

function cut<T extends Uint8Array | Int16Array>(all: T, sizes: readonly number[]): T[] {
  const pieces: T[] = [];
  let at = 0;
  for (const size of sizes) {
    pieces.push(all.slice(at, at + size) as T);
    at += size;
  }
  pieces.push(all.slice(at) as T);
  return pieces;
}

describe.each(FORMATS)('converters of %s', (_, format) => {
  it('gives one house frame for every wire frame, and back', () => {
    const inbound = createInboundConverter(format, backend);
    const outbound = createOutboundConverter(format, backend);
    const wire = toneIn(format, 200);
    for (let at = 0; at < wire.length; at += frameBytes(format)) {
      const frame = inbound.convert(wire.subarray(at, at + frameBytes(format)));
      expect(frame).toHaveLength(320);
      expect(outbound.convert(frame)).toHaveLength(frameBytes(format));
    }
    inbound.close();
    outbound.close();
  });

  it('gives the same samples for any chunking of the bytes', () => {
    const wire = toneIn(format, 100);
    const whole = [...createInboundConverter(format, backend).convert(wire)];
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 20 }), (sizes) => {
        const converter = createInboundConverter(format, backend);
        // An odd address in memory, as a view into a larger message has.
        const pieces = cut(wire, sizes).map((piece) => Buffer.concat([Buffer.alloc(1), piece]).subarray(1));
        expect(pieces.flatMap((piece) => [...converter.convert(piece)])).toEqual(whole);
      }),
      { numRuns: 30 },
    );
  });

  it('keeps a tone that goes out and comes in', () => {
    const house = tone(3200, 16_000);
    const out = createOutboundConverter(format, backend).convert(house).slice();
    const back = createInboundConverter(format, backend).convert(out);
    expect(rms(back.subarray(800))).toBeGreaterThan(0.9 * rms(house));
    expect(rms(back.subarray(800))).toBeLessThan(1.1 * rms(house));
  });

  it('starts afresh after a reset', () => {
    const converter = createOutboundConverter(format, backend);
    const first = [...converter.convert(tone(640, 16_000))];
    converter.convert(tone(333, 16_000));
    converter.reset();
    expect([...converter.convert(tone(640, 16_000))]).toEqual(first);
  });

  it('can be closed twice', () => {
    for (const converter of [
      createInboundConverter(format, backend),
      createOutboundConverter(format, backend),
    ]) {
      converter.close();
      expect(() => converter.close()).not.toThrow();
    }
  });
});

function rms(pcm: Int16Array): number {
  return Math.sqrt(pcm.reduce((sum, sample) => sum + sample * sample, 0) / pcm.length);
}
