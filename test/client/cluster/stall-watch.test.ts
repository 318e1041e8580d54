import { describe, expect, it } from 'vitest';
import { StallWatch } from '../../../src/client/cluster/stall-watch.js';
import { FakeClock } from '../../support/fake-clock.js';

function watch({ leasedUntil }: { leasedUntil: number }) {
  const clock = new FakeClock();
  let stalls = 0;
  const watching = new StallWatch({
    clock,
    leasedUntil: () => leasedUntil,
    stalled: () => {
      stalls += 1;
    },
  });
  /** Something wakes the process ten times a second. */
  const pass = (ms: number) => {
    for (let passedMs = 0; passedMs < ms; passedMs += 100) {
      clock.advance(100);
      watching.notice();
    }
  };
  return { watching, pass, freeze: (ms: number) => clock.stall(ms), stalls: () => stalls };
}

describe('StallWatch', () => {
  it('tells at once that the process stood still for longer than its lease, and once', () => {
    const { watching, freeze, pass, stalls } = watch({ leasedUntil: 5000 });
    pass(300);
    expect(stalls()).toBe(0);
    freeze(6000);
    watching.notice();
    watching.notice();
    expect(stalls()).toBe(1);
  });

  it('takes a short stall within the lease for none, and one without a broker', () => {
    const leased = watch({ leasedUntil: 5000 });
    leased.freeze(3000);
    leased.watching.notice();
    expect(leased.stalls()).toBe(0);
    const alone = watch({ leasedUntil: 0 });
    alone.freeze(3000);
    alone.watching.notice();
    expect(alone.stalls()).toBe(0);
    alone.freeze(6000);
    alone.watching.notice();
    expect(alone.stalls()).toBe(1);
  });

  it('remembers for three seconds a stall in which another node may have asked in vain', () => {
    const { watching, freeze, pass } = watch({ leasedUntil: 5000 });
    pass(1000);
    freeze(399);
    watching.notice();
    expect(watching.hasStoodStill).toBe(false);
    freeze(400);
    watching.notice();
    expect(watching.hasStoodStill).toBe(true);
    pass(2900);
    expect(watching.hasStoodStill).toBe(true);
    pass(100);
    expect(watching.hasStoodStill).toBe(false);
  });

  it('takes a loop that is woken all the time for none, whatever its lease', () => {
    const { watching, pass, stalls } = watch({ leasedUntil: 5000 });
    pass(20_000);
    expect(stalls()).toBe(0);
    expect(watching.hasStoodStill).toBe(false);
  });
});
