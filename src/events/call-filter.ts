// Which calls are meant, and in which order: the same answer in the store, in the export and on the page.
import type {
  CallDirection,
  CallOutcome,
  CallStatus,
  CarrierId,
  EndReason,
} from '../contract/call-record.js';
import type { CallSummary } from '../contract/dashboard-api.js';

/** Every condition that is there must hold. */
export interface CallFilter {
  status?: CallStatus;
  direction?: CallDirection;
  carrier?: CarrierId;
  outcome?: CallOutcome;
  endReason?: EndReason;
  /** Substring of a number or an id, case-insensitive. */
  q?: string;
  /** Started at or after, epoch milliseconds. */
  from?: number;
  /** Started before, epoch milliseconds. */
  to?: number;
}

/** What a filter looks at. */
export type FilteredCall = Pick<
  CallSummary,
  | 'callId'
  | 'carrierCallId'
  | 'carrier'
  | 'caller'
  | 'callee'
  | 'direction'
  | 'status'
  | 'outcome'
  | 'endReason'
  | 'startedAt'
>;

export function isMatch(call: FilteredCall, filter: CallFilter): boolean {
  const { status, direction, carrier, outcome, endReason, from, to } = filter;
  if (status !== undefined && call.status !== status) return false;
  if (direction !== undefined && call.direction !== direction) return false;
  if (carrier !== undefined && call.carrier !== carrier) return false;
  if (outcome !== undefined && call.outcome !== outcome) return false;
  if (endReason !== undefined && call.endReason !== endReason) return false;
  if (from !== undefined && call.startedAt < from) return false;
  if (to !== undefined && call.startedAt >= to) return false;
  if (filter.q === undefined) return true;
  const wanted = filter.q.toLowerCase();
  const { caller, callee, callId, carrierCallId } = call;
  return [caller, callee, callId, carrierCallId ?? ''].some((value) => value.toLowerCase().includes(wanted));
}

/** A place in the order of all calls. */
export type CallPosition = Pick<CallSummary, 'startedAt' | 'callId'>;

/** Total order, so that a cursor means the same place whatever is added before or after it. */
export function byNewestStart(a: CallPosition, b: CallPosition): number {
  if (a.startedAt !== b.startedAt) return b.startedAt - a.startedAt;
  if (a.callId === b.callId) return 0;
  return a.callId < b.callId ? 1 : -1;
}
