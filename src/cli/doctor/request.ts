// What was signed of a captured webhook, which spellings were tried, and which one fits. Shows everything but the secret.
import { type ErrorCode, OffhookError } from '../../base/errors.js';
import type { WebhookRequest } from '../../carriers/carrier.js';
import { AUTH_TOKEN } from '../../carriers/carrier-a/settings.js';
import {
  signatureOf,
  type MacVerifier,
  verifyUpgradeUrl,
  verifyWebhook as verifyA,
} from '../../carriers/carrier-a/signature.js';
import { CARRIERS } from '../../carriers/index.js';
import { PUBLIC_KEY } from '../../carriers/carrier-b/settings.js';
import {
  loadEd25519Verifier,
  parsePublicKey,
  verifyWebhook as verifyB,
} from '../../carriers/carrier-b/signature.js';
import { type CarrierSetting, readSetting } from '../../carriers/setting.js';
import { UsageError } from '../context.js';
import type { CapturedRequest } from './captured-request.js';
import type { CheckResult } from './check.js';

const FORM = 'application/x-www-form-urlencoded';
const PREFIX_CHARACTERS = 80;
/** Stands in for a key, to see what would be signed. */
const NO_SECRET = 'no secret';
const SOME_MAC = Buffer.alloc(20).toString('base64');

/** One text that the signature was compared with. */
interface Candidate {
  readonly url: string;
  readonly signedText: string;
  readonly matches: boolean;
}

export interface RequestOptions {
  /** Public host of the server; the request's own Host otherwise. */
  readonly webhookHost: string | undefined;
  /** Epoch milliseconds. */
  readonly nowMs: number;
  readonly mac: MacVerifier;
}

/** Explains the signature of a captured webhook, or of a captured stream upgrade. @throws UsageError when it is for no carrier. */
export async function explainRequest(
  captured: CapturedRequest,
  options: RequestOptions,
): Promise<CheckResult> {
  const { request, notes } = captured;
  const carrier = carrierOf(request);
  const result = await (EXPLANATIONS.get(carrier) ?? explainOther(carrier))(request, options);
  if (notes.length === 0) return result;
  return {
    ...result,
    message: `${result.message} Note: ${notes.join('; ')}.`,
    details: { ...result.details, notes },
  };
}

type Explain = (request: WebhookRequest, options: RequestOptions) => CheckResult | Promise<CheckResult>;

const EXPLANATIONS: ReadonlyMap<string, Explain> = new Map<string, Explain>([
  ['carrier-a', explainA],
  ['carrier-b', (request, { nowMs }) => explainB(request, nowMs)],
]);

/** Of a carrier of which no more is known here than of any: its own verdict. */
function explainOther(id: string): Explain {
  return async (request, { webhookHost }) => {
    const name = `${id}.request`;
    const carrier = CARRIERS.get(id)?.create();
    const host = webhookHost ?? request.headers.host;
    if (carrier?.verifies !== true || host === undefined) {
      const missing = host === undefined ? 'give --webhook-host' : `set ${carrier?.secretSetting}`;
      return { name, status: 'failed', message: `Nothing to compare with: ${missing}.` };
    }
    await carrier.prepare();
    try {
      carrier.verify(request, host);
      return { name, status: 'ok', message: 'The signature is right.' };
    } catch (error) {
      if (!OffhookError.isInstance(error)) throw error;
      const message = REASONS[error.code] ?? error.message;
      return { name, status: 'failed', message, details: { error: error.code } };
    }
  };
}

function carrierOf(request: WebhookRequest): string {
  const [, named = ''] = /^\/webhooks\/([^/]+)\//.exec(request.target) ?? [];
  if (CARRIERS.has(named)) return named;
  if (request.target.startsWith('/ws/stream/') || signatureOf(request.headers) !== undefined)
    return 'carrier-a';
  const paths = [...CARRIERS.keys()].map((id) => `/webhooks/${id}/`).join(' or ');
  throw new UsageError(
    `The request of --request is not a carrier webhook: its path must begin with ${paths}.`,
  );
}

function explainA(request: WebhookRequest, { webhookHost, mac }: RequestOptions): CheckResult {
  const name = 'carrier-a.request';
  const secret = toSecret(AUTH_TOKEN);
  const own = webhookHost ?? request.headers.host;
  if (own === undefined) throw new UsageError('The request has no Host header: add --webhook-host.');
  const attempt = tryHost(request, own, { secret, mac });
  const details = { host: own, candidates: attempt.candidates, error: attempt.code };
  if (secret.value === undefined) {
    return { name, status: 'failed', message: `Nothing to compare with: set ${secret.variable}.`, details };
  }
  if (attempt.code === undefined) {
    return { name, status: 'ok', message: `The signature is right for ${own}.`, details };
  }
  const others = [request.headers.host, request.headers['x-forwarded-host'], webhookHost];
  const fitting = others.find(
    (host) =>
      host !== undefined && host !== own && tryHost(request, host, { secret, mac }).code === undefined,
  );
  const message =
    fitting === undefined
      ? `${REASONS[attempt.code] ?? attempt.code} ${attempt.code === 'SIGNATURE_MISSING' ? HINT_UNSIGNED : HINT_A}`
      : `The signature is right for ${fitting}, not for ${own}: set webhookUrl (--webhook-host) to ${fitting}.`;
  return { name, status: 'failed', message, details };
}

