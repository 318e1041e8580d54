// Waiting between two tries.
import type { Clock } from '../../base/clock.js';

/** Resolves after the time, or as soon as `signal` aborts. */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      timer.cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(delayMs, done);
    signal.addEventListener('abort', done, { once: true });
  });
}
