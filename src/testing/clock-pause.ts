// Waiting on a clock, so that a test which moves it by hand moves the wait as well.
import type { Clock } from '../base/clock.js';

/** Resolves after the time, or as soon as the signal comes. Never rejects. */
export function pause(clock: Clock, durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const finish = () => {
      timer.cancel();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = clock.after(durationMs, finish);
    signal.addEventListener('abort', finish, { once: true });
  });
}
