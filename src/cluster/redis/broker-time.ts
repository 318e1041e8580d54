// The time of the broker, by which the nodes of a cluster understand each other: how far it is ahead of this node's clock, as the broker's answers tell.
import type { Clock, SharedTime } from '../../base/clock.js';

/** A step. What is less comes of clocks that run at different speeds. */
const STEP_MS = 1000;
/** What was dated before a step is over by then, in milliseconds: a call rings for some minutes. */
const FORMER_MS = 15 * 60_000;
/** Dates are whole milliseconds. */
const ROUNDING_MS = 2;

export class BrokerTime implements SharedTime {
  readonly #clock: Clock;
  #aheadMs = 0;
  /** Before the last step. */
  #former: { readonly aheadMs: number; readonly until: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.wallNow() + this.#aheadMs;
  }

  formerNow(): number | undefined {
    const former = this.#former;
    return former === undefined || this.#clock.now() >= former.until
      ? undefined
      : this.#clock.wallNow() + former.aheadMs;
  }

  /** The broker has just answered: it was `at` there at some moment of the round trip. A slow answer tells less, and is not believed for more. */
  answered(at: number, roundTripMs: number): void {
    const aheadMs = Math.round(at + roundTripMs / 2 - this.#clock.wallNow());
    const byMs = Math.abs(aheadMs - this.#aheadMs);
    if (byMs <= roundTripMs / 2 + ROUNDING_MS) return;
    if (byMs >= STEP_MS) this.#former = { aheadMs: this.#aheadMs, until: this.#clock.now() + FORMER_MS };
    this.#aheadMs = aheadMs;
  }
}
