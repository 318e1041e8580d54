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
  /** Substring of a number or an id, case-insensitive. A number matches however it is spaced: `+1 (555) 010-0`. */
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
  return filter.q === undefined || isFound(call, filter.q);
}

function isFound(call: FilteredCall, q: string): boolean {
  const searched = searchedText(call);
  return wantedTexts(q).some((wanted) => searched.includes(wanted));
}

/** What people, and programs that show numbers, put between digits: spaces, dashes, brackets, marks of direction. */
const SPACING = /[\s()./\p{Pd}\p{Cf}]/gu;
const A_NUMBER = /^[+\d\s()./\p{Pd}\p{Cf}]+$/u;

/** What a search by `q` looks into: numbers as they are and without spacing, and ids, in lower case, a line each. */
export function searchedText(
  call: Pick<FilteredCall, 'caller' | 'callee' | 'callId' | 'carrierCallId'>,
): string {
  const numbers = [call.caller, call.callee];
  const unspaced = numbers.map((number) => number.replace(SPACING, ''));
  return [...numbers, call.callId, call.carrierCallId ?? '', ...unspaced].join('\n').toLowerCase();
}

/** The texts of which a search by `q` finds any: `q` in lower case, and where it is a number, the number without spacing. */
export function wantedTexts(q: string): string[] {
  const unspaced = A_NUMBER.test(q) ? q.replace(SPACING, '') : '';
  return unspaced === '' ? [q.toLowerCase()] : [q.toLowerCase(), unspaced];
}

/** A place in the order of all calls. */
export type CallPosition = Pick<CallSummary, 'startedAt' | 'callId'>;

/** Total order, so that a cursor means the same place whatever is added before or after it. */
export function byNewestStart(a: CallPosition, b: CallPosition): number {
  if (a.startedAt !== b.startedAt) return b.startedAt - a.startedAt;
  if (a.callId === b.callId) return 0;
  return a.callId < b.callId ? 1 : -1;
}
