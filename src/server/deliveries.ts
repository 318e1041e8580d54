// Which deliveries of webhooks were handled, and how they were answered.
import type { Clock } from '../base/clock.js';
import { STREAM_TOKEN_TTL_MS } from '../calls/stream-token.js';
import type { CarrierMessage, WebhookRoute } from '../carriers/carrier.js';
import { type KeptReply, ReplyMemory } from './reply-memory.js';

/** Carriers repeat a delivery within seconds or minutes. */
const DELIVERY_TTL_MS = 10 * 60_000;
/** Ten minutes of some thirty webhooks a second. */
const MAX_DELIVERIES = 20_000;
const MAX_CALLS = 2000;
/** Longest name of a delivery that is remembered. */
const MAX_ID_LENGTH = 256;

/** A message that is about a call. */
export type CallMessage = Exclude<CarrierMessage, { type: 'acknowledged' }>;

/**
 * Replies by delivery. What the carrier gives no name is known by its call alone, and only a call that rings: its answer counts
 * until the stream token in it is stale, because then it would open nothing.
 */
export class Deliveries {
  readonly #named: ReplyMemory;
  readonly #unnamed: ReplyMemory;

  constructor(clock: Clock) {
    this.#named = new ReplyMemory(clock, { ttlMs: DELIVERY_TTL_MS, maxReplies: MAX_DELIVERIES });
    this.#unnamed = new ReplyMemory(clock, { ttlMs: STREAM_TOKEN_TTL_MS, maxReplies: MAX_CALLS });
  }

  find(route: WebhookRoute, message: CallMessage): KeptReply | undefined {
    const { type, carrierCallId, deliveryId } = message;
    if (deliveryId !== undefined) return this.#named.find(route, type, carrierCallId, deliveryId);
    return type === 'incoming-call' ? this.#unnamed.find(carrierCallId) : undefined;
  }

  /** To be called once the message was handled: what failed on the way is handled when it comes again. */
  keep(route: WebhookRoute, message: CallMessage, kept: KeptReply): void {
    const { type, carrierCallId, deliveryId } = message;
    // A header that nobody signed must not fill the memory.
    if (deliveryId !== undefined && deliveryId.length <= MAX_ID_LENGTH) {
      this.#named.keep(kept, route, type, carrierCallId, deliveryId);
    } else if (type === 'incoming-call') {
      this.#unnamed.keep(kept, carrierCallId);
    }
  }
}
