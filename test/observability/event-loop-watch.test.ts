import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EventLoopWatch } from '../../src/observability/event-loop-watch.js';
import { FakeClock } from '../support/fake-clock.js';

describe('EventLoopWatch', () => {
  let clock: FakeClock;
  let callsUp: number;
  let wakes: { readonly lateMs: number; readonly dueMs: number; readonly busyShare: number }[];
  let watch: EventLoopWatch;

  beforeEach(() => {
    clock = new FakeClock();
    callsUp = 0;
    wakes = [];
    const late = (lateMs: number, dueMs: number, busyShare: number) =>
      void wakes.push({ lateMs, dueMs, busyShare });
    watch = new EventLoopWatch({ clock, callsUp: () => callsUp, late });
  });

  afterEach(() => watch.close());

  /** Wakes within so long. */
  function wakesIn(ms: number): number {
    wakes = [];
    clock.advance(ms);
    return wakes.length;
  }

  it('wakes ten times a second while calls are up, and four times while none is', () => {
    clock.advance(1000);
    expect(wakesIn(1000)).toBe(4);
    callsUp = 1;
    clock.advance(1000);
    expect(wakesIn(1000)).toBe(10);
    callsUp = 0;
    clock.advance(1000);
    expect(wakesIn(1000)).toBe(4);
  });

  it('looks closely after a stall, also without calls', () => {
    clock.advance(1000);
    clock.stall(310);
    expect(wakesIn(100)).toBe(2);
    expect(wakes.map(({ lateMs, dueMs }) => [lateMs, dueMs])).toEqual([
      [60, 250],
      [0, 90],
    ]);
    expect(wakesIn(1000)).toBe(4);
  });

  it('tells for what share of the time the loop worked', () => {
    const until = performance.now() + 30;
    while (performance.now() < until);
    clock.advance(100);
    const [wake] = wakes;
    expect(wake?.busyShare).toBeGreaterThan(0);
    expect(wake?.busyShare).toBeLessThanOrEqual(1);
  });

  it('wakes no more once it is closed', () => {
    watch.close();
    expect(clock.pending).toBe(0);
  });
});
