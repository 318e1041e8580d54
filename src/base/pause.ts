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
