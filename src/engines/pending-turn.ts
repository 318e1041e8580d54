// A caller who has finished, while the recogniser may still have words.
import type { Clock, Timer } from '../base/clock.js';

/** When the caller's last sound was, and when it was decided that it was the last, on the clock. */
export interface TurnTimes {
  readonly speechEndedAt: number;
  readonly turnEndedAt: number;
}

export class PendingTurn {
  readonly #clock: Clock;
  #times: TurnTimes | undefined;
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isOpen(): boolean {
    return this.#times !== undefined;
  }

  /** Takes the place of one that is open. */
  open(speechEndedAt: number): TurnTimes {
    this.take();
    this.#times = { speechEndedAt, turnEndedAt: this.#clock.now() };
    return this.#times;
  }

  /** True while it is these times' turn that is open. */
  isStill(times: TurnTimes): boolean {
    return this.#times === times;
  }

  /** Waits no longer than this. */
  limit(waitMs: number, onTimeout: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(waitMs, onTimeout);
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
