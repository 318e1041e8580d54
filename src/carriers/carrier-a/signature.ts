// Signatures of carrier A: HMAC-SHA1 over the URL and the decoded parameters, in base64.
// Written from the vendor's "Webhooks security" page; the candidates are those of its Node SDK.
import { createHash, timingSafeEqual } from 'node:crypto';
import { parse as parseQuery, stringify as stringifyQuery } from 'node:querystring';
import { SignatureError } from '../../base/errors.js';
import type { TranscoderBackend } from '../../transcoder/backend.js';
import type { WebhookRequest } from '../carrier.js';
import { decodeForm, isForm } from './form.js';

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
  const parameters = signedParameters(request);
  const isSigned = [...webhookUrls(request.url)].some((url) =>
    isMacOf(verifier, request.authToken, url + parameters, mac),
  );
  if (!isSigned) throw mismatch();
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

/** The text that is signed behind the URL. A body that is no form must be bound by its hash in the URL instead. */
function signedParameters(request: SignedRequest): string {
  if (request.method === 'GET') return '';
  if (isForm(request.contentType)) return concatenate(decodeForm(request.rawBody));
  if (request.contentType === '' && request.rawBody.length === 0) return '';
  verifyBodyHash(request);
  return '';
}

function verifyBodyHash(request: SignedRequest): void {
  const claimed = Buffer.from(decodeForm(queryOf(request.url)).get('bodySHA256') ?? '');
  const actual = Buffer.from(createHash('sha256').update(request.rawBody).digest('hex'));
  if (claimed.length !== actual.length || !timingSafeEqual(claimed, actual)) {
    throw new SignatureError('SIGNATURE_MISMATCH', 'The signature says nothing about this body.');
  }
}

/** Names in code unit order, each followed by its values: without duplicates, in code unit order. No separators. */
function concatenate(parameters: URLSearchParams): string {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of parameters) {
    const known = values.get(name);
    if (known === undefined) values.set(name, new Set([value]));
    else known.add(value);
  }
  return [...values.keys()]
    .sort()
    .map((name) =>
      [...(values.get(name) ?? [])]
        .sort()
        .map((value) => name + value)
        .join(''),
    )
    .join('');
}

/** The URL as it is, as a URL parser writes it, and with its query written anew; each without and with a port. */
function webhookUrls(url: string): Set<string> {
  const forms = [url];
  if (URL.canParse(url)) {
    const normal = new URL(url);
    forms.push(normal.href);
    if (normal.search !== '') {
      normal.search = '';
      forms.push(`${normal.href}?${stringifyQuery(parseQuery(queryOf(url)))}`);
    }
  }
  return new Set(forms.flatMap((form) => [withPort(form, 'none'), withPort(form, 'explicit')]));
}

function upgradeUrls(host: string, target: string): Set<string> {
  const query = target.includes('?') ? target.slice(target.indexOf('?')) : '';
  const path = target.slice(0, target.length - query.length);
  const bare = path.replace(/\/$/, '');
  const targets = [path, bare, `${bare}/`].flatMap((each) => [each + query, each]);
  const urls = targets.map((each) => `wss://${host}${each}`);
  return new Set(
    urls.flatMap((url) => [
      withPort(url, 'none'),
      withPort(url, 'explicit'),
      withPort(withPort(url, 'none'), 'explicit', 443),
    ]),
  );
}

const ORIGIN = /^([a-z]+):\/\/(\[[^\]]*\]|[^/?#:]*)(?::(\d+))?/i;

/** The URL without its port, or with one: its own, else `fallback` (the SDK counts every scheme but https as port 80). */
function withPort(url: string, port: 'none' | 'explicit', fallback?: number): string {
  return url.replace(ORIGIN, (_, scheme: string, host: string, own: string | undefined) => {
    if (port === 'none') return `${scheme}://${host}`;
    return `${scheme}://${host}:${own ?? fallback ?? (scheme === 'https' ? 443 : 80)}`;
  });
}

function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
}

function mismatch(): SignatureError {
  return new SignatureError('SIGNATURE_MISMATCH', 'The signature does not belong to this request.');
}
