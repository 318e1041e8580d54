// What is said when the REST API refuses or fails. The carrier's own sentences hold whole numbers, so ours are used.
import { CarrierError } from '../../base/errors.js';
import type { Outcome } from './api-exchange.js';
import { ACCOUNT_SID, AUTH_TOKEN } from './settings.js';
import { settingName } from '../setting.js';

/** The call is not in progress: it cannot be redirected or hung up. */
export const CODE_CALL_OVER = 21220;

/** The account has no such call, or it is another account's. A 404 without it comes from elsewhere. */
export const CODE_NOT_FOUND = 20404;

/** Too many requests at a time: this one was not processed. */
export const STATUS_TOO_MANY = 429;

/** Source: the vendor's catalog of errors. */
const REASONS: ReadonlyMap<number, string> = new Map([
  [20003, `${settingName(ACCOUNT_SID)} or ${settingName(AUTH_TOKEN)} is wrong`],
  [CODE_NOT_FOUND, 'the account has no such call or number'],
  [20429, 'too many requests at a time'],
  [21201, 'the number to be called is missing'],
  [21204, 'the call is not in a state that allows it'],
  [21205, 'a webhook URL is not valid'],
  [21210, 'the calling number is neither owned nor verified'],
  [21211, 'the number to be called is not valid'],
  [21212, 'the calling number is not valid'],
  [21213, 'the calling number is missing'],
  [21215, 'the account may not call this destination'],
  [CODE_CALL_OVER, 'the call is not in progress'],
  [21262, 'the callback of answering-machine detection is not valid'],
  [21609, 'a status callback URL is not valid'],
]);

const FAILURES = {
  unsent: 'could not be reached',
  lost: 'broke the connection when it was asked',
  timeout: 'did not answer in time when it was asked',
} as const;

/** What was asked for, as far as an error tells of it. */
export interface Errand {
  /** Completes the sentence "The carrier refused to …". */
  readonly purpose: string;
  /** Repeating it does no harm. */
  readonly isIdempotent: boolean;
}

/** The error for an outcome without success. `retryable`: nothing was done, or doing it again does no harm. */
export function toCarrierError(errand: Errand, outcome: Outcome): CarrierError {
  const { purpose, isIdempotent } = errand;
  if (outcome.type === 'failure') {
    const { reason, detail, cause } = outcome;
    return new CarrierError(`The carrier ${FAILURES[reason]} to ${purpose}${detail}.`, {
      status: null,
      retryable: isIdempotent || reason === 'unsent',
      cause,
    });
  }
  const { status } = outcome;
  const isTransient = status >= 500 || isSuccess(status);
  return new CarrierError(sentence(purpose, outcome), {
    status,
    retryable: status === STATUS_TOO_MANY || (isIdempotent && isTransient),
    ...(codeOf(outcome) === CODE_NOT_FOUND ? { isFinal: true } : {}),
  });
}

/** True for the statuses of a success. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The carrier's own number of an error, beside the HTTP status. */
export function codeOf(outcome: Outcome): number | undefined {
  const code = outcome.type === 'answer' ? outcome.body?.code : undefined;
  return typeof code === 'number' ? code : undefined;
}

function sentence(purpose: string, outcome: Extract<Outcome, { type: 'answer' }>): string {
  const { status } = outcome;
  if (isSuccess(status)) {
    return `The carrier's answer to the request to ${purpose} cannot be read (HTTP ${status}).`;
  }
  if (status >= 300 && status < 400) {
    return `The carrier answered the request to ${purpose} with a redirect, which is not followed (HTTP ${status}).`;
  }
  const code = codeOf(outcome);
  const reason = code === undefined ? undefined : REASONS.get(code);
  const because = reason === undefined ? '' : `: ${reason}`;
  return `The carrier refused to ${purpose}${because} (HTTP ${status}${code === undefined ? '' : `, code ${code}`}).`;
}
