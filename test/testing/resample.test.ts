import { describe, expect, it } from 'vitest';
import { resampleRecording } from '../../src/testing/resample.js';

const tone = (frequencyHz: number, rateHz: number, seconds = 0.25) =>
  Int16Array.from({ length: rateHz * seconds }, (_, i) =>
    Math.round(10_000 * Math.sin((2 * Math.PI * frequencyHz * i) / rateHz)),
  );

/** Largest difference away from the edges, relative to the amplitude, in dB. */
function errorDb(actual: Int16Array, expected: Int16Array): number {
  let largest = 0;
  for (let i = 400; i < expected.length - 400; i += 1) {
    largest = Math.max(largest, Math.abs((actual[i] ?? 0) - (expected[i] ?? 0)));
  }
  return 20 * Math.log10((largest + 0.1) / 10_000);
}

describe('resampleRecording', () => {
  it.each([44_100, 48_000, 22_050, 11_025, 32_000])(
    'brings speech frequencies from %i Hz to 8 kHz in time and level',
    (rateHz) => {
      for (const frequencyHz of [200, 1000, 3300]) {
        const output = resampleRecording(tone(frequencyHz, rateHz), rateHz, 8000);
        expect(output).toHaveLength(2000);
        expect(errorDb(output, tone(frequencyHz, 8000))).toBeLessThan(-55);
      }
    },
  );

  it('lets nothing above the new half rate through', () => {
    const output = resampleRecording(tone(5200, 48_000), 48_000, 8000);
    expect(errorDb(output, new Int16Array(output.length))).toBeLessThan(-65);
  });

  it.each([
    [16_000, 8000],
    [24_000, 8000],
    [8000, 16_000],
  ])('keeps length and place in time from %i to %i Hz', (fromHz, toHz) => {
    const output = resampleRecording(tone(440, fromHz), fromHz, toHz);
    expect(output).toHaveLength(toHz / 4);
    expect(errorDb(output, tone(440, toHz))).toBeLessThan(-50);
  });

  it('leaves a recording at its own rate alone', () => {
    const samples = tone(300, 8000);
    expect(resampleRecording(samples, 8000, 8000)).toBe(samples);
  });
});
