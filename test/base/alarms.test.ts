import { describe, expect, it, onTestFinished } from 'vitest';
import { alarmOf, AlarmWheel } from '../../src/base/alarms.js';
import { type Clock, punctualClock, stoppableClock } from '../../src/base/clock.js';
import { LooseEnds } from '../../src/base/loose-ends.js';
import { FakeClock } from '../support/fake-clock.js';

/** A wheel on timers that count whole milliseconds and may ring early, and what it asked of them. */
function wheelOn(world: FakeClock) {
  let timers = 0;
  const clock = punctualClock({
    now: () => world.now(),
    wallNow: () => world.wallNow(),
    after(delayMs, task) {
      timers += 1;
      return world.after(Math.max(0.05, Math.trunc(delayMs) - 0.3), task);
    },
  });
  return { wheel: new AlarmWheel(clock), timers: () => timers };
}

/** Numbers that look random, from 0 to below 1. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

describe('an alarm', () => {
  it('rings once, not before its time and within two milliseconds, however near or far that is', () => {
    const world = new FakeClock();
    world.advance(0.4);
    const { wheel } = wheelOn(world);
    const rung: [dueAt: number, at: number][] = [];
    for (const delayMs of [0, 0.2, 1, 13.7, 20, 63, 64, 65, 128, 1000.5, Number.NaN, -4]) {
      const dueAt = world.now() + Math.max(0, delayMs || 0);
      wheel.alarm(() => rung.push([dueAt, world.now()])).set(delayMs);
    }
    expect(rung).toEqual([]);
    for (let step = 0; step < 4000; step += 1) world.advance(0.5);
    expect(rung).toHaveLength(12);
    for (const [dueAt, at] of rung) {
      expect(at).toBeGreaterThanOrEqual(dueAt);
      expect(at - dueAt).toBeLessThan(2);
    }
    expect(world.pending).toBe(0);
  });

  it('does what one of timers does, whatever is set anew and cancelled, and however long the loop stands still', () => {
    for (let seed = 1; seed <= 8; seed += 1) {
      const next = numbers(seed);
      const world = new FakeClock();
      const { wheel } = wheelOn(world);
      const alarms = Array.from({ length: 8 }, () => {
        const told = { dueAt: undefined as number | undefined, rings: 0, late: 0 };
        const alarm = wheel.alarm(() => {
          told.rings += 1;
          expect(told.dueAt).toBeDefined();
          expect(world.now()).toBeGreaterThanOrEqual(told.dueAt ?? Number.NaN);
          told.dueAt = undefined;
          if (next() < 0.5) set();
        });
        const set = () => {
          const delayMs = next() < 0.9 ? next() * 40 : next() * 300;
          told.dueAt = world.now() + delayMs;
          alarm.set(delayMs);
        };
        const cancel = () => {
          told.dueAt = undefined;
          alarm.cancel();
        };
        return { told, set, cancel };
      });
      for (let step = 0; step < 600; step += 1) {
        const { set, cancel } = alarms[Math.floor(next() * alarms.length)] ?? expect.unreachable();
        if (next() < 0.7) set();
        else cancel();
        // Most of the time a millisecond at a time, so that what is late shows.
        if (next() < 0.03) {
          world.stall(next() * 500);
          if (next() < 0.5) set();
        }
        world.advance(next() < 0.5 ? 0.5 : 3 * next());
        for (const { told } of alarms) expect(world.now() - (told.dueAt ?? world.now())).toBeLessThan(2.1);
      }
      expect(alarms.reduce((sum, { told }) => sum + told.rings, 0)).toBeGreaterThan(50);
    }
  });

  it('shares its timers: hundreds that are due in one millisecond ring for one', () => {
    const world = new FakeClock();
    const { wheel, timers } = wheelOn(world);
    let rings = 0;
    const alarms = Array.from({ length: 200 }, () =>
      wheel.alarm(() => {
        rings += 1;
      }),
    );
    for (const alarm of alarms) alarm.set(20);
    for (let step = 0; step < 30; step += 1) world.advance(1);
    expect(rings).toBe(200);
    expect(timers()).toBeLessThan(4);
  });

  it('is not disturbed by another one that throws', async () => {
    const world = new FakeClock();
    const { wheel } = wheelOn(world);
    const thrown: unknown[] = [];
    const hear = (error: unknown) => thrown.push(error);
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException').on('uncaughtException', hear);
    onTestFinished(() => {
      process.off('uncaughtException', hear);
      for (const listener of listeners) process.on('uncaughtException', listener);
    });
    let rings = 0;
    wheel
      .alarm(() => {
        throw new Error('one call');
      })
      .set(5);
    const other = wheel.alarm(() => {
      rings += 1;
      if (rings < 3) other.set(5);
    });
    other.set(5);
    for (let step = 0; step < 40; step += 1) world.advance(1);
    expect(rings).toBe(3);
    await new Promise((resolve) => setImmediate(resolve));
    expect(thrown).toEqual([new Error('one call')]);
  });

  it('does not ring behind the end of its clock, and leaves no timer', () => {
    const world = new FakeClock();
    const clock = stoppableClock(world, new LooseEnds());
    let rings = 0;
    const alarm = alarmOf(clock, () => {
      rings += 1;
    });
    alarm.set(5);
    clock.stop();
    alarm.set(5);
    world.advance(100);
    expect(rings).toBe(0);
    expect(world.pending).toBe(0);
  });

  it('is made of timers where the clock has none', () => {
    const world = new FakeClock();
    const clock: Clock = {
      now: () => world.now(),
      wallNow: () => 0,
      after: (ms, task) => world.after(ms, task),
    };
    const rung: number[] = [];
    const alarm = alarmOf(clock, () => rung.push(world.now()));
    const startedAt = world.now();
    alarm.set(20);
    alarm.set(10);
    world.advance(15);
    expect(rung).toEqual([startedAt + 10]);
    alarm.set(10);
    alarm.cancel();
    world.advance(50);
    expect(rung).toHaveLength(1);
    expect(world.pending).toBe(0);
  });
});
