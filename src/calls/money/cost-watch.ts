// Asks the carrier what calls cost that are over: it knows some time after their end.
import type { Clock, Timer } from '../../base/clock.js';
import { describeError, type Logger } from '../../base/log.js';
import type { Carrier } from '../../carriers/carrier.js';

/** When it is asked, in milliseconds after the end. */
const ASK_AFTER_MS = [5000, 30_000, 120_000, 600_000];

/** Calls that are asked about at a time; of those that ended before them nobody keeps the record. */
const MAX_CALLS = 500;

/** A call whose cost is wanted. */
export interface CostedCall {
  readonly callId: string;
  readonly carrierCallId: string | null;
  readonly ledger: { readonly isChargeKnown: boolean; charged(costUsd: number): void };
}

export class CostWatch {
  readonly #options: { readonly carrier: Carrier; readonly clock: Clock; readonly logger: Logger };
  /** The call that ended first comes first. */
  readonly #timers = new Map<CostedCall, Timer>();
  #closed = false;

  constructor(options: { carrier: Carrier; clock: Clock; logger: Logger }) {
    this.#options = options;
  }

  /** False where the carrier cannot tell. */
  get canAsk(): boolean {
    const { supports, rest } = this.#options.carrier;
    return supports.callCost && rest.configured;
  }

  /** Asks until the cost is known, where it can. */
  follow(call: CostedCall): void {
    if (!this.canAsk || this.#closed) return;
    this.#ask(call, 0);
    const [oldest] = this.#timers.keys();
    if (this.#timers.size > MAX_CALLS && oldest !== undefined) this.leave(oldest);
  }

  /** Asks no more about any. Idempotent. */
  close(): void {
    this.#closed = true;
    for (const call of this.#timers.keys()) this.leave(call);
  }

  /** Asks no more about the call. Idempotent. */
  leave(call: CostedCall): void {
    this.#timers.get(call)?.cancel();
    this.#timers.delete(call);
  }

  #ask(call: CostedCall, attempt: number): void {
    const at = ASK_AFTER_MS[attempt];
    if (at === undefined || call.ledger.isChargeKnown) {
      this.#timers.delete(call);
      return;
    }
    const timer = this.#options.clock.after(at - (ASK_AFTER_MS[attempt - 1] ?? 0), () => {
      void this.#lookUp(call).then(() => {
        // What has taken its answer needs no further timer.
        if (call.ledger.isChargeKnown) this.leave(call);
      });
      this.#ask(call, attempt + 1);
    });
    this.#timers.set(call, timer);
  }

  async #lookUp(call: CostedCall): Promise<void> {
    const { callId, carrierCallId, ledger } = call;
    if (carrierCallId === null || ledger.isChargeKnown) return;
    const { carrier, logger } = this.#options;
    try {
      const { costUsd } = await carrier.rest.lookUp(carrierCallId);
      if (costUsd !== null && !this.#closed) ledger.charged(costUsd);
    } catch (error) {
      logger.debug({ callId, ...describeError(error) }, 'the carrier did not report what the call costs');
    }
  }
}
