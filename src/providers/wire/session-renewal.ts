// Sessions end after a while. Before that a new one is made in a silence, where nobody hears it.
import type { Clock, Timer } from '../../base/clock.js';

export interface SessionRenewalOptions {
  readonly clock: Clock;
  /** True while nobody speaks. */
  readonly isQuiet: () => boolean;
  readonly renew: () => void;
}

/** Share of a session after which a silence is looked for. */
const SHARE = 0.9;
const LOOK_AGAIN_MS = 500;

export class SessionRenewal {
  readonly #options: SessionRenewalOptions;
  #timer: Timer | undefined;

  constructor(options: SessionRenewalOptions) {
    this.#options = options;
  }

  /** The first silence after `delayMs` is taken. Replaces the plan before. */
  plan(delayMs: number): void {
    this.close();
    this.#timer = this.#options.clock.after(delayMs, () => this.#look());
  }

  /** The session ends at `expiresAt`, epoch seconds. Undefined or past: nobody knows when. */
  planBefore(expiresAt: number | undefined): void {
    this.close();
    const leftMs = expiresAt === undefined ? 0 : expiresAt * 1000 - this.#options.clock.wallNow();
    if (leftMs > 0) this.plan(leftMs * SHARE);
  }

  /** Nothing is planned any more. Idempotent. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #look(): void {
    const { clock, isQuiet, renew } = this.#options;
    if (isQuiet()) renew();
    else this.#timer = clock.after(LOOK_AGAIN_MS, () => this.#look());
  }
}
