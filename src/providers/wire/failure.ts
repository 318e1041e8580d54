// What can go wrong on the way to a vendor, in three kinds, and how it is told. Vendors' own words stay out of errors and logs.
import { ProviderError } from '../../base/errors.js';
import { describeKeySources, type VendorNames } from './access.js';

/**
 * `fatal`: the same again would fail again (a wrong key, parameter, model or voice). `throttled`: too much at a time.
 * `transient`: another try may work.
 */
export type FailureKind = 'fatal' | 'throttled' | 'transient';

export interface WireFailure {
  readonly kind: FailureKind;
  /** HTTP status of a refusal, null when there was none. */
  readonly status: number | null;
  /** How long the vendor wants us to wait, when it says so. */
  readonly retryAfterMs: number | null;
  /** Goes on after the vendor's name: "refused the key (HTTP 401)". */
  readonly reason: string;
  /** The key may be why: the error then says where it is taken from. @default false */
  readonly isAboutKey?: boolean;
  /** How long it had gone on when it was noticed, in milliseconds. @default 0 */
  readonly lastedMs?: number;
  readonly cause?: unknown;
}

/** A failure on its way through a promise. Does not leave the wing. */
export class WireError extends Error {
  readonly failure: WireFailure;

  constructor(failure: WireFailure) {
    super(failure.reason, { cause: failure.cause });
    this.name = 'WireError';
    this.failure = failure;
  }
}

/** The failure as rooms outside know it. The vendor's name begins the sentence. */
export function toProviderError(names: VendorNames, failure: WireFailure): ProviderError {
  const remedy = failure.isAboutKey === true ? `: ${describeKeySources(names)}` : '';
  return new ProviderError(`${names.vendor} ${failure.reason}${remedy}.`, {
    status: failure.status,
    retryable: failure.kind !== 'fatal',
    cause: failure.cause,
  });
}

export function transientFailure(reason: string, cause?: unknown): WireFailure {
  return { kind: 'transient', status: null, retryAfterMs: null, reason, cause };
}

export function fatalFailure(reason: string, cause?: unknown): WireFailure {
  return { kind: 'fatal', status: null, retryAfterMs: null, reason, cause };
}

/** Codes that speak of the key: it is wrong, or may not do this. */
const KEY_CODE = /api.?key|auth|credential|permission/i;

/** A fatal failure for which the vendor gave a code. */
export function codedFailure(reason: string, code: string): WireFailure {
  return KEY_CODE.test(code) ? { ...fatalFailure(reason), isAboutKey: true } : fatalFailure(reason);
}

/** How Node and OpenSSL begin the codes of certificates that cannot be trusted. */
const CERTIFICATE_CODE =
  /^(CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)|ERR_TLS_CERT_)/;

/**
 * A connection to `url` that could not be made, or broke: of the address only the host is told. That a certificate is not trusted will be
 * so at the next try, too.
 */
export function connectionFailure(url: URL, cause: unknown): WireFailure {
  const { code } = Object(cause) as { code?: unknown };
  if (typeof code !== 'string' || !CERTIFICATE_CODE.test(code)) {
    const where = [url.host, ...toShownCode(code)].join(', ');
    return transientFailure(`could not be reached (${where})`, cause);
  }
  return fatalFailure(
    `shows a certificate that is not trusted here (${code}); NODE_EXTRA_CA_CERTS can name a file with one that is`,
    cause,
  );
}

/** Statuses that another try may cure: a timeout, a conflict, too early. */
const TRY_AGAIN = new Set([408, 409, 425]);

/** Overloaded, in the words of some vendors. */
const OVERLOADED = 529;

export function kindOfStatus(status: number): FailureKind {
  if (status === 429 || status === OVERLOADED) return 'throttled';
  return status >= 500 || TRY_AGAIN.has(status) ? 'transient' : 'fatal';
}

export interface Refusal {
  readonly status: number;
  /** Value of the `retry-after` header. */
  readonly retryAfter?: string | undefined;
  /** A code of the vendor. Shown only when it looks like one. */
  readonly code?: string | undefined;
}

/** Codes of a 401 or a 403 that no other key would change: an account without money, a country that is not served. */
const NOT_ABOUT_KEY = /quota|billing|credit|payment|country|region|territory|location/i;

/** An answer with an HTTP status that is no success. */
export function refusalFailure({ status, retryAfter, code = '' }: Refusal): WireFailure {
  const shown = [`HTTP ${status}`, ...toShownCode(code)].join(', ');
  const isAboutKey = (status === 401 || status === 403) && !NOT_ABOUT_KEY.test(code);
  return {
    kind: kindOfStatus(status),
    status,
    retryAfterMs: readRetryAfter(retryAfter),
    reason: `${describeStatus(status, isAboutKey)} (${shown})`,
    ...(isAboutKey ? { isAboutKey } : {}),
  };
}

function describeStatus(status: number, isAboutKey: boolean): string {
  if (isAboutKey) return status === 401 ? 'refused the key' : 'does not allow this with the key';
  if (status === 402) return 'wants to be paid first';
  if (status === 404) return 'knows no such address, model, voice or agent';
  if (kindOfStatus(status) === 'throttled') return 'is asked for too much at a time';
  if (kindOfStatus(status) === 'transient') return 'cannot answer now';
  return 'refused the request';
}

/** Codes are single words like `DATA-0000` or `insufficient_quota`; sentences may quote what was sent. */
export function toShownCode(code: unknown): string[] {
  return typeof code === 'string' && /^[\w.-]{2,48}$/.test(code) ? [code] : [];
}

/** Seconds, or a date, which only the vendor's clock can read and which is left alone. */
function readRetryAfter(value: string | undefined): number | null {
  const seconds = value === undefined || value.trim() === '' ? Number.NaN : Number(value);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null;
}
