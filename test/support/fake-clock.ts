// A clock that stands still until a test moves it.
import type { Clock, Timer } from '../../src/base/clock.js';

interface Due {
  at: number;
  order: number;
  task: () => void;
}

/** Epoch milliseconds at which a fake clock starts. */
const EPOCH_MS = Date.UTC(2026, 0, 1);

/** No timer rings earlier than this, unless it was to. */
const MOMENT_MS = 0.05;

/**
 * Implements `Clock` for tests. Timers run in the order of their time, those of one time in the order they were asked
 * for, and timers asked for by a timer run in the same `advance` when they fall due in it.
 */
export class FakeClock implements Clock {
  /** How much earlier than asked timers of new clocks ring, in milliseconds: those of a platform do, by less than one. */
  static earlyMs = 0;

  readonly #earlyMs = FakeClock.earlyMs;
  #nowMs = 0;
  #wallMs = EPOCH_MS;
  #order = 0;
  readonly #timers = new Set<Due>();

  now(): number {
    return this.#nowMs;
  }

  wallNow(): number {
    return this.#wallMs + this.#nowMs;
  }

  /** Sets the wall clock on, or back, as an operator does. */
  setWall(byMs: number): void {
    this.#wallMs += byMs;
  }

  after(delayMs: number, task: () => void): Timer {
    this.#order += 1;
    const at = this.#nowMs + this.#rungAfter(Math.max(0, delayMs));
    // A delay that is lost in the digits of the time would be asked for again and again.
    const isLost = delayMs > 0 && at === this.#nowMs;
    const due: Due = { at: isLost ? at + MOMENT_MS : at, order: this.#order, task };
    this.#timers.add(due);
    return { cancel: () => void this.#timers.delete(due) };
  }

  /** Timers that have not run. A closed object has left none. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves the time on and runs what falls due, synchronously. */
  advance(ms: number): void {
    const end = this.#nowMs + ms;
    for (let due = this.#next(end); due !== undefined; due = this.#next(end)) this.#run(due);
    this.#nowMs = end;
  }

  /** The same, and lets promises settle before the first timer and after each. */
  async advanceAsync(ms: number): Promise<void> {
    const end = this.#nowMs + ms;
    await settle();
    for (let due = this.#next(end); due !== undefined; due = this.#next(end)) {
      this.#run(due);
      await settle();
    }
    this.#nowMs = end;
    await settle();
  }

  /** Moves the time on to the timers that are due next, and runs them. */
  advanceToNext(): void {
    const first = this.#next(Number.POSITIVE_INFINITY);
    if (first !== undefined) this.advance(first.at - this.#nowMs);
  }

  /** Moves the time without running anything, as an event loop that is stuck does. What is due runs at the next advance. */
  stall(ms: number): void {
    this.#nowMs += ms;
  }

  /** A timer that has a delay never rings without one: time goes on. */
  #rungAfter(delayMs: number): number {
    return Math.max(delayMs - this.#earlyMs, Math.min(delayMs, MOMENT_MS));
  }

  #next(end: number): Due | undefined {
    let first: Due | undefined;
    for (const due of this.#timers) {
      if (due.at > end) continue;
      if (first === undefined || due.at < first.at || (due.at === first.at && due.order < first.order))
        first = due;
    }
    return first;
  }

  #run(due: Due): void {
    this.#timers.delete(due);
    this.#nowMs = Math.max(this.#nowMs, due.at);
    due.task();
  }
}

/** Lets promise chains run: one turn of the event loop empties the microtask queue, two also cover what they schedule. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
