// How long a caller has waited for the service without a sign of life of it: a connection that is dead has to be found before they give
// up. Any message is such a sign, and a pong; that a pong is missing says nothing by itself.
import type { Clock } from '../../../base/clock.js';

export interface GeminiLiveDebtOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly ping: () => void;
  /** Nothing came for `lastedMs` of waiting. Told once for each of them. */
  readonly unpaid: (lastedMs: number) => void;
}

/** How often a sign of life is asked for. */
const PING_MS = 700;

/** Counted from the pause by which the service knows that a caller has finished; behind it another connection has to be had, and to answer. */
const LIMIT_MS = 2600;

/** Where the line has a gap nobody waits. */
const LONGEST_STEP_MS = 200;

export class GeminiLiveDebt {
  readonly #options: GeminiLiveDebtOptions;
  #seenAt: number;
  #pingedAt = Number.NEGATIVE_INFINITY;
  #waitedMs = 0;

  constructor(options: GeminiLiveDebtOptions) {
    this.#options = options;
    this.#seenAt = options.clock.now();
  }

  /** With every piece of the caller's audio. A caller who speaks again, and is owed nothing meanwhile, has waited before all the same. */
  watch({ isOwed }: { isOwed: boolean }): void {
    const { clock, ping, unpaid } = this.#options;
    const now = clock.now();
    const stepMs = Math.min(now - this.#seenAt, LONGEST_STEP_MS);
    this.#seenAt = now;
    if (!isOwed) return;
    this.#waitedMs += stepMs;
    if (this.#waitedMs >= LIMIT_MS) {
      const lastedMs = this.#waitedMs;
      this.#waitedMs = 0;
      unpaid(lastedMs);
    } else if (now - this.#pingedAt >= PING_MS) {
      this.#pingedAt = now;
      ping();
    }
  }

  /** The service is there. */
  alive(): void {
    this.#waitedMs = 0;
  }
}
