// Sessions end after an hour. Before that a new one is made in a silence, where nobody hears it.
import type { Clock, Timer } from '../../base/clock.js';

export interface RenewalOptions {
  readonly clock: Clock;
  /** True while nobody speaks. */
  readonly isQuiet: () => boolean;
  readonly renew: () => void;
}

/** Share of a session after which a silence is looked for. */
const SHARE = 0.9;
const LOOK_AGAIN_MS = 500;

export class OpenAIRealtimeRenewal {
  readonly #options: RenewalOptions;
  #timer: Timer | undefined;

  constructor(options: RenewalOptions) {
    this.#options = options;
  }

  /** A session has begun that ends at `expiresAt`, epoch seconds. Undefined or past: nobody knows when. */
  plan(expiresAt: number | undefined): void {
    this.close();
    const { clock } = this.#options;
    const leftMs = expiresAt === undefined ? 0 : expiresAt * 1000 - clock.wallNow();
    if (leftMs > 0) this.#timer = clock.after(leftMs * SHARE, () => this.#look());
  }

  /** Idempotent. */
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
