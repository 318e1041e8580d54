// What networks claim of an inbound call, made harmless: no control characters, and nothing longer or more than a call needs.
import type { CallDetails } from './carrier.js';

const MAX_CLAIM_CHARS = 256;
const MAX_HEADERS = 32;
const MAX_HEADER_NAME_CHARS = 64;

/** A text without control characters and halves of characters; null for anything else, and for one that is empty. */
export function toClaim(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value
    .replace(/\p{Cc}/gu, '')
    .slice(0, MAX_CLAIM_CHARS)
    .replace(/\p{Cs}/gu, '')
    .trim();
  return text === '' ? null : text;
}

/** As a message has them: nothing where nothing is claimed. */
export function withDetails(details: CallDetails): { details?: CallDetails } {
  const { callerName, forwardedFrom, sipHeaders, location } = details;
  const isTold = [callerName, forwardedFrom, location].some((claim) => claim !== null);
  return isTold || Object.keys(sipHeaders).length > 0 ? { details } : {};
}

/** SIP headers by name in lower case; of two with one name, the first. */
export function toSipHeaders(headers: Iterable<readonly [unknown, unknown]>): Record<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of headers) {
    const claim = toClaim(value);
    if (claim === null || typeof name !== 'string' || !isHeaderName(name)) continue;
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, claim);
    if (found.size === MAX_HEADERS) break;
  }
  return Object.fromEntries(found);
}

/** Source: RFC 3261, section 25.1, `token`. */
function isHeaderName(name: string): boolean {
  return name.length <= MAX_HEADER_NAME_CHARS && /^[\w.!%*+`'~-]+$/.test(name);
}
