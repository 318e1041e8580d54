// A clock that runs faster than the world, for calls that last longer than a test may.
import type { Clock } from '../../src/base/clock.js';

/** Everything that takes its time from this clock lives `factor` times as fast. */
export function createFastClock(factor: number): Clock {
  const [start, wallStart] = [performance.now(), Date.now()];
  const now = () => (performance.now() - start) * factor;
  return {
    now,
    wallNow: () => wallStart + now(),
    after(delayMs, task) {
      const handle = setTimeout(task, delayMs / factor);
      handle.unref();
      return { cancel: () => clearTimeout(handle) };
    },
  };
}
