// How late and how busy the event loop is: a timer that asks to be run, and looks when it was.
import { performance } from 'node:perf_hooks';
import type { Clock, Timer } from '../base/clock.js';
import { toNextBeat } from '../base/pause.js';

/** A stall that a caller could hear is longer than the pause between two wakes. */
const INTERVAL_MS = 100;
/** The same where nobody could hear one, and none was lately: each wake is a good part of what a server costs that has no call. */
const QUIET_INTERVAL_MS = 250;
/** A wake that came later tells of a stall. */
const STALL_MS = 50;

export interface EventLoopWatchParts {
  readonly clock: Clock;
  /** Calls that are up. */
  callsUp(): number;
  /** Hears of every wake how long after its time it came, how long it was to wait, and for what share of the time the loop worked. */
  late(lateMs: number, dueMs: number, busyShare: number): void;
}

export class EventLoopWatch {
  readonly #parts: EventLoopWatchParts;
  #used = performance.eventLoopUtilization();
  #timer: Timer | undefined;

  constructor(parts: EventLoopWatchParts) {
    this.#parts = parts;
    this.#wait(INTERVAL_MS);
  }

  /** Idempotent. */
  close(): void {
    this.#timer?.cancel();
  }

  #wait(intervalMs: number): void {
    const { clock, callsUp, late } = this.#parts;
    // With what else is done at such moments.
    const dueMs = toNextBeat(clock, intervalMs);
    const dueAt = clock.now() + dueMs;
    this.#timer = clock.after(dueMs, () => {
      const lateMs = Math.max(0, clock.now() - dueAt);
      late(lateMs, dueMs, this.#busyShare());
      this.#wait(callsUp() > 0 || lateMs > STALL_MS ? INTERVAL_MS : QUIET_INTERVAL_MS);
    });
  }

  /** Since it was asked last. */
  #busyShare(): number {
    const before = this.#used;
    this.#used = performance.eventLoopUtilization();
    const activeMs = this.#used.active - before.active;
    const passedMs = activeMs + this.#used.idle - before.idle;
    return passedMs > 0 ? activeMs / passedMs : 0;
  }
}
