// REST API of carrier A: form-encoded requests with Basic authentication, JSON answers.
import { CarrierError, ConfigError } from '../../base/errors.js';
import type { CarrierRest } from '../carrier.js';
import { escapeXml, responseMarkup } from './xml.js';

const REQUEST_TIMEOUT_MS = 10_000;
/** Pauses before a request is repeated; each is stretched by up to a half, at random. */
const RETRY_DELAYS_MS = [100, 200, 400];
const TRANSFER_RING_SECONDS = 30;

/** The call is not in progress: it cannot be redirected or hung up. */
const CODE_CALL_OVER = 21220;
/** Too many requests at a time: this one was not processed. */
const STATUS_TOO_MANY = 429;

const ENDED = new Set(['completed', 'busy', 'no-answer', 'failed', 'canceled']);

/** Where and as whom to call. */
export interface RestAccess {
  readonly baseUrl: string;
  readonly accountSid: string | undefined;
  readonly authToken: string | undefined;
}

interface RestAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

interface RestRequest {
  /** Completes the sentence "The carrier …". */
  readonly purpose: string;
  readonly path: string;
  /** Fields of a POST; without them it is a GET. */
  readonly form?: Readonly<Record<string, string>>;
  /** Repeating it does no harm. */
  readonly isIdempotent: boolean;
}

/** Connections are kept alive by the fetch pool of the process. */
export function createRest(access: RestAccess): CarrierRest {
  return new RestClient(access);
}

class RestClient implements CarrierRest {
  readonly #access: RestAccess;

  constructor(access: RestAccess) {
    this.#access = access;
  }

  get configured(): boolean {
    return this.#access.accountSid !== undefined && this.#access.authToken !== undefined;
  }

  async hangUp(carrierCallId: string): Promise<void> {
    const answer = await this.#request({
      purpose: 'hang up a call',
      path: `/Calls/${encodeURIComponent(carrierCallId)}.json`,
      form: { Status: 'completed' },
      isIdempotent: true,
    });
    if (answer.status === 400 && answer.body.code === CODE_CALL_OVER) return;
    assertSuccess('hang up a call', answer);
  }

  async transfer(carrierCallId: string, to: string, callerId: string | undefined): Promise<void> {
    const shown = callerId === undefined ? '' : ` callerId="${escapeXml(callerId)}"`;
    const dial = `<Dial${shown} timeout="${TRANSFER_RING_SECONDS}">${escapeXml(to)}</Dial>`;
    const answer = await this.#request({
      purpose: 'transfer a call',
      path: `/Calls/${encodeURIComponent(carrierCallId)}.json`,
      form: { Twiml: responseMarkup(dial) },
      isIdempotent: false,
    });
    assertSuccess('transfer a call', answer);
  }

  async isOver(carrierCallId: string): Promise<boolean> {
    const answer = await this.#request({
      purpose: 'look up a call',
      path: `/Calls/${encodeURIComponent(carrierCallId)}.json`,
      isIdempotent: true,
    });
    assertSuccess('look up a call', answer);
    return typeof answer.body.status === 'string' && ENDED.has(answer.body.status);
  }

  async setVoiceUrl(phoneNumber: string, urls: { voice: string; status: string }): Promise<void> {
    const number = await this.#findNumber(phoneNumber);
    if (isSet(number.voice_application_sid) || isSet(number.trunk_sid)) {
      throw new CarrierError(
        'The number is bound to an application or a trunk at the carrier, which overrides its voice URL. Unbind it there, or set manageWebhook to false.',
        { status: null, retryable: false },
      );
    }
    if (pointsTo(number, 'voice', urls.voice) && pointsTo(number, 'status', urls.status)) return;
    const answer = await this.#request({
      purpose: 'set the voice URL of a number',
      path: `/IncomingPhoneNumbers/${encodeURIComponent(String(number.sid))}.json`,
      form: {
        VoiceUrl: urls.voice,
        VoiceMethod: 'POST',
        StatusCallback: urls.status,
        StatusCallbackMethod: 'POST',
      },
      isIdempotent: true,
    });
    assertSuccess('set the voice URL of a number', answer);
  }

  /** The filter of the list is a pattern, so the number is compared once more. */
  async #findNumber(phoneNumber: string): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.#request({
      purpose: 'look up a number',
      path: `/IncomingPhoneNumbers.json?PhoneNumber=${encodeURIComponent(phoneNumber)}`,
      isIdempotent: true,
    });
    assertSuccess('look up a number', answer);
    const list = answer.body.incoming_phone_numbers;
    const found = (Array.isArray(list) ? list : [])
      .map(toRecord)
      .find((each) => each.phone_number === phoneNumber && typeof each.sid === 'string');
    if (found !== undefined) return found;
    throw new CarrierError('The carrier account does not own the phone number.', {
      status: null,
      retryable: false,
    });
  }

  /** Repeats what the carrier says it did not process, and what can be repeated without harm. */
  async #request(request: RestRequest): Promise<RestAnswer> {
    const { accountSid, authToken, baseUrl } = this.#access;
    if (accountSid === undefined || authToken === undefined) {
      throw new ConfigError(
        'CONFIG_MISSING',
        'The carrier needs an account SID and an auth token: pass accountSid and authToken, or set CARRIER_A_ACCOUNT_SID and CARRIER_A_AUTH_TOKEN.',
      );
    }
    const url = `${baseUrl}/2010-04-01/Accounts/${accountSid}${request.path}`;
    const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
    for (const delayMs of RETRY_DELAYS_MS) {
      const outcome = await attempt(url, authorization, request);
      if (!isRepeatable(outcome, request)) return settle(outcome);
      await pause(delayMs * (1 + Math.random() / 2));
    }
    return settle(await attempt(url, authorization, request));
  }
}

