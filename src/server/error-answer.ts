// What an error looks like from outside: a status and a coded body. Never a stack trace.
import { ERROR_CODES, type ErrorCode, HTTP_STATUSES, OffhookError } from '../base/errors.js';
import type { ErrorBody } from '../contract/dashboard-api.js';

/** An error as an HTTP answer. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
}

/** Seconds after which a client over a limit may try again. */
const RETRY_AFTER_SECONDS = 5;

/** The answer for an error of ours or of Express; 500 without a detail for anything else. */
export function toErrorAnswer(error: unknown): ErrorAnswer {
  if (!OffhookError.isInstance(error)) return toForeignAnswer(error);
  // One body for every reason: a forger learns nothing.
  if (error.code.startsWith('SIGNATURE_'))
    return answer(403, 'SIGNATURE_MISMATCH', 'The signature of the request is missing, wrong or too old.');
  const status = HTTP_STATUSES[error.code];
  return status < 500 ? answer(status, error.code, error.message) : answer(status, error.code);
}

function toForeignAnswer(error: unknown): ErrorAnswer {
  const status = error instanceof Error ? (error as { status?: unknown }).status : undefined;
  if (typeof status === 'number' && status >= 400 && status < 500) return answer(400, 'REQUEST_INVALID');
  return answer(500, 'INTERNAL');
}

function answer(status: number, code: ErrorCode, message: string = ERROR_CODES[code]): ErrorAnswer {
  const headers: Record<string, string> = {};
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer';
  if (status === 429) headers['Retry-After'] = String(RETRY_AFTER_SECONDS);
  return { status, headers, body: { error: { code, message } } };
}
