// Requests to carrier B's REST API: JSON with a bearer key, repeated where the vendor's advice and its idempotency key allow it.
import { CarrierError, ConfigError } from '../../base/errors.js';
import { exchange, type ExchangeRequest } from '../exchange.js';
import type { RestTiming } from '../rest-timing.js';
import { settingName } from '../setting.js';
import { wasNeverSent, whereAndWhy } from '../unsent.js';
import { type Fields, parseObject, toFields, toWholeNumber, toText } from './fields.js';
import { API_KEY } from './settings.js';

/** Longest waits for an answer, one per try. The vendor advises to repeat after 500 ms; the first leaves room for a handshake. */
export const QUICK_LIMITS_MS: readonly number[] = [1000, 3000, 6000];
/** For a request that should not be repeated without need. */
export const PATIENT_LIMITS_MS: readonly number[] = [5000, 5000, 5000];

/** Pauses before a repeat; each is stretched by up to a half, at random. All tries stay within the 60 s that a command id is remembered. */
const PAUSES_MS = [50, 500];
/** Longest wait for a rate limit to pass, and the wait when the carrier does not say how long. */
const MAX_RATE_PAUSE_MS = 3000;
const RATE_PAUSE_MS = 1000;

const STATUS_UNAUTHORIZED = 401;
const STATUS_TOO_MANY = 429;
/** A gateway says that it had no answer: what it asked for may have been done. */
const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 504]);
/** Where and as whom to call. */
export interface RestAccess {
  /** Origin, and a path in front of `/v2` if there is one. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

/** What the carrier refused with: HTTP status, and the code of its first error. */
export interface Refusal {
  readonly status: number;
  readonly code: string | undefined;
}

export interface RestRequest {
  /** Completes the sentence "The carrier …". */
  readonly purpose: string;
  /** Below the version. */
  readonly path: string;
  /** Fields of a POST; without them it is a GET. */
  readonly body?: Fields;
  readonly limitsMs?: readonly number[];
  /** True where doing it once more, as another command, does no harm. */
  readonly isHarmless: boolean;
  /** True for a refusal after which nothing is left to be done. */
  readonly isFine?: (refusal: Refusal) => boolean;
}

interface Answer extends Refusal {
  readonly data: Fields | undefined;
  readonly ratePauseMs: number;
}

/** A request that nothing came back for. */
interface Silence {
  readonly wasSent: boolean;
  /** Host and code, as the end of a sentence. */
  readonly detail: string;
  readonly cause: unknown;
}

export class RestClient {
  readonly #access: RestAccess;
  readonly #timing: RestTiming;

  constructor(access: RestAccess, timing: RestTiming) {
    this.#access = access;
    this.#timing = timing;
  }

  get hasKey(): boolean {
    return this.#access.apiKey !== undefined;
  }

  /**
   * The `data` of the answer; undefined for a refusal that is fine. The body is the same at every try, and so is the command id in
   * it. @throws ConfigError without a key, CarrierError otherwise.
   */
  async request(request: RestRequest): Promise<Fields | undefined> {
    const send = this.#prepare(request);
    const limitsMs = request.limitsMs ?? QUICK_LIMITS_MS;
    let isOpen = false;
    for (let tries = 1; ; tries += 1) {
      const outcome = await this.#timing.within(limitsMs[tries - 1] ?? 0, send);
      isOpen ||= mayBeDone(outcome);
      const pauseMs = tries < limitsMs.length ? pauseAfter(outcome, tries) : undefined;
      if (pauseMs === undefined) return settle(request, outcome, isOpen);
      await this.#timing.pause(pauseMs);
    }
  }

