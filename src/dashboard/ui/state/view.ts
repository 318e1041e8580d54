// Which calls the page shows, and in which order. Pure: no browser, no clock.
import type { CallOutcome, CarrierId, EndReason } from '../../../contract/call-record.js';
import type { CallSummary } from '../../../contract/dashboard-api.js';
import { byNewestStart, type CallFilter, isMatch } from '../../../events/call-filter.js';
import type { LiveView } from './live.js';

/** How far back the page looks, in milliseconds; null is everything that the server holds. */
export const RANGES = { all: null, day: 86_400_000, hour: 3_600_000 } as const;
export type Range = keyof typeof RANGES;

/** What the table can be ordered by. */
export const SORT_KEYS = ['started', 'duration', 'turns', 'latency', 'cost'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

export interface View {
  range: Range;
  /** Where the range ends, by the server's clock. */
  until: number;
  q: string;
  direction: CallSummary['direction'] | null;
  outcome: CallOutcome | null;
  endReason: EndReason | null;
  carrier: CarrierId | null;
  sort: SortKey;
  isDescending: boolean;
  /** Of the calls that are up. */
  live: LiveView;
}

export const FIRST_VIEW: View = {
  range: 'all',
  until: 0,
  q: '',
  direction: null,
  outcome: null,
  endReason: null,
  carrier: null,
  sort: 'started',
  isDescending: true,
  live: { q: '', order: 'longest' },
};

/** The beginning of the range; undefined for all. */
export function startOf(view: View): number | undefined {
  const lengthMs = RANGES[view.range];
  return lengthMs === null ? undefined : view.until - lengthMs;
}

/** True while calls are left out for another reason than their age. */
export function isNarrowed({ q, direction, outcome, endReason, carrier }: View): boolean {
  return q.trim() !== '' || [direction, outcome, endReason, carrier].some((choice) => choice !== null);
}

/** The view as the server understands it, for the export of what is shown. */
export function filterOf(view: View): CallFilter {
  const { direction, outcome, endReason, carrier } = view;
  const q = view.q.trim();
  const from = startOf(view);
  return {
    status: 'completed',
    ...(from === undefined ? {} : { from }),
    ...(q === '' ? {} : { q }),
    ...(direction === null ? {} : { direction }),
    ...(outcome === null ? {} : { outcome }),
    ...(endReason === null ? {} : { endReason }),
    ...(carrier === null ? {} : { carrier }),
  };
}

const VALUES: Readonly<Record<SortKey, (call: CallSummary) => number | null>> = {
  started: (call) => call.startedAt,
  duration: (call) => call.durationMs,
  turns: (call) => call.turnCount,
  latency: (call) => call.latency.avgMs,
  cost: (call) => call.cost.total,
};

/** The calls of a view in its order. What is not known comes last, whichever way. */
export function selectCalls(calls: readonly CallSummary[], view: View): CallSummary[] {
  const filter = filterOf(view);
  const read = VALUES[view.sort];
  const sign = view.isDescending ? -1 : 1;
  return calls
    .filter((call) => isMatch(call, filter))
    .sort((a, b) => {
      const [left, right] = [read(a), read(b)];
      if (left === null || right === null) return Number(left === null) - Number(right === null);
      return sign * (left - right) || byNewestStart(a, b);
    });
}

/** The carriers of these calls, and the one that is chosen, by name. */
export function carriersOf(calls: readonly Pick<CallSummary, 'carrier'>[], { carrier }: View): CarrierId[] {
  const all = new Set(calls.map((call) => call.carrier));
  if (carrier !== null) all.add(carrier);
  return [...all].sort();
}
