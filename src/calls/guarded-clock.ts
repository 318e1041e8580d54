// A clock whose timers run inside somebody's fault boundary.
import type { Clock } from '../base/clock.js';

/** The same clock; every task of a timer is given to `run`, which decides whether it still runs and where its errors go. */
export function guardClock(clock: Clock, run: (task: () => void) => void): Clock {
  return {
    now: () => clock.now(),
    wallNow: () => clock.wallNow(),
    after: (delayMs, task) => clock.after(delayMs, () => run(task)),
    looseEnds: clock.looseEnds,
  };
}