  #prepare({ path, body }: RestRequest): (signal: AbortSignal) => Promise<Answer | Silence> {
    const { baseUrl, apiKey } = this.#access;
    if (apiKey === undefined) {
      throw new ConfigError(
        'CONFIG_MISSING',
        'The carrier needs an API key: pass apiKey, or set CARRIER_B_API_KEY.',
      );
    }
    const headers = { authorization: `Bearer ${apiKey}`, accept: 'application/json' };
    const request: Omit<ExchangeRequest, 'signal'> =
      body === undefined
        ? { method: 'GET', headers }
        : {
            method: 'POST',
            headers: { ...headers, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          };
    return (signal) => attempt(`${baseUrl}/v2${path}`, { ...request, signal });
  }
}

async function attempt(url: string, request: ExchangeRequest): Promise<Answer | Silence> {
  try {
    const { status, headers, text = '' } = await exchange(url, request);
    const body = parseObject(text);
    const [error] = Array.isArray(body?.errors) ? body.errors : [];
    const { code } = toFields(error);
    const { data } = body ?? {};
    return {
      status,
      code: toText(typeof code === 'number' ? String(code) : code, 16),
      data: typeof data === 'object' && data !== null ? toFields(data) : undefined,
      ratePauseMs: toRatePause(headers['x-ratelimit-reset']),
    };
  } catch (cause) {
    return { wasSent: !wasNeverSent(cause), detail: whereAndWhy(url, cause), cause };
  }
}

/** The header tells the seconds until the limit is lifted. */
function toRatePause(reset: unknown): number {
  const seconds = toWholeNumber(reset);
  return seconds === undefined ? RATE_PAUSE_MS : Math.min(seconds * 1000, MAX_RATE_PAUSE_MS);
}

/** True when the carrier may have done what it was asked for, and nobody told us. */
function mayBeDone(outcome: Answer | Silence): boolean {
  return 'wasSent' in outcome ? outcome.wasSent : GATEWAY_STATUSES.has(outcome.status);
}

/** The pause before the same request once more; undefined when that would change nothing. */
function pauseAfter(outcome: Answer | Silence, tries: number): number | undefined {
  const pauseMs = PAUSES_MS[Math.min(tries, PAUSES_MS.length) - 1] ?? 0;
  const isBusy = 'status' in outcome && outcome.status === STATUS_TOO_MANY;
  if ('status' in outcome && !isBusy && outcome.status < 500) return undefined;
  return (isBusy ? Math.max(pauseMs, outcome.ratePauseMs) : pauseMs) * (1 + Math.random() / 2);
}

/** `isOpen`: a try before this one, or this one, may have been carried out unheard. */
function settle(request: RestRequest, outcome: Answer | Silence, isOpen: boolean): Fields | undefined {
  const { purpose, isHarmless, isFine } = request;
  if ('wasSent' in outcome) {
    const isTimeout = outcome.cause instanceof Error && outcome.cause.name === 'TimeoutError';
    const reason = isTimeout ? 'did not answer in time' : 'could not be reached';
    throw new CarrierError(`The carrier ${reason} to ${purpose}${outcome.detail}.`, {
      status: null,
      retryable: isHarmless || !isOpen,
      cause: outcome.cause,
    });
  }
  const { status, code, data } = outcome;
  if (status >= 200 && status < 300) {
    if (data !== undefined) return data;
    throw new CarrierError(
      `The carrier was asked to ${purpose}, and gave an unexpected answer (HTTP ${status}). Check baseUrl.`,
      { status: null, retryable: isHarmless },
    );
  }
  if (isFine?.(outcome)) return undefined;
  const isBusy = status === STATUS_TOO_MANY;
  const named = code !== undefined && /^\w+$/.test(code) ? `, code ${code}` : '';
  const because = status === STATUS_UNAUTHORIZED ? `: ${settingName(API_KEY)} is wrong` : '';
  throw new CarrierError(`The carrier refused to ${purpose}${because} (HTTP ${status}${named}).`, {
    // A refusal of the repeat says nothing about what became of the first.
    status: isOpen && !isHarmless ? null : status,
    retryable: (isHarmless && (isBusy || status >= 500)) || (isBusy && !isOpen),
  });
}
