import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Framer } from '../../src/audio/framer.js';

function collect(frameSamples: number) {
  const frames: number[][] = [];
  return { frames, framer: new Framer(frameSamples, (frame) => void frames.push([...frame])) };
}

describe('Framer', () => {
  it('hands out whole frames in order, whatever the chunks, and the rest filled up with silence', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50 })), (sizes) => {
        const { frames, framer } = collect(16);
        const total = sizes.reduce((sum, size) => sum + size, 0);
        const all = Int16Array.from({ length: total }, (_, index) => index + 1);
        let at = 0;
        for (const size of sizes) {
          framer.push(all.subarray(at, at + size));
          at += size;
          expect(frames).toHaveLength(Math.floor(at / 16));
        }
        framer.flush();
        framer.flush();
        expect(frames.every((frame) => frame.length === 16)).toBe(true);
        const out = frames.flat();
        expect(out.slice(0, total)).toEqual([...all]);
        expect(out.slice(total)).toEqual(new Array((16 - (total % 16)) % 16).fill(0));
      }),
    );
  });

  it('forgets what waits at a reset', () => {
    const { frames, framer } = collect(4);
    framer.push(Int16Array.of(1, 2, 3));
    framer.reset();
    framer.push(Int16Array.of(4, 5, 6, 7));
    expect(frames).toEqual([[4, 5, 6, 7]]);
  });
});
