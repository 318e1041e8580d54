// Time as the house sees it: a monotonic clock for durations, a wall clock for dates, and timers that tests can drive.

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
  /** Runs `task` once after `delayMs`. A timer does not keep the process alive. */
  after(delayMs: number, task: () => void): Timer;
}

/** The real clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  after(delayMs, task) {
    const handle = setTimeout(task, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};
