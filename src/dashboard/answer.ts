// What a handler answers, and what an error becomes on the wire.
import { type ErrorCode, HTTP_STATUSES, type LimitError, OffhookError } from '../base/errors.js';
import { describeError, type Logger } from '../base/log.js';
import type { ErrorBody } from '../contract/dashboard-api.js';
import type { Piece } from './breather.js';

/** A JSON answer, free of any web framework. */
export interface Answer {
  status: number;
  headers?: { readonly [name: string]: string };
  body: unknown;
}

/** A JSON answer whose text is too long to be made in one go. */
export interface LongAnswer {
  status: number;
  pieces: Iterable<Piece> | AsyncIterable<Piece>;
}

/** How long a client over a limit is asked to wait where nobody knows better, in seconds. */
const RETRY_AFTER_SECONDS = 60;

/** The body of every refusal. */
export function errorBody(code: ErrorCode, message: string): ErrorBody {
  return { error: { code, message } };
}

/** Turns an error into an answer. Foreign errors are logged and answered without a word of theirs. */
export function toErrorAnswer(error: unknown, logger: Logger): Answer {
  const status = OffhookError.isInstance(error) ? HTTP_STATUSES[error.code] : 500;
  if (!OffhookError.isInstance(error) || status === 500) {
    logger.error(describeError(error), 'dashboard request failed');
    return {
      status: 500,
      body: errorBody('INTERNAL', 'Something went wrong. The log of the server says more.'),
    };
  }
  if (status >= 500) logger.warn(describeError(error), 'dashboard request failed');
  const answer: Answer = { status, body: errorBody(error.code, error.message) };
  if (status === 401) return { ...answer, headers: { 'WWW-Authenticate': 'Bearer' } };
  if (status !== 429) return answer;
  const { retryAfterSeconds = RETRY_AFTER_SECONDS } = error as Partial<LimitError>;
  return { ...answer, headers: { 'Retry-After': String(retryAfterSeconds) } };
}

/** The answer to a method that a path does not have; to OPTIONS, what it has. */
export function refuseMethod(method: string, allowed: string): Answer {
  if (method === 'OPTIONS') return { status: 204, headers: { Allow: allowed }, body: undefined };
  const message = `This path answers ${allowed} only.`;
  return { status: 405, headers: { Allow: allowed }, body: errorBody('REQUEST_INVALID', message) };
}
