import { afterEach, describe, expect, it, vi } from 'vitest';
import { refusalFailure } from '../../../src/providers/wire/failure.js';
import { RetryPlan } from '../../../src/providers/wire/retry-plan.js';
import { FakeClock } from '../../support/fake-clock.js';

afterEach(() => vi.restoreAllMocks());

function pauses(
  status: number,
  options: { retryAfter?: string; throttledTries?: number; persists?: boolean } = {},
): number[] {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const clock = new FakeClock();
  const { retryAfter, persists = false, ...plan } = options;
  const retries = new RetryPlan({ clock, persists: () => persists, ...plan });
  const found: number[] = [];
  for (;;) {
    const pauseMs = retries.next(refusalFailure({ status, retryAfter }));
    if (pauseMs === null) return found;
    found.push(pauseMs);
    clock.advance(pauseMs);
  }
}

describe('RetryPlan', () => {
  it('tries three times in all when the vendor is in trouble', () => {
    expect(pauses(503)).toEqual([100, 500]);
  });

  it('backs off when it is asked for too much', () => {
    expect(pauses(429)).toEqual([250, 500, 1000]);
    expect(pauses(429, { throttledTries: 1 })).toEqual([250]);
  });

  it('waits as long as the vendor wants, up to a second and a half', () => {
    expect(pauses(429, { retryAfter: '1.5' })).toEqual([1500, 1500]);
    expect(pauses(429, { retryAfter: '2' })).toEqual([]);
  });

  it('does not try what is sure to fail', () => {
    expect(pauses(401)).toEqual([]);
  });

  it('goes on with growing pauses for as long as there is time, where it is to persist', () => {
    expect(pauses(503, { persists: true })).toEqual([100, 250, 500, 750, 750, 750, 400]);
    expect(pauses(429, { persists: true, throttledTries: 1 })).toEqual([250, 500, 1000, 1000, 750]);
    expect(pauses(503, { persists: true, retryAfter: '2' })).toEqual([2000]);
    expect(pauses(503, { persists: true, retryAfter: '4' })).toEqual([]);
    for (const status of [401, 403, 404]) expect(pauses(status, { persists: true })).toEqual([]);
  });

  it('starts nothing four seconds after the first failure', () => {
    const clock = new FakeClock();
    const plan = new RetryPlan({ clock });
    clock.advance(60_000);
    expect(plan.next(refusalFailure({ status: 500 }))).not.toBeNull();
    clock.advance(3900);
    expect(plan.next(refusalFailure({ status: 500 }))).toBeNull();
  });

  it('counts from when the trouble began, where that is told', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const clock = new FakeClock();
    const plan = new RetryPlan({ clock, startedAt: -3000 });
    expect(plan.leftMs).toBe(1000);
    clock.advance(850);
    expect(plan.next(refusalFailure({ status: 500 }))).toBe(100);
    expect(plan.leftMs).toBe(150);
    expect(plan.next(refusalFailure({ status: 500 }))).toBeNull();
    expect(new RetryPlan({ clock }).leftMs).toBe(4000);
  });

  it('spreads the pauses', () => {
    const plan = () => new RetryPlan({ clock: new FakeClock() }).next(refusalFailure({ status: 500 })) ?? 0;
    vi.spyOn(Math, 'random').mockReturnValueOnce(0).mockReturnValueOnce(1);
    expect([plan(), plan()]).toEqual([75, 125]);
  });
});
