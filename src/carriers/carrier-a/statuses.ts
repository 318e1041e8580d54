// The carrier's words for the progress of a call. Webhooks and the REST API share them.
import type { CallOutcome, CallStatus } from '../../contract/call-record.js';

/** Where a call stands. `outcome` is set with `completed`. */
export interface Progress {
  readonly status: CallStatus;
  readonly outcome: CallOutcome | null;
}

const STATUSES: ReadonlyMap<string, Progress> = new Map<string, Progress>([
  ['queued', { status: 'initiated', outcome: null }],
  ['initiated', { status: 'initiated', outcome: null }],
  ['ringing', { status: 'ringing', outcome: null }],
  ['in-progress', { status: 'active', outcome: null }],
  ['answered', { status: 'active', outcome: null }],
  ['completed', { status: 'completed', outcome: 'answered' }],
  ['busy', { status: 'completed', outcome: 'busy' }],
  ['no-answer', { status: 'completed', outcome: 'no-answer' }],
  ['failed', { status: 'completed', outcome: 'failed' }],
  ['canceled', { status: 'completed', outcome: 'canceled' }],
]);

/** Undefined for a word that is not one of the carrier's. */
export function toProgress(callStatus: unknown): Progress | undefined {
  return typeof callStatus === 'string' ? STATUSES.get(callStatus) : undefined;
}
