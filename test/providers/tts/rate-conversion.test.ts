import { describe, expect, it } from 'vitest';
import { createRateConverter } from '../../../src/providers/tts/rate-conversion.js';

const tone = (hz: number, rateHz: number, samples: number) =>
  Int16Array.from({ length: samples }, (_, at) =>
    Math.round(8000 * Math.sin((2 * Math.PI * hz * at) / rateHz)),
  );

function convert(rateHz: number, pcm: Int16Array, chunk = pcm.length): number[] {
  const converter = createRateConverter(rateHz);
  const output: number[] = [];
  for (let at = 0; at < pcm.length; at += chunk) output.push(...converter.push(pcm.slice(at, at + chunk)));
  output.push(...converter.end());
  converter.close();
  return output;
}

const loudness = (pcm: readonly number[]) =>
  Math.sqrt(pcm.reduce((sum, each) => sum + each * each, 0) / pcm.length);

describe('createRateConverter', () => {
  it.each([8000, 16_000, 22_050, 24_000, 44_100, 48_000])('keeps speech of %i Hz as it is', (rateHz) => {
    const output = convert(rateHz, tone(1000, rateHz, rateHz));
    const expected = [...tone(1000, 16_000, 16_000)];
    expect(output).toHaveLength(16_000);
    const error = output.map((sample, at) => sample - (expected[at] ?? 0)).slice(100, -100);
    expect(loudness(error)).toBeLessThan(80);
  });

  it.each([24_000, 48_000])('takes away from %i Hz what 16 kHz cannot hold', (rateHz) => {
    const output = convert(rateHz, tone(10_500, rateHz, rateHz)).slice(100, -100);
    expect(loudness(output)).toBeLessThan(80);
  });

  it.each([
    [24_000, 1],
    [24_000, 7],
    [24_000, 480],
    [44_100, 7],
  ])('does not depend on where its input is cut: %i Hz in pieces of %i samples', (rateHz, chunk) => {
    const pcm = tone(700, rateHz, 2401);
    expect(convert(rateHz, pcm, chunk)).toEqual(convert(rateHz, pcm));
    expect(convert(rateHz, pcm)).toHaveLength(Math.ceil((2401 * 16_000) / rateHz));
  });
});
