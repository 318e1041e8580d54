// The REST API of carrier A as the parts that use it see it: credentials, repetition, and errors that say what is known.
import { ConfigError } from '../../base/errors.js';
import { codeOf, type Errand, isSuccess, STATUS_TOO_MANY, toCarrierError } from './api-errors.js';
import type { RestTiming } from '../rest-timing.js';
import { exchange, type Fields, type FormField, type Outcome } from './api-exchange.js';

const REQUEST_TIMEOUT_MS = 10_000;
/** Pauses before a request is repeated; each is stretched by up to a half, at random. */
const RETRY_DELAYS_MS = [100, 200, 400];
/** Longest pause that the carrier may ask for. */
const MAX_PAUSE_MS = 3000;

/** Where and as whom to call. */
export interface ApiAccess {
  readonly baseUrl: string;
  readonly accountSid: string | undefined;
  readonly authToken: string | undefined;
  /** @default 10000, or what the request asks for */
  readonly timeoutMs?: number | undefined;
  readonly timing: RestTiming;
}

/** A request. The `purpose` names nobody and no number. */
export interface ApiRequest extends Errand {
  /** Below the account, beginning with a slash. */
  readonly path: string;
  /** Fields of a POST; without them it is a GET. */
  readonly form?: readonly FormField[];
  readonly method?: 'DELETE';
  readonly timeoutMs?: number;
  /** A code of the carrier that counts as success. */
  readonly acceptedCode?: number;
}

/** Sends requests. */
export class ApiClient {
  readonly #access: ApiAccess;

  constructor(access: ApiAccess) {
    this.#access = access;
  }

  get configured(): boolean {
    return this.#access.accountSid !== undefined && this.#access.authToken !== undefined;
  }

  /**
   * The body of a success. What the carrier says it did not process is repeated a few times; what failed in another way, only
   * when repeating does no harm, and never after a time limit. @throws CarrierError, ConfigError
   */
  async send(request: ApiRequest): Promise<Fields> {
    const { timing } = this.#access;
    const attempt = this.#prepare(request);
    let outcome = await attempt();
    for (const delayMs of RETRY_DELAYS_MS) {
      if (!isRepeatable(outcome, request)) break;
      const askedMs = outcome.type === 'answer' ? Math.min(outcome.retryAfterMs, MAX_PAUSE_MS) : 0;
      await timing.pause(Math.max(askedMs, delayMs * (1 + Math.random() / 2)));
      outcome = await attempt();
    }
    if (outcome.type === 'answer' && isSuccess(outcome.status) && outcome.body !== undefined) {
      return outcome.body;
    }
    if (request.acceptedCode !== undefined && codeOf(outcome) === request.acceptedCode) return {};
    throw toCarrierError(request, outcome);
  }

  #prepare(request: ApiRequest): () => Promise<Outcome> {
    const { accountSid, authToken, baseUrl, timing } = this.#access;
    if (accountSid === undefined || authToken === undefined) {
      throw new ConfigError(
        'CONFIG_MISSING',
        'The carrier needs an account SID and an auth token: pass accountSid and authToken, or set CARRIER_A_ACCOUNT_SID and CARRIER_A_AUTH_TOKEN.',
      );
    }
    const url = `${baseUrl}/2010-04-01/Accounts/${accountSid}${request.path}`;
    const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
    const timeoutMs = this.#access.timeoutMs ?? request.timeoutMs ?? REQUEST_TIMEOUT_MS;
    const { form, method } = request;
    return () => timing.within(timeoutMs, (signal) => exchange(url, { authorization, form, method, signal }));
  }
}

function isRepeatable(outcome: Outcome, { isIdempotent }: ApiRequest): boolean {
  if (outcome.type === 'failure') return isIdempotent && outcome.reason !== 'timeout';
  if (outcome.status === STATUS_TOO_MANY) return true;
  const isUnreadable = isSuccess(outcome.status) && outcome.body === undefined;
  return isIdempotent && (outcome.status >= 500 || isUnreadable);
}
