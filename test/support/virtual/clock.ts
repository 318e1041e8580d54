// A clock for whole calls: it moves by itself, as fast as the processor allows, and only when nothing else can run.
import type { Clock, Timer } from '../../../src/base/clock.js';
import { FakeClock } from '../fake-clock.js';
import { untilQuiet } from './quiet.js';

/** Goes to the next timer whenever nothing is runnable. It stands still while there is no timer. */
function createVirtualClock(): Clock {
  const clock = new FakeClock();
  let isMoving = false;
  const move = async () => {
    try {
      while (clock.pending > 0) {
        await untilQuiet();
        clock.advanceToNext();
      }
    } finally {
      // The next timer has it move again, also where what it waited for did not come.
      isMoving = false;
    }
  };
  return {
    now: () => clock.now(),
    wallNow: () => clock.wallNow(),
    after(delayMs: number, task: () => void): Timer {
      const timer = clock.after(delayMs, task);
      if (!isMoving) {
        isMoving = true;
        void move();
      }
      return timer;
    },
  };
}

/** The one of this process. */
export const virtualClock = createVirtualClock();
