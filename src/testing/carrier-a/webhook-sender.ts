// The carrier's post office: delivers webhooks, repeats what never arrived, and disturbs deliveries as it is told.
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import { pause } from '../../base/pause.js';
import { seededRandom } from '../seeded-random.js';
import type { Disturbances, SentWebhook } from '../simulator.js';
import { createSharedAbort } from '../../base/shared-abort.js';
import type { Parameters } from './parameters.js';
import {
  DeliveryFailure,
  encodeForm,
  postWebhook,
  type OutgoingWebhook,
  type WebhookAnswer,
  type WebhookTarget,
} from './webhook-post.js';

/** Shuffled reports are held back for up to this time. */
const SHUFFLE_MS = 1000;
const KEPT_WEBHOOKS = 10_000;

export interface WebhookSenderOptions {
  readonly target: WebhookTarget;
  readonly clock: Clock;
  /** Sent with every form, as the carrier adds parameters without notice. */
  readonly extraParameters: Parameters;
}

/** What is asked of one delivery. */
export interface WebhookRequestOptions {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly parameters: Parameters;
}

export class WebhookSender {
  readonly sent: SentWebhook[] = [];
  disturbances: Disturbances = {};
  readonly #options: WebhookSenderOptions;
  readonly #abort = createSharedAbort();
  /** The last report of each call, which the next one waits for. */
  readonly #queues = new WeakMap<object, Promise<unknown>>();
  readonly #underWay = new Set<Promise<unknown>>();
  #random: (() => number) | undefined;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
  }

  get target(): WebhookTarget {
    return this.#options.target;
  }

  disturb(disturbances: Disturbances): void {
    this.disturbances = disturbances;
    this.#random = disturbances.shuffle === undefined ? undefined : seededRandom(disturbances.shuffle);
  }

  /** Sends a webhook that wants an answer; the signal gives up on it. @throws DeliveryFailure */
  request(options: WebhookRequestOptions, signal: AbortSignal): Promise<WebhookAnswer> {
    return this.#track(this.#deliver(this.#withExtras(options), signal));
  }

  /**
   * Sends a report of a call: behind the ones before it, or at random. Resolves with the HTTP status of the answer, null when
   * there was none.
   */
  report(call: object, options: WebhookRequestOptions): Promise<number | null> {
    const webhook = this.#withExtras(options);
    const { signal } = this.#abort;
    const heldMs = (this.#random?.() ?? 0) * SHUFFLE_MS;
    const before =
      this.#random === undefined
        ? (this.#queues.get(call) ?? Promise.resolve())
        : pause(this.#options.clock, heldMs, signal);
    const delivered = before.then(async () => {
      if (signal.aborted) return null;
      try {
        return (await this.#deliver(webhook)).status;
      } catch {
        return null;
      }
    });
    this.#queues.set(call, delivered);
    return this.#track(delivered);
  }

  /** Sends a webhook as it is, undisturbed: for what a carrier would not send. */
  async send(webhook: OutgoingWebhook): Promise<WebhookAnswer> {
    return this.#track(this.#attempt(webhook));
  }

  /** Keeps an eye on work that ends in webhooks. */
  watch(work: Promise<unknown>): void {
    void this.#track(work.catch(() => {}));
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled([...this.#underWay]);
  }

  /** Calls off what is under way. Idempotent. */
  close(): void {
    this.#abort.abort();
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const forget = () => this.#underWay.delete(work);
    work.then(forget, forget);
    return work;
  }

  #withExtras(options: WebhookRequestOptions): OutgoingWebhook {
    const { extraParameters } = this.#options;
    return { ...options, parameters: [...options.parameters, ...extraParameters], deliveryId: randomUUID() };
  }

  /** One delivery with its repetitions; the first answer counts. */
  async #deliver(webhook: OutgoingWebhook, signal?: AbortSignal): Promise<WebhookAnswer> {
    const answer = await this.#retry(webhook, signal);
    const { duplicates = 0 } = this.disturbances;
    if (duplicates > 0) this.watch(this.#repeat(webhook, duplicates));
    return answer;
  }

  async #repeat(webhook: OutgoingWebhook, times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) await this.#attempt(webhook);
  }

  /** The carrier tries a second time when the server was not reached, and only then, unless the URL has it otherwise. */
  async #retry(webhook: OutgoingWebhook, signal?: AbortSignal): Promise<WebhookAnswer> {
    const { retries, isWorthIt } = readOverrides(webhook.url);
    const { retryPauseMs = 0 } = this.disturbances;
    for (let left = retries; ; left -= 1) {
      const outcome = await this.#attempt(webhook, signal).catch((error: unknown) => ({ error }));
      const isCalledOff = this.#abort.signal.aborted || signal?.aborted === true;
      if (left === 0 || isCalledOff || !isWorthIt(outcome)) {
        if ('error' in outcome) throw outcome.error;
        return outcome;
      }
      if (retryPauseMs > 0) await pause(this.#options.clock, retryPauseMs, signal ?? this.#abort.signal);
    }
  }

  async #attempt(webhook: OutgoingWebhook, given?: AbortSignal): Promise<WebhookAnswer> {
    const { target, clock } = this.#options;
    const [url = ''] = webhook.url.split('#');
    const entry = {
      path: url.replace(/^[a-z]+:\/\/[^/?]*/i, ''),
      body: webhook.json ?? encodeForm(webhook.parameters),
    };
    const own = this.#abort.signal;
    const signal = given === undefined ? own : AbortSignal.any([own, given]);
    try {
      const answer = await postWebhook(target, webhook, { clock, signal });
      this.#log({ ...entry, status: answer.status });
      return answer;
    } catch (error) {
      this.#log({ ...entry, status: null });
      throw error;
    }
  }

  #log(entry: SentWebhook): void {
    this.sent.push(entry);
    if (this.sent.length > KEPT_WEBHOOKS) this.sent.shift();
  }
}

/** What became of one attempt. */
type Attempt = WebhookAnswer | { readonly error: unknown };

/** How often an attempt is repeated, and which ones. Source: the vendor's page on webhook connection overrides. */
function readOverrides(url: string): { retries: number; isWorthIt(attempt: Attempt): boolean } {
  const overrides = new URLSearchParams(url.split('#')[1] ?? '');
  const wanted = (overrides.get('rp') ?? 'ct').split(',');
  const counts = (policy: string) => wanted.includes(policy) || wanted.includes('all');
  return {
    retries: Number(overrides.get('rc') ?? 1),
    isWorthIt(attempt) {
      if ('error' in attempt)
        return attempt.error instanceof DeliveryFailure && counts(attempt.error.connected ? 'rt' : 'ct');
      return (
        (attempt.status >= 500 && counts('5xx')) ||
        (attempt.status >= 400 && attempt.status < 500 && counts('4xx'))
      );
    },
  };
}
