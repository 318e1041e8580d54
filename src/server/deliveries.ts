// Which deliveries of webhooks were handled, and how they were answered: a repeated one acts once and gets the same answer.
import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import type { CallDesk, KeptReply } from '../calls/call-desk.js';
import { STREAM_TOKEN_TTL_MS } from '../calls/streams/stream-token.js';
import type { CarrierMessage, WebhookRoute } from '../carriers/carrier.js';

/** Carriers repeat a delivery within seconds or minutes. */
const DELIVERY_TTL_MS = 10 * 60_000;
/** Of one call. The oldest is forgotten first. In one that is up every key may be a delivery. */
const MAX_REPLIES = { live: 512, other: 32 };
/** What the name of a delivery cannot be. */
const RINGING = 'ringing';

/** A message that is about a call. */
export type CallMessage = Exclude<CarrierMessage, { type: 'acknowledged' }>;

/**
 * Replies by delivery: its name and what it says. A name alone, which nobody may have signed, would let one event swallow another.
 * What the carrier gives no name is known by its call alone, and only a call that rings: its answer counts until the stream token
 * in it is stale, because then it would open nothing.
 */
export class Deliveries {
  readonly #clock: Clock;
  readonly #desk: CallDesk;

  constructor(clock: Clock, desk: CallDesk) {
    this.#clock = clock;
    this.#desk = desk;
  }

  find(route: WebhookRoute, message: CallMessage): KeptReply | undefined {
    const name = nameOf(route, message);
    const kept = name === undefined ? undefined : this.#desk.repliesTo(message.carrierCallId).get(name);
    const ttlMs = name === RINGING ? STREAM_TOKEN_TTL_MS : DELIVERY_TTL_MS;
    return kept !== undefined && this.#clock.now() - kept.at < ttlMs ? kept : undefined;
  }

  /** To be called once the message was handled: what failed on the way is handled when it comes again. */
  keep(route: WebhookRoute, message: CallMessage, reply: Omit<KeptReply, 'at'>): void {
    const name = nameOf(route, message);
    if (name === undefined) return;
    const { carrierCallId } = message;
    const replies = this.#desk.repliesTo(carrierCallId);
    replies.delete(name);
    replies.set(name, { ...reply, at: this.#clock.now() });
    const most = this.#desk.isLive(carrierCallId) ? MAX_REPLIES.live : MAX_REPLIES.other;
    for (const oldest of replies.keys()) {
      if (replies.size <= most) break;
      replies.delete(oldest);
    }
  }
}

/** Of one length, however long the message is: it must not fill the memory. */
function nameOf(route: WebhookRoute, message: CallMessage): string | undefined {
  if (message.type === 'resume') return `resume ${message.number}`;
  if (message.deliveryId === undefined) return message.type === 'incoming-call' ? RINGING : undefined;
  return createHash('sha256')
    .update(JSON.stringify([route, message]))
    .digest('base64url');
}
