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
export async function within(clock: Clock, limitMs: number, task: Promise<unknown>): Promise<void> {
  const inTime = new AbortController();
  try {
    await Promise.race([task, pause(clock, Math.max(0, limitMs), inTime.signal)]);
  } finally {
    inTime.abort();
  }
}
