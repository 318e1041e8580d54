// Waiting for a time to pass: the one way to do so. It is over when the timer rings: nobody asks the clock whether it is, so none can miss it.
import type { Clock } from './clock.js';

/** Resolves after the time, or as soon as `signal` aborts: at once when it has. Never rejects. */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const done = () => {
      timer.cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(delayMs, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Resolves with `task`, or after the time if that is over first. Rejects as `task` does. */
export function within(clock: Clock, limitMs: number, task: Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(Math.max(0, limitMs), resolve);
    const done = () => {
      timer.cancel();
      resolve();
    };
    task.then(done, (error: unknown) => {
      timer.cancel();
      reject(error);
    });
  });
}

/** How long it is to the next of the moments, `everyMs` apart, at which all who gather what they send do so: it then leaves the process at once. */
export function toNextRound(clock: Clock, everyMs: number): number {
  return everyMs - (clock.now() % everyMs);
}

/**
 * The same for what is done again and again, all of it at the same moments: a process that wakes up for one of them has little more to do for the others. What took
 * its time is not done again at once. `behindMs`: so long behind those moments, for what goes by what is learned at them.
 */
export function toNextBeat(clock: Clock, everyMs: number, behindMs = 0): number {
  const inMs = everyMs - ((clock.now() + everyMs - behindMs) % everyMs);
  return inMs < everyMs / 10 ? inMs + everyMs : inMs;
}
