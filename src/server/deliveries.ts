// Which deliveries of webhooks were handled, and how they were answered.
import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import { STREAM_TOKEN_TTL_MS } from '../calls/streams/stream-token.js';
import type { CarrierMessage, WebhookRoute } from '../carriers/carrier.js';
import { type KeptReply, ReplyMemory } from './reply-memory.js';

/** Carriers repeat a delivery within seconds or minutes. */
const DELIVERY_TTL_MS = 10 * 60_000;
/** Ten minutes of some thirty webhooks a second. */
const MAX_DELIVERIES = 20_000;
const MAX_CALLS = 2000;

/** A message that is about a call. */
export type CallMessage = Exclude<CarrierMessage, { type: 'acknowledged' }>;

/**
 * Replies by delivery: its name and what it says. A name alone, which nobody may have signed, would let one event swallow another.
 * What the carrier gives no name is known by its call alone, and only a call that rings: its answer counts until the stream token
 * in it is stale, because then it would open nothing.
 */
export class Deliveries {
  readonly #named: ReplyMemory;
  readonly #unnamed: ReplyMemory;

  constructor(clock: Clock) {
    this.#named = new ReplyMemory(clock, { ttlMs: DELIVERY_TTL_MS, maxReplies: MAX_DELIVERIES });
    this.#unnamed = new ReplyMemory(clock, { ttlMs: STREAM_TOKEN_TTL_MS, maxReplies: MAX_CALLS });
  }

  find(route: WebhookRoute, message: CallMessage): KeptReply | undefined {
    if (message.deliveryId !== undefined) return this.#named.find(nameOf(route, message));
    return message.type === 'incoming-call' ? this.#unnamed.find(message.carrierCallId) : undefined;
  }

  /** To be called once the message was handled: what failed on the way is handled when it comes again. */
  keep(route: WebhookRoute, message: CallMessage, kept: KeptReply): void {
    if (message.deliveryId !== undefined) this.#named.keep(kept, nameOf(route, message));
    else if (message.type === 'incoming-call') this.#unnamed.keep(kept, message.carrierCallId);
  }
}

/** Of one length, however long the message is: it must not fill the memory. */
function nameOf(route: WebhookRoute, message: CallMessage): string {
  return createHash('sha256')
    .update(JSON.stringify([route, message]))
    .digest('base64url');
}
