// Signatures of carrier A: HMAC-SHA1 over the URL and the decoded parameters, in base64.
// Written from the vendor's "Webhooks security" page; the candidates are those of its Node SDK.
import { createHash, timingSafeEqual } from 'node:crypto';
import { SignatureError } from '../../base/errors.js';
import type { TranscoderBackend } from '../../transcoder/backend.js';
import type { WebhookRequest } from '../carrier.js';
import { decodeForm, isForm, queryOf } from './form.js';
import { upgradeUrls, webhookUrls } from './signed-urls.js';

/** The specification's name of the header, and the vendor's. */
const SIGNATURE_HEADERS = ['x-carriera-signature', 'x-twilio-signature'];

/** Compares one MAC in constant time. */
export type MacVerifier = Pick<TranscoderBackend, 'verifyHmacSha1'>;

/** What a signature was made over, and with. */
export interface SignedRequest {
  readonly authToken: string;
  readonly method: string;
  /** As the carrier requested it: scheme, host, path and raw query. */
  readonly url: string;
  readonly contentType: string;
  readonly rawBody: Uint8Array;
  readonly signature: string | undefined;
}

/** The signature header of a request; undefined when there is none. */
export function signatureOf(headers: WebhookRequest['headers']): string | undefined {
  for (const name of SIGNATURE_HEADERS) {
    const value = headers[name];
    if (value !== undefined) return value;
  }
  return undefined;
}

/** @throws SignatureError unless the signature belongs to this webhook and to all of its body. */
export function verifyWebhook(verifier: MacVerifier, request: SignedRequest): void {
  const mac = decodeSignature(request.signature);
  const tails = signedTails(request);
  for (const url of webhookUrls(request.url)) {
    if (tails.some((tail) => isMacOf(verifier, request.authToken, url + tail, mac))) return;
  }
  throw mismatch();
}

/**
 * Checks the upgrade of a media stream. The carrier signs the `wss` URL, and which parts of it is not uniform: with or
 * without the query, a trailing slash, a port. @throws SignatureError when none of them fits.
 */
export function verifyUpgradeUrl(
  verifier: MacVerifier,
  request: { authToken: string; host: string; target: string; signature: string },
): void {
  const mac = decodeSignature(request.signature);
  const urls = upgradeUrls(request.host, request.target);
  if (![...urls].some((url) => isMacOf(verifier, request.authToken, url, mac))) throw mismatch();
}

function isMacOf(verifier: MacVerifier, authToken: string, text: string, mac: Uint8Array): boolean {
  return verifier.verifyHmacSha1(Buffer.from(authToken), Buffer.from(text), mac);
}

/** @throws SignatureError for anything but the canonical base64 of 20 bytes. */
function decodeSignature(signature: string | undefined): Uint8Array {
  if (signature === undefined || signature === '') {
    throw new SignatureError('SIGNATURE_MISSING', 'The signature header is missing.');
  }
  const mac = Buffer.from(signature, 'base64');
  if (mac.length !== 20 || mac.toString('base64') !== signature) {
    throw new SignatureError('SIGNATURE_MALFORMED', 'The signature header is not 20 bytes in base64.');
  }
  return mac;
}

/**
 * What may be signed behind the URL, each in a way that binds the whole body: a form by its parameters, any body by its hash in
 * the signed URL. Of a GET only the URL is read. @throws SignatureError for a body that nothing binds.
 */
function signedTails(request: SignedRequest): string[] {
  if (request.method === 'GET') return [''];
  const query = queryOf(request.url);
  const hash = query === '' ? null : decodeForm(query).get('bodySHA256');
  const hashed = hash !== null && isHashOf(hash, request.rawBody) ? [''] : [];
  if (isForm(request.contentType)) return [concatenate(decodeForm(request.rawBody)), ...hashed];
  const hasNoBody = hash === null && request.contentType === '' && request.rawBody.length === 0;
  if (hashed.length > 0 || hasNoBody) return [''];
  throw new SignatureError('SIGNATURE_MISMATCH', 'The signature does not cover this body.');
}

/** `hash` is SHA-256 in lower-case hexadecimal. */
function isHashOf(hash: string, body: Uint8Array): boolean {
  const claimed = Buffer.from(hash);
  const actual = Buffer.from(createHash('sha256').update(body).digest('hex'));
  return claimed.length === actual.length && timingSafeEqual(claimed, actual);
}

/** Names in code unit order, each followed by its values: without duplicates, in code unit order. No separators. */
function concatenate(parameters: URLSearchParams): string {
  const pairs = [...parameters].sort(([a, x], [b, y]) => compare(a, b) || compare(x, y));
  let text = '';
  let last: readonly string[] = [];
  for (const pair of pairs) {
    const [name, value] = pair;
    if (name !== last[0] || value !== last[1]) text += name + value;
    last = pair;
  }
  return text;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function mismatch(): SignatureError {
  return new SignatureError('SIGNATURE_MISMATCH', 'The signature does not match this request.');
}
