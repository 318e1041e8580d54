import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineMeter } from '../../../src/calls/money/line-meter.js';

const PER_MINUTE = { perMinute: 0.0085, stepSeconds: 60 };

describe('LineMeter', () => {
  it.each([
    [0, 8_500_000, 60],
    [59_999, 8_500_000, 60],
    [60_000, 8_500_000, 60],
    [60_001, 17_000_000, 120],
    [185_000, 34_000_000, 240],
  ])('bills %d ms by the begun minute', (elapsedMs, nanos, seconds) => {
    const meter = new LineMeter(PER_MINUTE);
    expect(meter.nanos(elapsedMs)).toBe(nanos);
    expect(meter.billedSeconds(elapsedMs)).toBe(seconds);
  });

  it('bills in steps of the price', () => {
    const meter = new LineMeter({ perMinute: 0.006, stepSeconds: 1 });
    expect(meter.nanos(90_500)).toBe(9_100_000);
    expect(meter.billedSeconds(90_500)).toBe(91);
    expect(meter.nextStepMs(90_500)).toBe(91_000);
  });

  it('waits for no step where time costs nothing', () => {
    expect(new LineMeter({ perMinute: 0, stepSeconds: 60 }).nextStepMs(5)).toBe(Number.POSITIVE_INFINITY);
  });

  it('costs the same until the next step, and more behind it', () => {
    fc.assert(
      fc.property(fc.nat(10_000_000), fc.integer({ min: 1, max: 600 }), (elapsedMs, stepSeconds) => {
        const meter = new LineMeter({ perMinute: 0.01, stepSeconds });
        const next = meter.nextStepMs(elapsedMs);
        expect(next).toBeGreaterThanOrEqual(elapsedMs);
        expect(meter.nanos(next)).toBe(meter.nanos(elapsedMs));
        expect(meter.nanos(next + 1)).toBeGreaterThan(meter.nanos(elapsedMs));
      }),
    );
  });
});
