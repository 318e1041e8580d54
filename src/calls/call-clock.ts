// The clock of one call: its time begins with it, and its timers run inside somebody's fault boundary.
import { alarmOf } from '../base/alarms.js';
import type { Clock } from '../base/clock.js';

/**
 * Time since this moment, or since `beganAt` on the clock. Every task of a timer is given to `run`, which decides whether it still runs and
 * where its errors go.
 */
export function callClock(clock: Clock, run: (task: () => void) => void, beganAt = clock.now()): Clock {
  return {
    now: () => clock.now() - beganAt,
    wallNow: () => clock.wallNow(),
    after: (delayMs, task) => clock.after(delayMs, () => run(task)),
    alarm: (task) => alarmOf(clock, () => run(task)),
    looseEnds: clock.looseEnds,
  };
}
