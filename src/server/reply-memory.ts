// Remembers how webhooks were answered, so that a repeated one acts once and gets the same answer. Bounded in number and time.
import type { Clock } from '../base/clock.js';
import { Oldest } from '../base/oldest.js';
import type { CallAnswer, WebhookReply } from '../carriers/carrier.js';

/** A reply as it was given. */
export interface KeptReply {
  readonly reply: WebhookReply;
  /** What the carrier was told to do with the call; undefined for an acknowledgment. */
  readonly answer?: CallAnswer['type'] | undefined;
}

/** Replies by what names a delivery. One is forgotten after `ttlMs`, or when there are more than `maxReplies`. */
export class ReplyMemory {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #maxReplies: number;
  /** Insertion order is age. */
  readonly #replies = new Map<string, { kept: KeptReply; at: number }>();
  readonly #oldest = new Oldest(this.#replies);

  constructor(clock: Clock, options: { ttlMs: number; maxReplies: number }) {
    this.#clock = clock;
    this.#ttlMs = options.ttlMs;
    this.#maxReplies = options.maxReplies;
  }

  find(name: string): KeptReply | undefined {
    this.#forgetStale();
    return this.#replies.get(name)?.kept;
  }

  keep(kept: KeptReply, name: string): void {
    this.#replies.delete(name);
    this.#replies.set(name, { kept, at: this.#clock.now() });
    const [oldest] = this.#oldest.find() ?? [];
    if (this.#replies.size > this.#maxReplies && oldest !== undefined) this.#replies.delete(oldest);
  }

  #forgetStale(): void {
    const limit = this.#clock.now() - this.#ttlMs;
    for (let oldest = this.#oldest.find(); oldest !== undefined; oldest = this.#oldest.find()) {
      const [name, { at }] = oldest;
      if (at > limit) return;
      this.#replies.delete(name);
    }
  }
}
