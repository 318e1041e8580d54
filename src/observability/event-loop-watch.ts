// How late and how busy the event loop is: a timer that asks to be run, and looks when it was.
import { performance } from 'node:perf_hooks';
import type { Clock, Timer } from '../base/clock.js';

/** Ten wakes a second cost nothing, and a stall that a caller could hear is longer than the pause between two. */
const INTERVAL_MS = 100;

export class EventLoopWatch {
  readonly #clock: Clock;
  readonly #late: (lateMs: number, dueMs: number, busyShare: number) => void;
  #used = performance.eventLoopUtilization();
  #timer: Timer | undefined;
  #dueAt = 0;

  /** `late` hears of every wake how long after its time it came, how long it was to wait, and for what share of the time the loop worked. */
  constructor(clock: Clock, late: (lateMs: number, dueMs: number, busyShare: number) => void) {
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
      const used = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(used, this.#used);
      this.#used = used;
      this.#late(Math.max(0, this.#clock.now() - this.#dueAt), INTERVAL_MS, utilization);
      this.#wait();
    });
  }
}
