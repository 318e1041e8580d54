// Remembers how calls were answered, so that a repeated webhook gets the same answer. Bounded in number and time.
import type { Clock } from '../base/clock.js';
import type { CallAnswer, WebhookReply } from '../carriers/carrier.js';
import { STREAM_TOKEN_TTL_MS } from './stream-token.js';

const MAX_ANSWERS = 2000;

/** An answer as it was given. */
export interface KeptAnswer {
  readonly type: CallAnswer['type'];
  readonly reply: WebhookReply;
}

/** Answers by call and delivery. One is forgotten when the stream token in it is stale: then it would open nothing. */
export class AnswerMemory {
  readonly #clock: Clock;
  /** Insertion order is age. */
  readonly #answers = new Map<string, { answer: KeptAnswer; at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(carrierCallId: string, deliveryId: string | undefined): KeptAnswer | undefined {
    this.#forgetStale();
    return this.#answers.get(toKey(carrierCallId, deliveryId))?.answer;
  }

  keep(carrierCallId: string, deliveryId: string | undefined, answer: KeptAnswer): void {
    this.#answers.set(toKey(carrierCallId, deliveryId), { answer, at: this.#clock.now() });
    if (this.#answers.size > MAX_ANSWERS) this.#forgetOldest();
  }

  #forgetStale(): void {
    const limit = this.#clock.now() - STREAM_TOKEN_TTL_MS;
    for (const [key, { at }] of this.#answers) {
      if (at > limit) return;
      this.#answers.delete(key);
    }
  }

  #forgetOldest(): void {
    for (const key of this.#answers.keys()) {
      this.#answers.delete(key);
      return;
    }
  }
}

function toKey(carrierCallId: string, deliveryId: string | undefined): string {
  return JSON.stringify([carrierCallId, deliveryId ?? '']);
}
