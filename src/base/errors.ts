// Every error that offhook throws on purpose, with its stable code. Who answers what with them is said at the doors.

/** Stable codes, one table. `docs/reference/errors.md` lists exactly these. */
export const ERROR_CODES = {
  CONFIG_INVALID: 'An option or environment variable has an invalid value.',
  CONFIG_MISSING: 'A required option is not set.',
  CONFIG_CONFLICT: 'Two options cannot be combined.',
  CONFIG_PORT_IN_USE: 'The port is in use.',
  SIGNATURE_MISSING: 'A webhook has no signature header. In logs and metrics only.',
  SIGNATURE_MALFORMED: 'The signature header is malformed. In logs and metrics only.',
  SIGNATURE_MISMATCH:
    'The signature does not match the request. HTTP responses use this code for all four signature errors.',
  SIGNATURE_EXPIRED: 'The signed timestamp is more than five minutes off. In logs and metrics only.',
  AUTH_REQUIRED: 'The dashboard token is missing or wrong.',
  AUTH_FORBIDDEN:
    'The request comes from an origin or address that is not allowed, or needs a dashboard token on a server without one.',
  REQUEST_INVALID: 'The request is invalid.',
  REQUEST_TOO_LARGE: 'The body is larger than allowed.',
  REQUEST_CONFLICT: 'The call has ended, another process owns it, or the server was shut down.',
  NOT_FOUND: 'No such path or call.',
  LIMIT_EXCEEDED:
    'Too many connections or attempts from one address, a used-up budget, or no capacity for a call.',
  PROTOCOL_INVALID: 'A message on the media stream violates the protocol.',
  CARRIER_FAILED: 'The carrier refused a request or did not answer.',
  PROVIDER_FAILED: 'An AI provider refused, failed or did not answer.',
  STORE_FAILED: 'The call store failed to read or write.',
  CLUSTER_FAILED: 'The broker of the cluster, or another server, refused or did not answer.',
  RECORDING_ABSENT: 'The call has no recording, or it is not kept any more.',
  RECORDING_NOT_READY: 'The recording is still being made.',
  RECORDING_LOCKED: 'The recording is encrypted, and the key is missing or another one.',
  RECORDING_DAMAGED: 'The file of the recording is damaged.',
  TRANSCODER_UNAVAILABLE: 'No transcoder backend, or not the forced one, could be loaded.',
  TRANSCODER_INPUT: 'The transcoder received invalid input.',
  INTERNAL: 'An unexpected error inside offhook.',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** HTTP status that an error is answered with where a request raised it. */
export const HTTP_STATUSES: Readonly<Record<ErrorCode, number>> = {
  CONFIG_INVALID: 500,
  CONFIG_MISSING: 500,
  CONFIG_CONFLICT: 500,
  CONFIG_PORT_IN_USE: 500,
  SIGNATURE_MISSING: 403,
  SIGNATURE_MALFORMED: 403,
  SIGNATURE_MISMATCH: 403,
  SIGNATURE_EXPIRED: 403,
  AUTH_REQUIRED: 401,
  AUTH_FORBIDDEN: 403,
  REQUEST_INVALID: 400,
  REQUEST_TOO_LARGE: 413,
  REQUEST_CONFLICT: 409,
  NOT_FOUND: 404,
  LIMIT_EXCEEDED: 429,
  PROTOCOL_INVALID: 400,
  CARRIER_FAILED: 502,
  PROVIDER_FAILED: 502,
  STORE_FAILED: 503,
  CLUSTER_FAILED: 503,
  RECORDING_ABSENT: 404,
  RECORDING_NOT_READY: 409,
  RECORDING_LOCKED: 503,
  RECORDING_DAMAGED: 503,
  TRANSCODER_UNAVAILABLE: 500,
  TRANSCODER_INPUT: 500,
  INTERNAL: 500,
};

const BRAND = Symbol.for('offhook.error');

/** Base of all errors of the package. `code` is stable, `message` names the fix where there is one. */
export class OffhookError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.name = new.target.name;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** True for an error of this package, also when it comes from another copy of it. */
  static isInstance(value: unknown): value is OffhookError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** A setting that cannot work. Thrown before anything listens. */
export class ConfigError extends OffhookError {
  constructor(code: Extract<ErrorCode, `CONFIG_${string}`>, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

/** A webhook or upgrade whose signature is not right. Answered as 403, same body for every code. */
export class SignatureError extends OffhookError {
  constructor(
    code: Extract<ErrorCode, `SIGNATURE_${string}`>,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(code, message, options);
  }
}

/** A dashboard request without the right token (401), or from a place it may not come from (403). */
export class AuthError extends OffhookError {
  constructor(code: 'AUTH_REQUIRED' | 'AUTH_FORBIDDEN', message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

/** A request that makes no sense (400), is too large (413), or comes too late (409). */
export class RequestError extends OffhookError {
  constructor(code: Extract<ErrorCode, `REQUEST_${string}`>, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

/** No such path or call (404). */
export class NotFoundError extends OffhookError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('NOT_FOUND', message, options);
  }
}

/** Too many from one address (429), or no money left for another call. */
export class LimitError extends OffhookError {
  /** After so many seconds it is worth another try; undefined where nobody knows. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, options?: { cause?: unknown; retryAfterSeconds?: number }) {
    super('LIMIT_EXCEEDED', message, options);
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }
}

/** A media stream that breaks the protocol. `closeCode` is the WebSocket code it is closed with. */
export class ProtocolError extends OffhookError {
  readonly closeCode: number;

  constructor(message: string, options: { closeCode: number; cause?: unknown }) {
    super('PROTOCOL_INVALID', message, options);
    this.closeCode = options.closeCode;
  }
}

/** What a foreign service answered. `status` is its HTTP status, or null when there was none. */
export interface RemoteFailure {
  status: number | null;
  retryable: boolean;
  cause?: unknown;
}

/** The carrier's REST API refused or failed. */
export class CarrierError extends OffhookError {
  readonly status: number | null;
  readonly retryable: boolean;
  /** The answer is the same however often it is asked for: the carrier does not know us, or says that it has no such thing. */
  readonly isFinal: boolean;

  /** `isFinal`: @default for refused credentials (401, 403) */
  constructor(message: string, failure: RemoteFailure & { isFinal?: boolean }) {
    super('CARRIER_FAILED', message, failure);
    const { status, retryable, isFinal = status === 401 || status === 403 } = failure;
    this.status = status;
    this.retryable = retryable;
    this.isFinal = isFinal;
  }
}

/** An AI provider refused or failed. */
export class ProviderError extends OffhookError {
  readonly status: number | null;
  readonly retryable: boolean;

  constructor(message: string, failure: RemoteFailure) {
    super('PROVIDER_FAILED', message, failure);
    this.status = failure.status;
    this.retryable = failure.retryable;
  }
}

/** The call store failed. Calls go on. */
export class StoreError extends OffhookError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('STORE_FAILED', message, options);
  }
}

/** The broker of the cluster, or another node, is away. Calls go on. */
export class ClusterError extends OffhookError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('CLUSTER_FAILED', message, options);
  }
}

/** A recording on this machine that cannot be played. */
export class RecordingError extends OffhookError {
  constructor(
    code: Extract<ErrorCode, `RECORDING_${string}`>,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(code, message, options);
  }
}

/** One backend that was tried, and why it is not in use. */
export interface TranscoderAttempt {
  readonly backend: string;
  readonly reason: string;
}

/** The transcoder could not be loaded (`attempts` says what was tried), or was given something it cannot take. */
export class TranscoderError extends OffhookError {
  readonly attempts: readonly TranscoderAttempt[];

  constructor(
    code: Extract<ErrorCode, `TRANSCODER_${string}`>,
    message: string,
    options?: { attempts?: readonly TranscoderAttempt[]; cause?: unknown },
  ) {
    super(code, message, options);
    this.attempts = options?.attempts ?? [];
  }
}
