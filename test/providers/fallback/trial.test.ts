import { describe, expect, it } from 'vitest';
import { leftOfTrial } from '../../../src/providers/fallback/trial.js';

describe('leftOfTrial', () => {
  const trial = { since: 1000, now: 1400, ownMs: 3000, nextMs: 1700 };
  const left = (leftMs: number) => leftOfTrial({ leftMs: () => leftMs }, trial).leftMs;

  it('is what the provider has itself, where nobody waits', () => {
    expect(leftOfTrial(undefined, trial).leftMs).toBe(2600);
    expect(left(Number.POSITIVE_INFINITY)).toBe(2600);
    expect(left(10_000)).toBe(2600);
  });

  it('leaves the next one its time, or half of what there was', () => {
    expect(left(3300)).toBe(1600);
    expect(left(1000)).toBe(300);
    expect(left(100)).toBeLessThan(0);
  });

  it('is fair once the provider has had half of what it may have itself', () => {
    expect(leftOfTrial(undefined, { ...trial, now: 2499 }).isFair).toBe(false);
    expect(leftOfTrial(undefined, { ...trial, now: 2500 }).isFair).toBe(true);
  });
});
