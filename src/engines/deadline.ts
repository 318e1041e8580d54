// One timer for whatever a value says is due next.
import type { Clock, Timer } from '../base/clock.js';

/** Rings once for each time that is set, when that has come. A later time costs nothing: the timer that runs looks again. */
export class Deadline {
  readonly #clock: Pick<Clock, 'now' | 'after'>;
  readonly #ring: () => void;
  #at = Number.POSITIVE_INFINITY;
  #ringsAt = Number.POSITIVE_INFINITY;
  #timer: Timer | undefined;

  constructor(clock: Pick<Clock, 'now' | 'after'>, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Takes the place of what was set before. On the clock; null: nothing is due, and no timer is left. */
  set(at: number | null): void {
    this.#at = at ?? Number.POSITIVE_INFINITY;
    if (at !== null && at >= this.#ringsAt) return;
    this.#timer?.cancel();
    this.#ringsAt = this.#at;
    if (at === null) return;
    this.#timer = this.#clock.after(at - this.#clock.now(), () => this.#look());
  }

  #look(): void {
    const at = this.#at;
    this.#ringsAt = this.#at = Number.POSITIVE_INFINITY;
    if (this.#clock.now() < at) this.set(at);
    else this.#ring();
  }
}
