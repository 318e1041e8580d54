// How late the event loop is: a timer that asks to be run, and looks when it was.
import type { Clock, Timer } from '../base/clock.js';

/** Ten wakes a second cost nothing, and a stall that a caller could hear is longer than the pause between two. */
const INTERVAL_MS = 100;

export class EventLoopWatch {
  readonly #clock: Clock;
  readonly #late: (lateMs: number) => void;
  #timer: Timer | undefined;
  #dueAt = 0;

  /** `late` hears of every wake how long after its time it came. */
  constructor(clock: Clock, late: (lateMs: number) => void) {
    this.#clock = clock;
    this.#late = late;
    this.#wait();
  }

  /** Idempotent. */
  close(): void {
    this.#timer?.cancel();
  }

  #wait(): void {
    this.#dueAt = this.#clock.now() + INTERVAL_MS;
    this.#timer = this.#clock.after(INTERVAL_MS, () => {
      this.#late(Math.max(0, this.#clock.now() - this.#dueAt));
      this.#wait();
    });
  }
}
