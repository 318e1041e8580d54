// Why a leg ended, in our words.
import type { CallOutcome } from '../../contract/call-record.js';
import type { TransferResult } from '../carrier.js';

/** `hangup_cause` that speaks for itself, in both directions. */
const CAUSES: ReadonlyMap<unknown, CallOutcome> = new Map([
  ['user_busy', 'busy'],
  ['no_answer', 'no-answer'],
  ['timeout', 'no-answer'],
  ['originator_cancel', 'canceled'],
  ['time_limit', 'answered'],
  ['not_found', 'failed'],
]);

/** `sip_hangup_cause`, which decides where the other is `normal_clearing`, `call_rejected`, `unspecified` or unknown. */
const SIP_CODES: ReadonlyMap<unknown, CallOutcome> = new Map([
  ['200', 'answered'],
  ['408', 'no-answer'],
  ['480', 'no-answer'],
  ['486', 'busy'],
  ['487', 'canceled'],
  ['600', 'busy'],
  ['603', 'busy'],
]);

const RESULTS: Readonly<Record<CallOutcome, TransferResult>> = {
  answered: 'connected',
  voicemail: 'connected',
  busy: 'busy',
  'no-answer': 'no-answer',
  // The carrier stopped ringing before anybody answered.
  canceled: 'no-answer',
  failed: 'failed',
};

/**
 * How a leg ended. A cause of the open set that says nothing counts as failed: the session knows better when there was a
 * conversation.
 */
export function toOutcome(cause: unknown, sipCause: unknown): CallOutcome {
  const code = typeof sipCause === 'number' ? String(sipCause) : sipCause;
  return CAUSES.get(cause) ?? SIP_CODES.get(code) ?? (cause === 'normal_clearing' ? 'answered' : 'failed');
}

/** What the end of a transfer's own leg says about the transfer. A leg that was in a conversation had been connected. */
export function toTransferResult(cause: unknown, sipCause: unknown): TransferResult {
  return RESULTS[toOutcome(cause, sipCause)];
}
