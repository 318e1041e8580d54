// A caller who has finished, while the recognizer may still have words.
import type { EndOfTurn, TurnTimes } from '../../../conversation/floor.js';
import type { Clock, Timer } from '../../../base/clock.js';

export class PendingTurn {
  readonly #clock: Clock;
  #times: TurnTimes | undefined;
  #timer: Timer | undefined;
  #limitAt = 0;
  #onTimeout = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isOpen(): boolean {
    return this.#times !== undefined;
  }

  /** Takes the place of one that is open. */
  open({ endedAt, isCutShort, isInSound = false }: EndOfTurn): TurnTimes {
    this.take();
    this.#times = { speechEndedAt: endedAt, turnEndedAt: this.#clock.now(), isCutShort, isInSound };
    return this.#times;
  }

  /** The caller makes a sound again: nothing is complete, unless it was cut short or ended in a sound. */
  revoke(): void {
    if (this.#times?.isCutShort !== true && this.#times?.isInSound !== true) this.take();
  }

  /** True while it is these times' turn that is open. */
  isStill(times: TurnTimes): boolean {
    return this.#times === times;
  }

  /** Waits no longer than this. */
  limit(waitMs: number, onTimeout: () => void): void {
    this.#timer?.cancel();
    this.#limitAt = this.#clock.now() + waitMs;
    this.#onTimeout = onTimeout;
    this.#timer = this.#clock.after(waitMs, onTimeout);
  }

  /** Waits `waitMs` more at least, but not longer than `longestMs` from the end of the turn. */
  extend(waitMs: number, longestMs: number): void {
    if (this.#times === undefined || this.#timer === undefined) return;
    const until = Math.min(this.#clock.now() + waitMs, this.#times.turnEndedAt + longestMs);
    if (until > this.#limitAt) this.limit(until - this.#clock.now(), this.#onTimeout);
  }

  /** Ends the wait. Undefined when there was none. */
  take(): TurnTimes | undefined {
    const times = this.#times;
    this.#times = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
    return times;
  }
}
