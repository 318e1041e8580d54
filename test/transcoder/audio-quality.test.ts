import { describe, expect, it } from 'vitest';
import { loadTranscoder } from '../../src/transcoder/select.js';
import { BARS, measurePath } from '../bench/audio-quality.mjs';

/** What the filters measure, with a little room: less would mean that a filter has changed. */
const HELD = [
  { rippleDb: 0.0005, strayDb: -94, sinadDb: 94.9, delayMs: 2.4375 },
  { rippleDb: 0.0005, strayDb: -94, sinadDb: 94.9, delayMs: 2.375 },
  { rippleDb: 0.0005, strayDb: -94, sinadDb: 94.5, delayMs: 1.4583 },
  { rippleDb: 0.0065, strayDb: -94, sinadDb: 94.5, delayMs: 1.5625 },
  { rippleDb: 0.0005, strayDb: -94, sinadDb: 94.5, delayMs: 2.4583 },
  { rippleDb: 0.0005, strayDb: -94, sinadDb: 94.9, delayMs: 2.375 },
];

describe('audio', () => {
  // All backends give the same bytes (resampler.test.ts), so one is measured.
  it.each(BARS.map((bars, index) => ({ bars, held: HELD[index]!, way: `${bars.fromHz} to ${bars.toHz}` })))(
    'from $way keeps its figures',
    ({ bars, held }) => {
      const figures = measurePath(loadTranscoder('wasm'), bars, { tones: 12, seconds: 0.5 });
      expect(figures.rippleDb).toBeLessThan(held.rippleDb);
      expect(figures.strayDb).toBeLessThan(held.strayDb);
      expect(figures.strayMarginDb).toBeGreaterThan(0);
      expect(figures.sinadDb).toBeGreaterThan(held.sinadDb);
      expect(figures.delayMs).toBeCloseTo(held.delayMs, 3);
      expect(figures.delayMs).toBeLessThan(bars.delayMs);
      expect(figures.chunksSame && figures.framesWhole).toBe(true);
    },
  );
});
