import { beforeEach, describe, expect, it } from 'vitest';
import { LoadJudge } from '../../src/base/load-judge.js';
import { EventLoopWatch } from '../../src/observability/event-loop-watch.js';
import { FakeClock } from '../support/fake-clock.js';
import { RecordedLogger } from '../support/recorded-logger.js';

let logger: RecordedLogger;
let judge: LoadJudge;
let callsUp: number;

beforeEach(() => {
  logger = new RecordedLogger();
  callsUp = 0;
  judge = new LoadJudge({ logger, callsUp: () => callsUp });
});

/** Tells of so many wakes, each so late; the number of them during which calls were refused. */
function lag(lateMs: number, times: number): number {
  let refused = 0;
  for (let time = 0; time < times; time += 1) {
    judge.lagged(lateMs, 100, 0);
    refused += Number(judge.isOverloaded);
  }
  return refused;
}

/** Tells of so many wakes of a loop that works all the time and is not late; the number of them during which calls were refused. */
function work(times: number): number {
  let refused = 0;
  for (let time = 0; time < times; time += 1) {
    judge.lagged(1, 100, 1);
    refused += Number(judge.isOverloaded);
  }
  return refused;
}

/**
 * Two minutes of a loop that can serve `capacity` calls, each of which has work every 20 ms, and a frame to be sent by the share of agents
 * who speak; `offered` ring within `rampMs`, and more after them. Time is that of the work.
 */
function crowd({
  capacity,
  offered,
  rampMs,
  speakingShare = 1,
}: {
  capacity: number;
  offered: number;
  rampMs: number;
  speakingShare?: number;
}) {
  const workMs = 20 / capacity;
  const dueAt: number[] = [];
  let [now, busyMs, worstMs, refused] = [0, 0, 0, 0];
  let [wokeAt, ringsAt] = [0, 0];
  const serve = () => {
    now += workMs;
    busyMs += workMs;
  };
  while (now < 120_000) {
    if (now - wokeAt >= 100) {
      judge.lagged(now - wokeAt - 100, 100, Math.min(1, busyMs / (now - wokeAt)));
      [wokeAt, busyMs] = [now, 0];
    }
    for (; ringsAt <= now; ringsAt += rampMs / offered) {
      if (judge.isOverloaded) refused += 1;
      else dueAt.push(now + ((dueAt.length * 7) % 20));
      callsUp = dueAt.length;
    }
    const turn = now;
    for (const [call, due] of dueAt.entries()) {
      let next = due;
      for (; next <= turn; next += 20) {
        worstMs = Math.max(worstMs, now - next);
        if ((call * 0.618) % 1 < speakingShare) judge.frameSent(now - next);
        serve();
      }
      dueAt[call] = next;
    }
    if (now === turn) now = Math.min(wokeAt + 100, ringsAt, ...dueAt);
  }
  return { taken: dueAt.length, refused, worstMs };
}

describe('LoadJudge', () => {
  it.each([
    ['a loop that is blocked most of the time', 600],
    ['a loop that is late by more than it waits', 150],
  ])('sees %s within some seconds', (_, lateMs) => {
    expect(lag(lateMs, Math.ceil(5000 / lateMs))).toBeGreaterThan(0);
    expect(judge.isOverloaded).toBe(true);
  });

  it.each([500, 2000, 30_000])('does not mind one stall, however long (%i ms)', (lateMs) => {
    expect(lag(1, 100) + lag(lateMs, 1) + lag(1, 100)).toBe(0);
  });

  it('does not mind stalls that are rare', () => {
    for (let stall = 0; stall < 100; stall += 1) expect(lag(400, 1) + lag(1, 20)).toBe(0);
  });

  it('does not mind a busy loop that keeps up', () => {
    expect(lag(40, 10_000)).toBe(0);
  });

  it('takes calls again once there is room, not at the first calm moment, and says each once', () => {
    lag(600, 20);
    expect(lag(5, 10)).toBe(10);
    expect(lag(600, 2)).toBe(2);
    lag(5, 100);
    expect(judge.isOverloaded).toBe(false);
    expect(logger.lines.map(({ level }) => level)).toEqual(['warn', 'info']);
  });

  it('does not flap about a load that is neither much nor little', () => {
    lag(600, 20);
    expect(lag(45, 1000)).toBe(1000);
    expect(logger.lines).toHaveLength(1);
  });

  it('sees frames that are late though the loop is not', () => {
    for (let sample = 0; sample < 60; sample += 1) {
      for (let frame = 0; frame < 100; frame += 1) judge.frameSent(frame < 70 ? 120 : 0);
      judge.lagged(0, 100, 0);
    }
    expect(judge.isOverloaded).toBe(true);
    // The calls are over, and no frame leaves.
    lag(0, 100);
    expect(judge.isOverloaded).toBe(false);
  });

  it('forgets what was before', () => {
    lag(600, 20);
    judge.reset();
    expect(judge.isOverloaded).toBe(false);
    expect(lag(600, 1)).toBe(0);
  });

  it.each([
    { capacity: 100, seconds: 10 },
    { capacity: 100, seconds: 30 },
    { capacity: 100, seconds: 60 },
    { capacity: 30, seconds: 10 },
  ])(
    'keeps a process with twice the callers that it can serve ($capacity, in $seconds s) to those',
    ({ capacity, seconds }) => {
      const { taken, refused, worstMs } = crowd({
        capacity,
        offered: 2 * capacity,
        rampMs: seconds * 1000,
      });
      expect(refused).toBeGreaterThan(0);
      expect(taken).toBeGreaterThan(0.6 * capacity);
      // The pacer's lead: nobody hears what is later by less.
      expect(worstMs).toBeLessThan(400);
    },
  );

  it('keeps a process that can serve few to those, also while most agents listen', () => {
    const load = { capacity: 14, offered: 28, rampMs: 10_000, speakingShare: 0.4 };
    const { taken, refused, worstMs } = crowd(load);
    expect(refused).toBeGreaterThan(0);
    expect(taken).toBeGreaterThan(8);
    expect(worstMs).toBeLessThan(400);
  });

  it('does not mind a loop that others keep busy, as it did before there was a call', () => {
    expect(work(100)).toBe(0);
    callsUp = 8;
    expect(work(100)).toBe(0);
  });

  it('counts a busy loop again once it has been at rest without calls', () => {
    work(100);
    lag(0, 100);
    callsUp = 8;
    expect(work(100)).toBeGreaterThan(0);
  });

  it('does not mind a process that is busy with its first calls', () => {
    callsUp = 7;
    expect(work(100)).toBe(0);
    callsUp = 8;
    expect(work(1)).toBe(1);
  });

  it('sees by its watch a loop that is blocked', () => {
    const clock = new FakeClock();
    const watch = new EventLoopWatch({ clock, callsUp: () => 0, late: (...wake) => judge.lagged(...wake) });
    let blocks = 0;
    while (!judge.isOverloaded && blocks < 20) {
      clock.stall(700);
      clock.advance(50);
      blocks += 1;
    }
    watch.close();
    expect(blocks).toBeGreaterThan(1);
    expect(blocks).toBeLessThan(20);
  });
});
