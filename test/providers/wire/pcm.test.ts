import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLoud, SampleReader, toBytes } from '../../../src/providers/wire/pcm.js';

it.each([
  [0, false],
  [150, false],
  [250, true],
])('takes samples of %i for loud: %s', (sample, loud) => {
  expect(isLoud(new Int16Array(320).fill(sample))).toBe(loud);
});

describe('SampleReader', () => {
  it('gives the same samples wherever the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -32768, max: 32767 })),
        fc.array(fc.integer({ min: 0, max: 9 })),
        (samples, lengths) => {
          const bytes = toBytes(Int16Array.from(samples));
          const reader = new SampleReader();
          const got: number[] = [];
          let at = 0;
          for (const length of [...lengths, bytes.length]) {
            got.push(...reader.read(bytes.subarray(at, at + length)));
            at += length;
          }
          expect(got).toEqual(samples);
        },
      ),
    );
  });

  it('reads from bytes that lie at an odd address, little end first', () => {
    const memory = new Uint8Array([0, 0x34, 0x12, 0xff, 0xff]);
    expect([...new SampleReader().read(memory.subarray(1))]).toEqual([0x1234, -1]);
  });

  it('hands out arrays of its own', () => {
    const bytes = new Uint8Array([1, 0, 2, 0]);
    const pcm = new SampleReader().read(bytes);
    bytes.fill(9);
    expect([...pcm]).toEqual([1, 2]);
  });
});
