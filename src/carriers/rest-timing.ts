// How time passes for requests to a carrier, and when they are given up for good. Timers keep the process alive: a hang-up at the end of
// it is still to be repeated.
import { systemClock } from '../base/clock.js';
import { LooseEnds } from '../base/loose-ends.js';
import { heldTimer } from '../base/process-hold.js';

export interface RestTiming {
  /** Waits before a request is repeated. */
  pause(delayMs: number): Promise<void>;
  /** Runs a task with a signal that aborts after this time: with a TimeoutError, or with another one when the server stops before. */
  within<T>(limitMs: number, task: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

/** Real time, until the server that has these loose ends stops. */
export function createRestTiming(looseEnds = new LooseEnds()): RestTiming {
  return {
    pause: (delayMs) =>
      new Promise((resolve) => {
        const timer = heldTimer(systemClock, delayMs, () => {
          over();
          resolve();
        });
        const over = looseEnds.add(() => {
          timer.cancel();
          resolve();
        });
      }),
    async within(limitMs, task) {
      const controller = new AbortController();
      const timer = heldTimer(systemClock, limitMs, () =>
        controller.abort(new DOMException('The time is up.', 'TimeoutError')),
      );
      const over = looseEnds.add(() => controller.abort(new DOMException('The server stops.', 'AbortError')));
      try {
        return await task(controller.signal);
      } finally {
        timer.cancel();
        over();
      }
    },
  };
}
