// What a realtime model owes: an answer that has not begun, or the rest of one that has. It must show a sign of life every few
// seconds; a silent one leaves the caller with a dead line.
import type { Clock, Timer } from '../base/clock.js';

export interface RealtimeWatchOptions {
  readonly clock: Clock;
  /** An answer has not begun. It may have missed that the caller has finished: ask for it. Told once, then `silent`. */
  readonly late: () => void;
  readonly silent: () => void;
}

/**
 * Source: callers ask whether anybody is there after some five seconds. A model has to be given up before that: the carrier needs a moment
 * to say so, and an answer is owed only when the model has noticed that the caller has finished.
 */
const LIMIT_MS = 4000;
const OPENING_LIMIT_MS = 4500;

/** What a new connection has for an answer, however long the caller has waited for the connection. */
const MIN_LIMIT_MS = 1200;

export class RealtimeWatch {
  readonly #options: RealtimeWatchOptions;
  #timer: Timer | undefined;
  #isOwed = false;
  #isAsked = false;
  #isLate = false;
  #isReady = false;

  constructor(options: RealtimeWatchOptions) {
    this.#options = options;
  }

  /** An answer is to come that has not begun. */
  get isOwed(): boolean {
    return this.#isOwed;
  }

  /** A connection is being made. What is owed meanwhile counts from when there is one. */
  opening(): void {
    this.#timer = this.#options.clock.after(OPENING_LIMIT_MS, () => this.#options.silent());
  }

  /** There is a connection. */
  ready(): void {
    this.#isReady = true;
    this.#stop();
    if (this.#isOwed) this.#start();
  }

  /** An answer is to come: one that we have asked for, or that the model gives by itself. The caller may have waited for a while. */
  owes({ isAsked, waitedMs = 0 }: { isAsked: boolean; waitedMs?: number }): void {
    this.#isOwed = true;
    this.#isAsked ||= isAsked;
    this.#start(waitedMs);
  }

  /** The answer has begun. */
  began(): void {
    this.#isOwed = false;
    this.#isAsked = false;
    this.#isLate = false;
    this.#start();
  }

  /** A sign of life. */
  alive(): void {
    if (this.#isReady && this.#timer !== undefined) this.#start();
  }

  /** What had begun is complete. */
  ended(): void {
    if (!this.#isOwed) this.rest();
  }

  /** Nothing is owed any more. */
  rest(): void {
    this.#isOwed = false;
    this.#isAsked = false;
    this.#isLate = false;
    if (this.#isReady) this.#stop();
  }

  /** Idempotent. */
  close(): void {
    this.#stop();
  }

  /** Half of the time for an answer that may have to be asked for, the other half when it was. */
  #start(waitedMs = 0): void {
    if (!this.#isReady) return;
    this.#stop();
    const isHalf = this.#isLate || (this.#isOwed && !this.#isAsked);
    const limitMs = Math.max(MIN_LIMIT_MS, LIMIT_MS - waitedMs);
    this.#timer = this.#options.clock.after(isHalf ? limitMs / 2 : limitMs, () => this.#ring());
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #ring(): void {
    this.#timer = undefined;
    const { late, silent } = this.#options;
    if (!this.#isOwed || this.#isAsked) silent();
    else {
      this.#isLate = true;
      late();
    }
  }
}