const HINT_UNSIGNED =
  'Save the request with all the headers that came with it. If none of them is a signature, a proxy took it out, or the request is not the carrier’s.';

const HINT_A =
  'Compare the URLs that were tried with the one that is set at the carrier, and the auth token with that of the account.';

const HINT_B =
  'Signed are the timestamp, a | and the body as it was sent: compare the key with the one of the account.';

const REASONS: Readonly<Partial<Record<ErrorCode, string>>> = {
  SIGNATURE_MISSING: 'The request carries no signature.',
  SIGNATURE_MALFORMED: 'The signature header is damaged: a signature looks different.',
  SIGNATURE_MISMATCH: 'The signature belongs to another text, or was made with another secret.',
};

/** Runs the real check with a comparison that writes down what it compares. */
function tryHost(
  request: WebhookRequest,
  host: string,
  { secret, mac }: { secret: Secret; mac: MacVerifier },
): { candidates: Candidate[]; code: ErrorCode | undefined } {
  const { method, target, headers } = request;
  const isUpgrade = target.startsWith('/ws/stream/');
  const authToken = secret.value ?? NO_SECRET;
  // Without a signature that could be one nothing is compared, and nothing would be seen.
  const signature = signatureOf(headers);
  const check = (rawBody: Uint8Array, shown: string | undefined, compare: MacVerifier) => {
    if (isUpgrade) {
      verifyUpgradeUrl(compare, { authToken, host, target, signature: shown ?? '' });
      return;
    }
    const contentType = rawBody === request.rawBody ? (headers['content-type'] ?? '') : FORM;
    const url = `https://${host}${target}`;
    verifyA(compare, { authToken, method, url, contentType, rawBody, signature: shown });
  };
  const texts = record(mac, (compare) => check(request.rawBody, signature, compare));
  const seen =
    texts.tried.length > 0 ? texts : record(NEVER, (compare) => check(request.rawBody, SOME_MAC, compare));
  const urls = record(NEVER, (compare) => check(new Uint8Array(), SOME_MAC, compare)).tried.map(
    ({ text }) => text,
  );
  const candidates = seen.tried.map(({ text, matches }) => ({
    url: longestStart(text, urls),
    signedText: text,
    matches,
  }));
  return { candidates, code: texts.code };
}

const NEVER: MacVerifier = { verifyHmacSha1: () => false };

function record(
  mac: MacVerifier,
  run: (compare: MacVerifier) => void,
): { tried: { text: string; matches: boolean }[]; code: ErrorCode | undefined } {
  const tried: { text: string; matches: boolean }[] = [];
  const compare: MacVerifier = {
    verifyHmacSha1(key, message, expected) {
      const matches = mac.verifyHmacSha1(key, message, expected);
      tried.push({ text: Buffer.from(message).toString('utf8'), matches });
      return matches;
    },
  };
  try {
    run(compare);
    return { tried, code: undefined };
  } catch (error) {
    return { tried, code: OffhookError.isInstance(error) ? error.code : 'INTERNAL' };
  }
}

function longestStart(text: string, urls: readonly string[]): string {
  const fitting = urls.filter((url) => text.startsWith(url));
  return fitting.reduce((longest, url) => (url.length > longest.length ? url : longest), '');
}

async function explainB(request: WebhookRequest, nowMs: number): Promise<CheckResult> {
  const name = 'carrier-b.request';
  const secret = toSecret(PUBLIC_KEY);
  const timestamp = timestampOf(request);
  const ageSeconds = timestamp === undefined ? null : Math.round(nowMs / 1000 - Number(timestamp));
  const signed = Buffer.concat([Buffer.from(`${timestamp ?? ''}|`), request.rawBody]);
  const details = {
    signedBytes: signed.length,
    signedPrefix: signed.toString('utf8').slice(0, PREFIX_CHARACTERS),
    timestamp: timestamp ?? null,
    ageSeconds,
  };
  if (secret.value === undefined) {
    return { name, status: 'failed', message: `Nothing to compare with: set ${secret.variable}.`, details };
  }
  try {
    const key = { verify: await loadEd25519Verifier(), publicKey: parsePublicKey(secret.value) };
    // A captured request is old: whether it was right at its time is asked here, and its age is told beside it.
    verifyB(request, key, timestamp === undefined ? nowMs : Number(timestamp) * 1000);
    const message = `The signature is right. Its timestamp is ${ageSeconds} s old by this machine's clock; a server takes it for 300 s.`;
    return { name, status: 'ok', message, details };
  } catch (error) {
    if (!OffhookError.isInstance(error)) throw error;
    const reason = REASONS[error.code] ?? error.message;
    const hint = error.code === 'SIGNATURE_MISSING' ? HINT_UNSIGNED : HINT_B;
    const message = `${reason} ${hint}`;
    return { name, status: 'failed', message, details: { ...details, error: error.code } };
  }
}

/** The header is known by its end; the carrier's own room knows its whole name. */
function timestampOf({ headers }: WebhookRequest): string | undefined {
  const [, value] = Object.entries(headers).find(([name]) => name.endsWith('-timestamp')) ?? [];
  return value !== undefined && /^\d{1,12}$/.test(value) ? value : undefined;
}

interface Secret {
  readonly value: string | undefined;
  /** The variable to set. */
  readonly variable: string;
}

function toSecret(setting: CarrierSetting): Secret {
  return { value: readSetting(setting), variable: setting.variables[0] };
}
