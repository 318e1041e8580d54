import { describe, expect, it } from 'vitest';
import { type Clock, punctualClock, steadyClock, stoppableClock, systemClock } from '../../src/base/clock.js';
import { LooseEnds } from '../../src/base/loose-ends.js';
import { pause } from '../../src/base/pause.js';
import { FakeClock } from '../support/fake-clock.js';

/** A platform whose timers count whole milliseconds, ring `earlyMs` early, and at once for a delay that they cannot count. */
function platform(earlyMs: number) {
  const world = new FakeClock();
  const asked: number[] = [];
  const source: Clock = {
    now: () => world.now(),
    wallNow: () => world.wallNow(),
    after(delayMs, task) {
      asked.push(delayMs);
      const isCounted = delayMs >= 1 && delayMs <= 2 ** 31 - 1;
      const wholeMs = isCounted ? Math.trunc(delayMs) : 1;
      return world.after(Math.max(0.05, wholeMs - earlyMs), task);
    },
  };
  return { world, asked, clock: punctualClock(source) };
}

describe('a clock', () => {
  it.each([0, 0.3, 0.99])(
    'rings once, and never before the time, on timers that ring %d ms early',
    (earlyMs) => {
      const { world, clock } = platform(earlyMs);
      world.advance(0.137);
      const rings: [dueAt: number, rungAt: number][] = [];
      for (const delayMs of [0.2, 1, 1.5, 19.7, 250, 593.75, 3000]) {
        const dueAt = clock.now() + delayMs;
        clock.after(delayMs, () => rings.push([dueAt, clock.now()]));
      }
      world.advance(4000);
      expect(rings).toHaveLength(7);
      for (const [dueAt, rungAt] of rings) {
        expect(rungAt).toBeGreaterThanOrEqual(dueAt);
        expect(rungAt - dueAt).toBeLessThan(1.1);
      }
      expect(world.pending).toBe(0);
    },
  );

  it.each([0, -5, Number.NaN, Number.NEGATIVE_INFINITY])(
    'takes a delay of %d for none, behind the caller',
    (delayMs) => {
      const { world, clock } = platform(0.9);
      let rings = 0;
      clock.after(delayMs, () => {
        rings += 1;
      });
      expect(rings).toBe(0);
      world.advance(2);
      expect(rings).toBe(1);
    },
  );

  it('waits for weeks, and for ever, without asking for more than timers can count', () => {
    const { world, asked, clock } = platform(0.9);
    const rings: string[] = [];
    clock.after(2 ** 31 + 5, () => rings.push('weeks'));
    clock.after(Number.POSITIVE_INFINITY, () => rings.push('never'));
    world.advance(2 ** 31 + 4);
    expect(rings).toEqual([]);
    world.advance(3);
    expect(rings).toEqual(['weeks']);
    world.advance(2 ** 33);
    expect(rings).toEqual(['weeks']);
    expect(Math.max(...asked)).toBe(2 ** 31 - 1);
  });

  it('can be cancelled before and after a timer has rung early, and twice', () => {
    const { world, clock } = platform(0.9);
    const rings: string[] = [];
    const first = clock.after(10, () => rings.push('first'));
    const second = clock.after(10, () => rings.push('second'));
    first.cancel();
    world.advance(9.5);
    second.cancel();
    second.cancel();
    world.advance(100);
    expect(rings).toEqual([]);
    expect(world.pending).toBe(0);
  });

  it('is that of the system', async () => {
    for (const delayMs of [0.4, 1.6, 7.3]) {
      const dueAt = systemClock.now() + delayMs;
      const rungAt = await new Promise<number>((resolve) => {
        // The timer itself keeps no process alive.
        const alive = setInterval(() => {}, 1000);
        systemClock.after(delayMs, () => {
          clearInterval(alive);
          resolve(systemClock.now());
        });
      });
      expect(rungAt).toBeGreaterThanOrEqual(dueAt);
    }
  });
});

