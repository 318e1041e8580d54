// What keeps the process up: timers of a clock do not, and neither do the threads of a voice.
import type { Clock, Timer } from './clock.js';

/** Longer than anything that is waited for; it is only there to be there. */
const HOLD_MS = 3_600_000;

/** Keeps the process up until the function that it returns is called. By the system's own timer: no clock of ours does. */
export function holdProcess(): () => void {
  const hold = setInterval(() => {}, HOLD_MS);
  return () => clearInterval(hold);
}

/** A timer of `clock` that keeps the process up while it runs. */
export function heldTimer(clock: Clock, delayMs: number, task: () => void): Timer {
  const release = holdProcess();
  const timer = clock.after(delayMs, () => {
    release();
    task();
  });
  return {
    cancel() {
      release();
      timer.cancel();
    },
  };
}
