// Time as everything here sees it: a monotonic clock for durations, a wall clock for dates, and timers that tests can drive.
import { type Alarm, alarmOf, AlarmWheel } from './alarms.js';
import type { LooseEnds } from './loose-ends.js';

/** A running timer. `cancel` is idempotent. */
export interface Timer {
  cancel(): void;
}

/** Source of time. Rooms take it as an argument, so that a test can stop and move it. */
export interface Clock {
  /** Milliseconds on a clock that never jumps. Only differences mean something. */
  now(): number;
  /** Epoch milliseconds, for dates in records. */
  wallNow(): number;
  /**
   * Runs `task` once, when `delayMs` have passed on `now` and never before: who compares the time with a deadline in it has reached it.
   * No delay, and what is none (negative, NaN), is over at once, behind the caller; an infinite one never. A timer does not keep the
   * process alive.
   */
  after(delayMs: number, task: () => void): Timer;
  /** A timer that is set again and again, for what comes with every frame: see `alarmOf`. Undefined where it would be made of `after`. */
  alarm?(task: () => void): Alarm;
  /** What the server that this clock is of waits for when it stops. Undefined where nobody would. */
  readonly looseEnds?: LooseEnds | undefined;
}

/** Time that several processes share, whatever their own clocks say. What they exchange is dated by it, and nothing else. */
export interface SharedTime {
  /** Epoch milliseconds. May step, as any date may. */
  now(): number;
  /** The same as if the last step had not been: what was dated before it is still under way. Undefined where none was lately. */
  formerNow(): number | undefined;
}

/** By the clock, for a process that is alone. */
export function sharedNow({
  sharedTime,
  clock,
}: {
  readonly sharedTime?: (() => SharedTime | undefined) | undefined;
  readonly clock: Clock;
}): number {
  return sharedTime?.()?.now() ?? clock.wallNow();
}

/** The longest delay that timers of the platform can count, in milliseconds: they ring at once for a longer one. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A clock made of one whose timers count whole milliseconds, may ring a moment early and cannot wait for weeks. */
export function punctualClock(source: Clock): Clock {
  return {
    now: nowOf(source),
    wallNow: () => source.wallNow(),
    after: (delayMs, task) => new PunctualTimer(source, delayMs, task),
  };
}

/** A call has several timers at a time: each is one object and what it gives to its source. */
class PunctualTimer implements Timer {
  readonly #source: Clock;
  readonly #dueAt: number;
  readonly #task: () => void;
  readonly #ring: () => void;
  #timer: Timer;

  constructor(source: Clock, delayMs: number, task: () => void) {
    this.#source = source;
    this.#dueAt = source.now() + Math.max(0, delayMs || 0);
    this.#task = task;
    this.#ring = () => {
      if (source.now() < this.#dueAt) this.#timer = this.#arm();
      else this.#task();
    };
    this.#timer = this.#arm();
  }

  cancel(): void {
    this.#timer.cancel();
  }

  #arm(): Timer {
    const leftMs = Math.max(0, Math.ceil(this.#dueAt - this.#source.now()));
    return this.#source.after(Math.min(leftMs, LONGEST_TIMER_MS), this.#ring);
  }
}

/**
 * The same clock with dates that never jump: `wallNow` is that of this moment and the time since. Dates of one call are taken from one,
 * so that the time between two of them is as long as it was, whatever the system clock is set to meanwhile. `aheadMs`: how far it is ahead of that, for a call
 * that has its dates from the clock of another process. `earliest`: what this moment is at least, in epoch milliseconds.
 */
export function steadyClock(
  clock: Clock,
  { aheadMs = 0, earliest = 0 }: { aheadMs?: number | undefined; earliest?: number } = {},
): Clock {
  const [startedAt, wallStartedAt] = [clock.now(), Math.max(clock.wallNow() + aheadMs, earliest)];
  return {
    now: nowOf(clock),
    wallNow: () => Math.round(wallStartedAt + (clock.now() - startedAt)),
    after: (delayMs, task) => clock.after(delayMs, task),
    alarm: (task) => alarmOf(clock, task),
    looseEnds: clock.looseEnds,
  };
}

/** A clock that can be stopped: then none of its timers rings any more, and none is left. */
export interface StoppableClock extends Clock {
  /** Idempotent. */
  stop(): void;
}

const NO_TIMER: Timer = { cancel() {} };

interface TimerList {
  readonly list: Set<Timer>;
  readonly source: Clock;
  readonly woken: (() => void) | undefined;
}

/** A timer of `source` that is in the list as long as it runs. */
class ListedTimer implements Timer {
  readonly #list: Set<Timer>;
  readonly #timer: Timer;

  constructor({ list, source, woken }: TimerList, delayMs: number, task: () => void) {
    this.#list = list;
    this.#timer = source.after(delayMs, () => {
      try {
        woken?.();
      } finally {
        // Unless that has cancelled it, or stopped the clock.
        if (list.delete(this)) task();
      }
    });
    list.add(this);
  }

  cancel(): void {
    this.#list.delete(this);
    this.#timer.cancel();
  }
}

/** The same time, for one server. `woken` runs before whatever a timer does. */
export function stoppableClock(source: Clock, looseEnds: LooseEnds, woken?: () => void): StoppableClock {
  const timers = new Set<Timer>();
  const timerList = { list: timers, source, woken };
  let isStopped = false;
  const clock: StoppableClock = {
    now: nowOf(source),
    wallNow: () => source.wallNow(),
    after(delayMs, task) {
      return isStopped ? NO_TIMER : new ListedTimer(timerList, delayMs, task);
    },
    alarm: (task) => wheel.alarm(task),
    looseEnds,
    stop() {
      isStopped = true;
      for (const timer of timers) timer.cancel();
      timers.clear();
    },
  };
  const wheel = new AlarmWheel(clock);
  return clock;
}

/**
 * Gives a peer time for its last word: `task` runs once, after `delayMs` or when the server stops. By the system's clock, because that of
 * a call rings no more when the call is over.
 */
export function grace(clock: Clock, delayMs: number, task: () => void): Timer {
  // Where all is over already, it is cut while it is added.
  let over: (() => void) | undefined;
  const end = () => {
    timer.cancel();
    over?.();
    task();
  };
  const timer = systemClock.after(delayMs, end);
  over = clock.looseEnds?.add(end);
  return {
    cancel() {
      timer.cancel();
      over?.();
    },
  };
}

/** `now` of a clock, for one that is made of it: it is asked several times for every frame, and not through each clock in between. */
function nowOf(clock: Clock): Clock['now'] {
  return clock.now.bind(clock);
}

class SystemTimer implements Timer {
  readonly #handle: NodeJS.Timeout;

  constructor(delayMs: number, task: () => void) {
    this.#handle = setTimeout(task, delayMs);
    this.#handle.unref();
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }
}

/** The real clock. */
export const systemClock: Clock = punctualClock({
  now: () => performance.now(),
  wallNow: () => Date.now(),
  after: (delayMs, task) => new SystemTimer(delayMs, task),
});