describe('pause', () => {
  const over = (task: Promise<void>) => {
    const state = { isOver: false };
    void task.then(() => {
      state.isOver = true;
    });
    return state;
  };

  it.each([0, 0.9])('is over when its timer rings, be it %d ms early', async (earlyMs) => {
    FakeClock.earlyMs = earlyMs;
    const clock = new FakeClock();
    FakeClock.earlyMs = 0;
    const waiting = over(pause(clock, 250.75));
    await clock.advanceAsync(249);
    expect(waiting.isOver).toBe(false);
    await clock.advanceAsync(2);
    expect(waiting.isOver).toBe(true);
  });

  it('is over at once when its signal has aborted, and as soon as it does', async () => {
    const clock = new FakeClock();
    const before = over(pause(clock, 1000, AbortSignal.abort()));
    const controller = new AbortController();
    const meanwhile = over(pause(clock, 1000, controller.signal));
    await clock.advanceAsync(0);
    expect([before.isOver, meanwhile.isOver]).toEqual([true, false]);
    controller.abort();
    await clock.advanceAsync(0);
    expect(meanwhile.isOver).toBe(true);
    expect(clock.pending).toBe(0);
    const after = new AbortController();
    const whole = over(pause(clock, 10, after.signal));
    await clock.advanceAsync(10);
    after.abort();
    expect(whole.isOver).toBe(true);
  });
});

describe('stoppableClock', () => {
  it('rings until it is stopped, leaves no timer then, and takes none', () => {
    const world = new FakeClock();
    const clock = stoppableClock(world, new LooseEnds());
    const rings: string[] = [];
    const ring = (name: string) => clock.after(10, () => rings.push(name));
    ring('before');
    ring('cancelled').cancel();
    world.advance(10);
    ring('stopped');
    clock.stop();
    expect(world.pending).toBe(0);
    ring('afterwards');
    world.advance(10);
    expect([rings, world.pending]).toEqual([['before'], 0]);
  });

  it('says that it has woken before whatever a timer or an alarm does', () => {
    const world = new FakeClock();
    const done: string[] = [];
    const clock = stoppableClock(world, new LooseEnds(), () => done.push('woken'));
    clock.after(10, () => done.push('timer'));
    clock.alarm?.(() => done.push('alarm')).set(20);
    world.advance(10);
    expect(done).toEqual(['woken', 'timer']);
    world.advance(10);
    expect(done).toEqual(['woken', 'timer', 'woken', 'alarm']);
  });

  it('rings no timer that was cancelled as it woke', () => {
    const world = new FakeClock();
    const done: string[] = [];
    const clock = stoppableClock(world, new LooseEnds(), () => timer.cancel());
    const timer = clock.after(10, () => done.push('cancelled'));
    clock.after(10, () => done.push('rung'));
    world.advance(10);
    expect(done).toEqual(['rung']);
  });

  it('goes on with its alarms where what it tells as it wakes fails', () => {
    const world = new FakeClock();
    let isFailing = true;
    const clock = stoppableClock(world, new LooseEnds(), () => {
      if (isFailing) throw new Error('told');
    });
    let rung = 0;
    const alarm = clock.alarm?.(() => (rung += 1));
    alarm?.set(10);
    expect(() => world.advance(10)).toThrow('told');
    isFailing = false;
    alarm?.set(10);
    world.advance(10);
    expect(rung).toBe(2);
  });

  it('cancels each timer once, however often it is stopped', () => {
    const world = new FakeClock();
    let cancels = 0;
    const clock = stoppableClock(
      {
        now: () => world.now(),
        wallNow: () => world.wallNow(),
        after: () => ({
          cancel() {
            cancels += 1;
          },
        }),
      },
      new LooseEnds(),
    );
    clock.after(10, () => {});
    clock.stop();
    clock.stop();
    expect(cancels).toBe(1);
  });
});

describe('steadyClock', () => {
  it.each([-3_600_000, 3_600_000])('takes no notice of a wall clock that is set by %i ms', (byMs) => {
    const clock = new FakeClock();
    const startedAt = clock.wallNow();
    const steady = steadyClock(clock);
    clock.advance(1000);
    clock.setWall(byMs);
    clock.advance(500);
    expect([steady.wallNow() - startedAt, steady.now()]).toEqual([1500, clock.now()]);
    expect(steadyClock(clock).wallNow() - startedAt).toBe(1500 + byMs);
  });

  it('begins no earlier than it is told', () => {
    const clock = new FakeClock();
    const startedAt = clock.wallNow();
    for (const [byMs, isAtMs] of [
      [5000, 5000],
      [-5000, 0],
    ] as const) {
      const steady = steadyClock(clock, { earliest: startedAt + byMs });
      expect(steady.wallNow() - startedAt).toBe(isAtMs);
    }
  });

  it('dates in whole milliseconds', () => {
    let now = 10.2;
    const steady = steadyClock({
      ...new FakeClock(),
      now: () => now,
      wallNow: () => 1000,
      after: () => ({ cancel() {} }),
    });
    now = 12.9;
    expect(steady.wallNow()).toBe(1003);
  });
});
