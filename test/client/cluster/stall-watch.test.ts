import { describe, expect, it } from 'vitest';
import { StallWatch } from '../../../src/client/cluster/stall-watch.js';
import { FakeClock } from '../../support/fake-clock.js';

function watch(leases: { leftMs: number }) {
  const clock = new FakeClock();
  let lateMs = 0;
  // Time that passes while nothing runs.
  const frozen = { now: () => clock.now() + lateMs, wallNow: () => 0, after: clock.after.bind(clock) };
  let stalls = 0;
  const pass = (ms: number) => clock.advance(ms);
  const watching = new StallWatch({
    clock: frozen,
    leaseLeftMs: () => Math.max(0, leases.leftMs - lateMs),
    stalled: () => {
      stalls += 1;
    },
  });
  return { watching, pass, freeze: (ms: number) => (lateMs += ms), stalls: () => stalls };
}

describe('StallWatch', () => {
  it('tells at once that the process stood still for longer than its lease, and once', () => {
    const { watching, freeze, stalls } = watch({ leftMs: 5000 });
    watching.notice();
    expect(stalls()).toBe(0);
    freeze(6000);
    watching.notice();
    watching.notice();
    expect(stalls()).toBe(1);
  });

  it('takes a short stall within the lease for none, and one without a broker', () => {
    const leased = watch({ leftMs: 5000 });
    leased.freeze(3000);
    leased.watching.notice();
    expect(leased.stalls()).toBe(0);
    const alone = watch({ leftMs: 0 });
    alone.freeze(3000);
    alone.watching.notice();
    expect(alone.stalls()).toBe(0);
    alone.freeze(6000);
    alone.watching.notice();
    expect(alone.stalls()).toBe(1);
  });

  it('remembers for three seconds a stall in which another node may have asked in vain', () => {
    const { watching, freeze, pass } = watch({ leftMs: 5000 });
    pass(1000);
    freeze(500);
    watching.notice();
    expect(watching.hasStoodStill).toBe(false);
    freeze(100);
    watching.notice();
    expect(watching.hasStoodStill).toBe(true);
    pass(2900);
    expect(watching.hasStoodStill).toBe(true);
    // The beat that was late has been so by 250 ms more.
    pass(400);
    expect(watching.hasStoodStill).toBe(false);
  });
});