/** One try: an answer, or the error that there was none. */
async function attempt(
  url: string,
  authorization: string,
  request: RestRequest,
): Promise<RestAnswer | CarrierError> {
  try {
    const response = await fetch(url, {
      method: request.form === undefined ? 'GET' : 'POST',
      headers: { authorization, accept: 'application/json' },
      ...(request.form === undefined ? {} : { body: new URLSearchParams(request.form) }),
      // A redirect would carry the credentials elsewhere.
      redirect: 'error',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    return { status: response.status, body: toRecord(parseJson(await response.text())) };
  } catch (cause) {
    const isTimeout = cause instanceof Error && cause.name === 'TimeoutError';
    const reason = isTimeout ? 'did not answer in time' : 'could not be reached';
    return new CarrierError(`The carrier ${reason} to ${request.purpose}.`, {
      status: null,
      retryable: request.isIdempotent && !isTimeout,
      cause,
    });
  }
}

function isRepeatable(outcome: RestAnswer | CarrierError, request: RestRequest): boolean {
  if (outcome instanceof CarrierError) return outcome.retryable;
  return outcome.status === STATUS_TOO_MANY || (request.isIdempotent && outcome.status >= 500);
}

function settle(outcome: RestAnswer | CarrierError): RestAnswer {
  if (outcome instanceof CarrierError) throw outcome;
  return outcome;
}

function assertSuccess(purpose: string, { status, body }: RestAnswer): void {
  if (status >= 200 && status < 300) return;
  const code = typeof body.code === 'number' ? `, code ${body.code}` : '';
  throw new CarrierError(`The carrier refused to ${purpose} (HTTP ${status}${code}).`, {
    status,
    retryable: status === STATUS_TOO_MANY || status >= 500,
  });
}

/** True when a URL of the number is the wanted one; connection settings in its fragment are the operator's to choose. */
function pointsTo(
  number: Readonly<Record<string, unknown>>,
  kind: 'voice' | 'status',
  wanted: string,
): boolean {
  const url = kind === 'voice' ? number.voice_url : number.status_callback;
  const method = kind === 'voice' ? number.voice_method : number.status_callback_method;
  return typeof url === 'string' && url.split('#')[0] === wanted && (method ?? 'POST') === 'POST';
}

function isSet(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs);
  });
}
