// Which calls are meant, and in which order: the same answer in the store, in the export and on the page.
import type {
  CallDirection,
  CallOutcome,
  CallRecord,
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
  /** Substring of what was said, or of the name or error of a tool, case-insensitive. Three digits or more match however they are spaced. */
  words?: string;
  /** Code of an incident of the call. */
  incident?: string;
  /** An AI provider that served the call last: `vendor`, or `vendor/model`. */
  provider?: string;
  /** Name of an agent that had the caller. */
  agent?: string;
  /** The process that owns the call or owned it last, or that it began in. */
  nodeId?: string;
  /** Average answer latency at or above, in milliseconds. A call without answers has none. */
  minLatencyMs?: number;
  /** Cost at or above, in US dollars. */
  minCost?: number;
  /** Started at or after, epoch milliseconds. */
  from?: number;
  /** Started before, epoch milliseconds. */
  to?: number;
}

/** The most that an amount of a filter can be. */
export const MAX_AMOUNT = 1e9 - 1;

/** An amount of a filter as it is written, without an exponent; null for what is none, or too much. */
export function parseAmount(text: string): number | null {
  return /^\d{1,9}(\.\d{1,6})?$/.test(text) && Number(text) <= MAX_AMOUNT ? Number(text) : null;
}

/** Conditions for which nothing that was said is looked at. */
export type SummaryFilter = Omit<CallFilter, 'words'>;

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
  | 'incidents'
  | 'provider'
  | 'agent'
  | 'handoffs'
  | 'nodeId'
  | 'originId'
  | 'latency'
  | 'cost'
>;

/** What a search for words looks at. */
export type SpokenCall = Pick<CallRecord, 'transcript' | 'turns'>;

export function isMatch(call: FilteredCall & SpokenCall, filter: CallFilter): boolean {
  const { words, ...rest } = filter;
  if (!isSummaryMatch(call, rest)) return false;
  if (words === undefined || words === '' || spokenText(call).includes(words.toLowerCase())) return true;
  const number = wantedNumber(words);
  return number !== null && spokenNumbers(call).includes(number);
}

export function isSummaryMatch(call: FilteredCall, filter: SummaryFilter): boolean {
  const { status, direction, carrier, outcome, endReason, minLatencyMs, minCost, from, to } = filter;
  if (status !== undefined && call.status !== status) return false;
  if (direction !== undefined && call.direction !== direction) return false;
  if (carrier !== undefined && call.carrier !== carrier) return false;
  if (outcome !== undefined && call.outcome !== outcome) return false;
  if (endReason !== undefined && call.endReason !== endReason) return false;
  if (from !== undefined && call.startedAt < from) return false;
  if (to !== undefined && call.startedAt >= to) return false;
  if (minLatencyMs !== undefined && !((call.latency.avgMs ?? -1) >= minLatencyMs)) return false;
  if (minCost !== undefined && !(call.cost.total >= minCost)) return false;
  for (const facet of CALL_FACETS) {
    const wanted = filter[facet];
    if (wanted !== undefined && !facetOf(call, facet).includes(wanted)) return false;
  }
  return filter.q === undefined || isFound(call, filter.q);
}

/** Conditions that a call meets with any of several names. */
export const CALL_FACETS = ['incident', 'provider', 'agent', 'nodeId'] as const;
export type CallFacet = (typeof CALL_FACETS)[number];

const FACETS: Readonly<Record<CallFacet, (call: FilteredCall) => readonly (string | null | undefined)[]>> = {
  incident: ({ incidents }) => incidents.map(({ code }) => code),
  provider: ({ provider: { engine, stt, llm, tts } }) =>
    [engine, stt, llm, tts].flatMap((name) => [name, name?.split('/', 1)[0]]),
  // A record may be older than its hand-offs.
  agent: ({ agent, handoffs }) => [...(handoffs ?? []).flatMap(({ from, to }) => [from, to]), agent],
  nodeId: ({ nodeId, originId }) => [originId, nodeId],
};

/** The names with which a call meets a condition, each once. */
export function facetOf(call: FilteredCall, facet: CallFacet): string[] {
  const names = FACETS[facet](call).filter((name) => name !== null && name !== undefined);
  return [...new Set(names)];
}

/** What a search by `words` looks into, in lower case: what was said, and names and errors of tools, a line each. */
export function spokenText(call: SpokenCall): string {
  return [...spokenTexts(call)].join('\n').toLowerCase();
}

/** The same as they are, one by one. */
export function* spokenTexts({ transcript, turns }: SpokenCall): Generator<string> {
  for (const { text } of transcript) yield text;
  for (const { toolCalls } of turns)
    for (const { name, error } of toolCalls) {
      yield name;
      if (error !== null) yield error;
    }
}

/** What a search by `words` for a number looks into: the digits of what was said and of tools, a line for each number. */
export function spokenNumbers(call: SpokenCall): string {
  return Array.from(spokenTexts(call), numbersIn).filter(Boolean).join('\n');
}

/** The digits that a search by `words` finds however they are spaced; null where `words` is no number, or a short one: those are everywhere. */
export function wantedNumber(words: string): string | null {
  const digits = A_NUMBER.test(words) ? words.replace(/\D/g, '') : '';
  return digits.length < MIN_DIGITS ? null : digits;
}

/** The numbers in a text without what is between their digits, a line each; short ones are left out. */
export function numbersIn(text: string): string {
  return (text.replace(SPACING, '').match(NUMBERS) ?? []).join('\n');
}

function isFound(call: FilteredCall, q: string): boolean {
  const searched = searchedText(call);
  return wantedTexts(q).some((wanted) => searched.includes(wanted));
}

/** What people, and programs that show numbers, put between digits: spaces, dashes, brackets, marks of direction. */
const SPACING = /[\s()./\p{Pd}\p{Cf}]/gu;
const A_NUMBER = /^[+\d\s()./\p{Pd}\p{Cf}]+$/u;
/** Of a number that is found in what was said. */
const MIN_DIGITS = 3;
const NUMBERS = /\d{3,}/g;

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
