// Carrier B's delivery of webhooks: signed, in order per call unless disturbed, repeated until they are taken.
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import { pause } from '../../base/pause.js';
import { seededRandom } from '../seeded-random.js';
import type { SentWebhook } from '../simulator.js';
import { createSharedAbort } from '../../base/shared-abort.js';
import { writeEnvelope, type WireEvent } from './envelope.js';
import type { CarrierBDisturbances } from './options.js';

import type { CarrierBSigner } from './signing.js';
import { postWebhook } from './webhook-post.js';

/** One delivery of one event. */
export interface CarrierBWebhook extends SentWebhook {
  readonly eventId: string;
  readonly eventType: string;
  /** From 1. */
  readonly attempt: number;
}

/** What became of an event: taken with a 2xx, refused with a status that is not repeated, or lost after the last repetition. */
export interface Delivery {
  outcome: 'taken' | 'refused' | 'lost';
  /** Of the last answer; null when there was none. */
  status: number | null;
  /** Of a connection that failed. */
  code: string | null;
  /** From the first attempt to the end of the last. */
  afterMs: number;
}

export interface OutgoingEvent {
  type: string;
  payload: Readonly<Record<string, unknown>>;
  /** The carrier's name of the URL; its path is requested at the server under test, its host is the `Host` header. */
  url: string;
  /** Events of one queue leave one after the other. */
  queue: string;
}

export interface WebhookSenderOptions {
  clock: Clock;
  signer: CarrierBSigner;
  /** Origin of the server under test. */
  target: URL;
  timeoutMs: number;
  retryDelaysMs: readonly number[];
  disturbances(): CarrierBDisturbances;
  apiVersion(): '1' | '2';
}

/** How far apart two events may change places. */
const SHUFFLE_WINDOW_MS = 300;
const KEPT_WEBHOOKS = 10_000;
const CLOSED: Delivery = { outcome: 'lost', status: null, code: null, afterMs: 0 };

function isRepeated(status: number | null): boolean {
  if (status === null || status === 408 || status === 429 || status >= 500) return true;
  // One page of the vendor has it that redirections are failures; nobody may rely on the other.
  return status >= 300 && status < 400;
}

/** Sends the webhooks of all calls. */
export class WebhookSender {
  readonly sent: CarrierBWebhook[] = [];
  readonly #options: WebhookSenderOptions;
  readonly #closing = createSharedAbort();
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #onIdle: (() => void)[] = [];
  #shuffle: { seed: number; random: () => number } | undefined;
  #unfinished = 0;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#unfinished === 0;
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (!this.isIdle) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Delivers an event with all that the disturbances add to it; resolves with what became of the event itself. Never rejects. */
  send(outgoing: OutgoingEvent): Promise<Delivery> {
    const { flatEnvelopes, unknownEvents } = this.#options.disturbances();
    if (flatEnvelopes === true) void this.#enqueue(outgoing, '1');
    const delivery = this.#enqueue(outgoing, this.#options.apiVersion());
    if (unknownEvents === true) void this.#enqueue({ ...outgoing, type: 'call.novelty.noticed' }, '2');
    return delivery;
  }

  /** Drops what is under way. Idempotent. */
  close(): void {
    this.#closing.abort();
  }

  async #enqueue(outgoing: OutgoingEvent, apiVersion: '1' | '2'): Promise<Delivery> {
    const { clock } = this.#options;
    const {
      duplicates = 0,
      shuffle,
      webhookDelayMs = 0,
      clockSkewSeconds = 0,
    } = this.#options.disturbances();
    const { type, payload, url, queue } = outgoing;
    const occurredAtMs = clock.wallNow() + clockSkewSeconds * 1000;
    const event = { id: randomUUID(), type, occurredAtMs, payload };
    const holdMs = webhookDelayMs + this.#shuffleBy(shuffle);

    this.#unfinished += 1;
    const before = shuffle === undefined ? this.#queues.get(queue) : undefined;
    const held = holdMs > 0 ? pause(clock, holdMs, this.#closing.signal) : undefined;
    let leave: () => void = () => {};
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    this.#queues.set(queue, left);
    try {
      await before;
      await held;
      const delivery = this.#deliver({ event, url, apiVersion, onFirst: leave });
      const copies = left.then(() =>
        Promise.all(Array.from({ length: duplicates }, () => this.#deliver({ event, url, apiVersion }))),
      );
      const [result] = await Promise.all([delivery, copies]);
      return result;
    } finally {
      if (this.#queues.get(queue) === left) this.#queues.delete(queue);
      this.#unfinished -= 1;
      if (this.isIdle) for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  }

  /** How long an event is held back, so that others overtake it. */
  #shuffleBy(seed: number | undefined): number {
    if (seed === undefined) return 0;
    if (this.#shuffle?.seed !== seed) this.#shuffle = { seed, random: seededRandom(seed) };
    return this.#shuffle.random() * SHUFFLE_WINDOW_MS;
  }

  /** The first attempt and its repetitions. `onFirst` is called after the first. */
  async #deliver(delivery: {
    event: WireEvent;
    url: string;
    apiVersion: '1' | '2';
    onFirst?: () => void;
  }): Promise<Delivery> {
    const { clock, retryDelaysMs } = this.#options;
    const startedMs = clock.now();
    for (let attempt = 1; ; attempt += 1) {
      if (this.#closing.signal.aborted) {
        delivery.onFirst?.();
        return CLOSED;
      }
      const { status, code } = await this.#post({ ...delivery, attempt });
      if (attempt === 1) delivery.onFirst?.();
      const ended = { status, code, afterMs: clock.now() - startedMs };
      if (!isRepeated(status)) {
        return { ...ended, outcome: status !== null && status < 300 ? 'taken' : 'refused' };
      }
      const delayMs = retryDelaysMs[attempt - 1];
      if (delayMs === undefined) return { ...ended, outcome: 'lost' };
      await pause(clock, delayMs, this.#closing.signal);
    }
  }

  async #post(delivery: {
    event: WireEvent;
    url: string;
    apiVersion: '1' | '2';
    attempt: number;
  }): Promise<{ status: number | null; code: string | null }> {
    const { clock, signer, target, timeoutMs, disturbances } = this.#options;
    const { event, attempt } = delivery;
    const { clockSkewSeconds = 0, optionalFields } = disturbances();
    const { pathname, search, host } = new URL(delivery.url);
    const path = pathname + search;
    const body = writeEnvelope(event, {
      apiVersion: delivery.apiVersion,
      attempt,
      deliveredTo: delivery.url,
      optionalFields,
    });
    const answer = await postWebhook({
      url: new URL(path, target),
      host,
      headers: { ...signer.sign(body, Math.floor(clock.wallNow() / 1000 + clockSkewSeconds)) },
      body,
      timeoutMs,
      clock,
      signal: this.#closing.signal,
    });
    this.sent.push({ path, body, status: answer.status, eventId: event.id, eventType: event.type, attempt });
    if (this.sent.length > KEPT_WEBHOOKS) this.sent.shift();
    return answer;
  }
}
