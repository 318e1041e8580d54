import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wavHeader } from '../../../../src/audio/wav-header.js';
import { FrameReader } from '../../../../src/dashboard/ui/state/live-sound.js';

const HEADER = wavHeader({ sampleRateHz: 16_000, channels: 2 }, 0xffff_ffd8);

function read(pieces: readonly Uint8Array[]) {
  const reader = new FrameReader();
  const [left, right]: [number[], number[]] = [[], []];
  for (const piece of pieces) {
    const frames = reader.read(piece);
    expect(frames.left).toHaveLength(frames.right.length);
    left.push(...frames.left);
    right.push(...frames.right);
  }
  return { left, right, sampleRateHz: reader.sampleRateHz };
}

describe('what arrives of a live call', () => {
  it('is read frame by frame: the caller left, the agent right', () => {
    const samples = Int16Array.of(16_384, -16_384, 32_767, -32_768);
    const { left, right, sampleRateHz } = read([HEADER, new Uint8Array(samples.buffer)]);
    expect(sampleRateHz).toBe(16_000);
    expect(left).toEqual([0.5, 32_767 / 32_768].map(Math.fround));
    expect(right).toEqual([-0.5, -1]);
  });

  it('has no frame before its header is whole', () => {
    const { left, sampleRateHz } = read([HEADER.subarray(0, 43)]);
    expect([left, sampleRateHz]).toEqual([[], undefined]);
  });

  it('is the same in pieces of any length', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -32_768, max: 32_767 }), { maxLength: 40 }),
        fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 20 }),
        (samples, cuts) => {
          const pcm = Int16Array.from([...samples, ...samples]);
          const all = Buffer.concat([HEADER, new Uint8Array(pcm.buffer)]);
          const places = [0, ...cuts.map((cut) => Math.min(cut * 3, all.length)).sort((a, b) => a - b)];
          const pieces = places.map((from, index) => all.subarray(from, places[index + 1] ?? all.length));
          expect(read(pieces)).toEqual(read([all]));
        },
      ),
    );
  });
});
