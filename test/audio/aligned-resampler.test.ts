import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AlignedResampler, resampleAligned } from '../../src/audio/aligned-resampler.js';
import { TranscoderError } from '../../src/base/errors.js';
import { allPaths } from '../../src/transcoder/rates.js';
import { transcoder } from '../../src/transcoder/select.js';

const RATES = allPaths().map(({ fromHz, toHz }) => ({ fromHz, toHz }));

const tone = (rateHz: number, samples: number) =>
  Int16Array.from({ length: samples }, (_, at) =>
    Math.round(8000 * Math.sin((2 * Math.PI * 1000 * at) / rateHz)),
  );

describe.each(RATES)('AlignedResampler from $fromHz to $toHz Hz', ({ fromHz, toHz }) => {
  it('is in time with its input', () => {
    const output = resampleAligned(tone(fromHz, fromHz / 2), { fromHz, toHz }, transcoder);
    const expected = tone(toHz, toHz / 2);
    expect(output).toHaveLength(expected.length);
    const worst = Math.max(
      ...output.subarray(200, -200).map((sample, at) => Math.abs(sample - (expected[at + 200] ?? 0))),
    );
    expect(worst).toBeLessThan(100);
  });

  it('gives as much as it is given, the same whatever the pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 12 }), (sizes) => {
        const pcm = tone(
          fromHz,
          sizes.reduce((sum, size) => sum + size, 0),
        );
        const resampler = new AlignedResampler(fromHz, toHz, transcoder);
        const output: number[] = [];
        let at = 0;
        for (const size of sizes) {
          output.push(...resampler.push(pcm.subarray(at, at + size)));
          at += size;
        }
        output.push(...resampler.end());
        resampler.close();
        resampler.close();
        expect(output).toHaveLength(Math.ceil((pcm.length * toHz) / fromHz));
        expect(output).toEqual([...resampleAligned(pcm, { fromHz, toHz }, transcoder)]);
      }),
      { numRuns: 30 },
    );
  });
});

describe('AlignedResampler', () => {
  it('refuses a rate that is not offered, and any use after its end', () => {
    expect(() => new AlignedResampler(44_100, 16_000, transcoder)).toThrow(TranscoderError);
    const resampler = new AlignedResampler(8000, 16_000, transcoder);
    resampler.close();
    expect(() => resampler.push(new Int16Array(1))).toThrow(TranscoderError);
  });
});
