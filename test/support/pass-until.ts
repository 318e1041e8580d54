// Lets a fake clock go on while vendors of this process answer over loopback, however slow the machine is.
import type { FakeClock } from './fake-clock.js';
import { untilQuiet } from './virtual/quiet.js';

/** What has not happened after so many steps does not happen. */
const MAX_STEPS = 20_000;

/** Moves the clock by `stepMs`, lets everything that is under way arrive, and does so again until `check` throws no more. */
export async function passUntil<T>(clock: FakeClock, stepMs: number, check: () => T): Promise<T> {
  for (let step = 1; ; step += 1) {
    clock.advance(stepMs);
    await untilQuiet();
    try {
      return check();
    } catch (error) {
      if (step === MAX_STEPS) throw error;
    }
  }
}
