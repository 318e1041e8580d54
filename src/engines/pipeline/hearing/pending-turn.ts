// How long a caller who has finished is waited for, while the recognizer may still have words.
import type { Clock, Timer } from '../../../base/clock.js';

export class PendingTurn {
  readonly #clock: Clock;
  readonly #onTimeout: () => void;
  #timer: Timer | undefined;
  #limitAt = 0;

  constructor(clock: Clock, onTimeout: () => void) {
    this.#clock = clock;
    this.#onTimeout = onTimeout;
  }

  /** Waits no longer than this. */
  limit(waitMs: number): void {
    this.#timer?.cancel();
    this.#limitAt = this.#clock.now() + waitMs;
    this.#timer = this.#clock.after(waitMs, this.#onTimeout);
  }

  /** Waits `waitMs` more at least, but not beyond `latestAt`. Does nothing where there is no wait. */
  extend(waitMs: number, latestAt: number): void {
    if (this.#timer === undefined) return;
    const until = Math.min(this.#clock.now() + waitMs, latestAt);
    if (until > this.#limitAt) this.limit(until - this.#clock.now());
  }

  /** Ends the wait. */
  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
