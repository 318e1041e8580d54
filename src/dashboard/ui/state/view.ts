// Which calls the page shows, and in which order. Pure: no browser, no clock.
import type { CallOutcome, CarrierId, EndReason } from '../../../contract/call-record.js';
import type { CallSummary } from '../../../contract/dashboard-api.js';
import {
  byNewestStart,
  type CallFacet,
  type CallFilter,
  facetOf,
  isSummaryMatch,
} from '../../../events/call-filter.js';
import type { LiveView } from './live.js';

/** How far back the page looks, in milliseconds; null for one that is bounded otherwise: by nothing, or by two dates. */
export const RANGES = { all: null, day: 86_400_000, hour: 3_600_000, custom: null } as const;
export type Range = keyof typeof RANGES;

export const DIRECTIONS = ['inbound', 'outbound'] as const;

/** What the table can be ordered by. */
export const SORT_KEYS = ['started', 'duration', 'turns', 'latency', 'cost'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** Which calls are left, whenever they were. Texts that are empty and what is null leave all. */
export interface Choices {
  /** Part of a number or an id. */
  q: string;
  /** Part of what was said, or of the name or error of a tool. */
  words: string;
  direction: CallSummary['direction'] | null;
  outcome: CallOutcome | null;
  endReason: EndReason | null;
  carrier: CarrierId | null;
  incident: string | null;
  provider: string | null;
  agent: string | null;
  nodeId: string | null;
  minLatencyMs: number | null;
  /** US dollars. */
  minCost: number | null;
}

/** All that a person has chosen: plain values, which an address can hold. */
export interface View extends Choices {
  range: Range;
  /** Where a range that moves on ends, by the server's clock. */
  until: number;
  /** Of the custom range, epoch milliseconds: from the first, to before the second. Null is open. */
  from: number | null;
  to: number | null;
  sort: SortKey;
  isDescending: boolean;
  /** Of the calls that are up. */
  live: LiveView;
}

export const NO_CHOICES: Choices = {
  q: '',
  words: '',
  direction: null,
  outcome: null,
  endReason: null,
  carrier: null,
  incident: null,
  provider: null,
  agent: null,
  nodeId: null,
  minLatencyMs: null,
  minCost: null,
};

export const FIRST_VIEW: View = {
  ...NO_CHOICES,
  range: 'all',
  until: 0,
  from: null,
  to: null,
  sort: 'started',
  isDescending: true,
  live: { q: '', order: 'longest' },
};

/** Where a range begins, and where it ends, epoch milliseconds. What is missing is open. */
export interface Span {
  from?: number;
  to?: number;
}

export function spanOf({ range, until, from, to }: View): Span {
  const lengthMs = RANGES[range];
  if (lengthMs !== null) return { from: until - lengthMs };
  if (range === 'all') return {};
  // Whichever was entered first.
  const [first, last] = from !== null && to !== null && to < from ? [to, from] : [from, to];
  return { ...(first === null ? {} : { from: first }), ...(last === null ? {} : { to: last }) };
}

export function isWithin(at: number, { from, to }: Span): boolean {
  return (from === undefined || at >= from) && (to === undefined || at < to);
}

/** What is chosen, as conditions. */
function conditionsOf(view: View): [string, string | number][] {
  return (Object.keys(NO_CHOICES) as (keyof Choices)[]).flatMap((name) => {
    const chosen = view[name];
    const value = typeof chosen === 'string' ? chosen.trim() : chosen;
    return value === null || value === '' ? [] : [[name, value]];
  });
}

/** How many conditions leave calls out for another reason than their age. */
export function countChoices(view: View): number {
  return conditionsOf(view).length;
}

/** The view as the server understands it, for the export of what is shown. */
export function filterOf(view: View): CallFilter {
  return { status: 'completed', ...spanOf(view), ...(Object.fromEntries(conditionsOf(view)) as CallFilter) };
}

const VALUES: Readonly<Record<SortKey, (call: CallSummary) => number | null>> = {
  started: (call) => call.startedAt,
  duration: (call) => call.durationMs,
  turns: (call) => call.turnCount,
  latency: (call) => call.latency.avgMs,
  cost: (call) => call.cost.total,
};

/** The calls of a view in its order, but for the words: what was said the server alone knows. What is not known comes last, whichever way. */
export function selectCalls(calls: readonly CallSummary[], view: View): CallSummary[] {
  const { words: _words, ...filter } = filterOf(view);
  const read = VALUES[view.sort];
  const sign = view.isDescending ? -1 : 1;
  return calls
    .filter((call) => isSummaryMatch(call, filter))
    .sort((a, b) => {
      const [left, right] = [read(a), read(b)];
      if (left === null || right === null) return Number(left === null) - Number(right === null);
      return sign * (left - right) || byNewestStart(a, b);
    });
}

/** The names that these calls can be chosen by, and the one that is chosen, in order. */
export function namesOf(calls: readonly CallSummary[], facet: CallFacet | 'carrier', view: View): string[] {
  const all = new Set(calls.flatMap((call) => (facet === 'carrier' ? call.carrier : facetOf(call, facet))));
  const chosen = view[facet];
  if (chosen !== null) all.add(chosen);
  return [...all].sort();
}
