// What the page knows, and what a snapshot or a fact does to it. Pure: no browser, no clock.
import type { CallEvent } from '../../../contract/call-event.js';
import type { CallRecord } from '../../../contract/call-record.js';
import type {
  Aggregates,
  CallEntry,
  CallSummary,
  CallsPage,
  Snapshot,
} from '../../../contract/dashboard-api.js';
import { byNewestStart } from '../../../events/call-filter.js';
import { isNewer, opensCall, reduceCall } from '../../../events/reduce.js';
import { roundMoney, toSummary } from '../../../events/summarize.js';
import type { Span } from './view.js';

export interface PageState {
  /** Calls that are not over, by id, in order of their start. */
  active: ReadonlyMap<string, CallRecord>;
  /** Ended calls, newest first. */
  history: readonly CallSummary[];
  /** Whole records of ended calls that the page has seen, newest last, bounded. */
  ended: ReadonlyMap<string, CallRecord>;
  aggregates: Aggregates | null;
  /** Calls that were deleted while the page was open. */
  forgotten: ReadonlySet<string>;
  /** When the calls began that the aggregates are over. */
  aggregatesSpan: Span;
  controls: boolean;
  /** This browser has a session, which it can end. */
  isSignedIn: boolean;
  /** Live calls can be listened in to. */
  canListen: boolean;
  /** Where calls come in; null where none do. */
  entry: CallEntry | null;
}

export const EMPTY_STATE: PageState = {
  active: new Map(),
  history: [],
  ended: new Map(),
  forgotten: new Set(),
  aggregates: null,
  aggregatesSpan: {},
  controls: false,
  isSignedIn: false,
  canListen: false,
  entry: null,
};

/** As many ended calls as the server keeps. */
export const HISTORY_SIZE = 500;
/** Whole records that stay at hand after their end. */
const ENDED_SIZE = 50;
/** Deleted calls that are told from those that never were. */
const FORGOTTEN_SIZE = 100;

/**
 * Starts over from a snapshot; older calls that were loaded before stay when the two lists meet. Calls that were taken for lost may be
 * up after all.
 */
export function applySnapshot(state: PageState, snapshot: Snapshot): PageState {
  const active = new Map(snapshot.active.map((record) => [record.callId, record]));
  const recent = new Map(snapshot.recent.map((call) => [call.callId, call]));
  const oldest = snapshot.recent.at(-1)?.startedAt ?? 0;
  // One that began when these did, and is not among them, was deleted.
  const isThere = ({ callId, startedAt }: CallSummary) => recent.has(callId) || startedAt < oldest;
  const known = state.history.filter((call) => !active.has(call.callId) && isThere(call));
  const meets = known.some((call) => recent.has(call.callId));
  return {
    active,
    history: meets ? mergeHistory(known, snapshot.recent) : snapshot.recent,
    // What was learnt of a call while nobody listened is in the summary alone: its record is fetched anew.
    ended: new Map(
      [...state.ended].filter(([id, record]) => {
        const other = recent.get(id);
        return !active.has(id) && (other === undefined || !isNewer(other, record));
      }),
    ),
    forgotten: state.forgotten,
    aggregates: snapshot.aggregates,
    aggregatesSpan: {},
    controls: snapshot.controls,
    isSignedIn: snapshot.isSignedIn,
    canListen: snapshot.canListen,
    entry: snapshot.entry,
  };
}

export function applyEvent(state: PageState, event: CallEvent): PageState {
  if (event.type === 'call.forgotten') return forget(state, event.callId);
  const before = state.active.get(event.callId);
  if (before === undefined) {
    const over = state.history.find((call) => call.callId === event.callId);
    if (over !== undefined) return amendEnded(state, over, event);
    if (!opensCall(event)) return state;
  }
  const after = reduceCall(before, event);
  if (after === before) return state;
  const active = new Map(state.active);
  if (after.status !== 'completed') {
    active.set(after.callId, after);
    return { ...state, active, aggregates: countIn(state, before, after) };
  }
  active.delete(after.callId);
  return {
    ...state,
    active,
    aggregates: countIn(state, before, after),
    history: mergeHistory(state.history, [toSummary(after)]),
    ended: remember(state.ended, after),
  };
}

/**
 * A late fact of an ended call: its last cost, its recording, what went wrong with its goodbye. Or the call is up again, because another process
 * took it over.
 */
function amendEnded(state: PageState, over: CallSummary, event: CallEvent): PageState {
  const whole = state.ended.get(over.callId);
  const after = reduceCall(whole ?? { ...over, turns: [], transcript: [], envelope: null }, event);
  if (after.status !== 'completed') {
    const ended = new Map(state.ended);
    ended.delete(after.callId);
    return {
      ...state,
      active: new Map(state.active).set(after.callId, after),
      aggregates: countIn(state, over, after),
      history: state.history.filter(({ callId }) => callId !== after.callId),
      ended,
    };
  }
  return {
    ...state,
    aggregates: countIn(state, over, after),
    history: mergeHistory(state.history, [toSummary(after)]),
    ended: whole === undefined ? state.ended : remember(state.ended, after),
  };
}

function forget(state: PageState, callId: string): PageState {
  const without = <T>(calls: ReadonlyMap<string, T>) => new Map([...calls].filter(([id]) => id !== callId));
  const counted = state.active.get(callId) ?? state.history.find((call) => call.callId === callId);
  return {
    ...state,
    active: without(state.active),
    history: state.history.filter((call) => call.callId !== callId),
    ended: without(state.ended),
    forgotten: new Set([...state.forgotten].slice(-FORGOTTEN_SIZE)).add(callId),
    aggregates: countOut(state, counted),
  };
}

/** Adds older calls. One that began when these did, and is not among them, was deleted, unless it ended a moment ago. */
export function applyPage(state: PageState, { calls, nextCursor }: CallsPage): PageState {
  const listed = new Set(calls.map(({ callId }) => callId));
  const newest = calls[0]?.startedAt ?? 0;
  const oldest = nextCursor === null ? 0 : (calls.at(-1)?.startedAt ?? 0);
  const known = state.history.filter(
    ({ callId, startedAt }) =>
      listed.has(callId) || state.ended.has(callId) || startedAt > newest || startedAt < oldest,
  );
  return { ...state, history: mergeHistory(known, calls) };
}

/** Figures over the calls that began in a span of time. The first ones come with the calls, in a snapshot. */
export function applyAggregates(state: PageState, aggregates: Aggregates, span: Span = {}): PageState {
  if (state.aggregates === null) return state;
  return { ...state, aggregates, aggregatesSpan: span };
}

function isCounted(
  { aggregatesSpan: { from = 0, to = Infinity } }: PageState,
  { startedAt }: Counted,
): boolean {
  return startedAt >= from && startedAt < to;
}

/** Keeps a whole record that was fetched for the detail view. */
export function applyRecord(state: PageState, record: CallRecord): PageState {
  return record.status === 'completed' ? { ...state, ended: remember(state.ended, record) } : state;
}

type Counted = Pick<CallSummary, 'status' | 'startedAt' | 'cost'>;

/** What a fact of one call changes in the aggregates, where the call is one of those that they are over: its cost, and that it is over. */
function countIn(state: PageState, before: Counted | undefined, after: Counted): Aggregates | null {
  const { aggregates } = state;
  if (aggregates === null || !isCounted(state, after)) return aggregates;
  const ends = Number(after.status === 'completed') - Number(before?.status === 'completed');
  if (ends === 0 && before?.cost === after.cost) return aggregates;
  const moved = (sum: number, part: 'stt' | 'llm' | 'tts' | 'telephony' | 'total') =>
    roundMoney(sum + (after.cost[part] ?? 0) - (before?.cost[part] ?? 0));
  const { stt, llm, tts, telephony } = aggregates.costBreakdown;
  // A server that is full lets the oldest call go; one that keeps more says so with its next figures.
  const isFull = ends > 0 && aggregates.completedCalls === HISTORY_SIZE;
  return {
    ...aggregates,
    completedCalls: aggregates.completedCalls + (isFull ? 0 : ends),
    totalCost: moved(aggregates.totalCost, 'total'),
    costBreakdown: {
      stt: moved(stt, 'stt'),
      llm: moved(llm, 'llm'),
      tts: moved(tts, 'tts'),
      telephony: moved(telephony, 'telephony'),
    },
  };
}

/** The figures without a call that was deleted. Averages follow with the next ones that the server gives. */
function countOut(state: PageState, call: Counted | undefined): Aggregates | null {
  const { aggregates } = state;
  if (aggregates === null || call === undefined || !isCounted(state, call)) return aggregates;
  const isOver = Number(call.status === 'completed');
  const less = (sum: number, part: number | null) => roundMoney(sum - (part ?? 0));
  const { stt, llm, tts, telephony } = aggregates.costBreakdown;
  const { cost } = call;
  return {
    ...aggregates,
    totalCalls: aggregates.totalCalls - 1,
    completedCalls: aggregates.completedCalls - isOver,
    activeCalls: aggregates.activeCalls - (1 - isOver),
    totalCost: less(aggregates.totalCost, cost.total),
    costBreakdown: {
      stt: less(stt, cost.stt),
      llm: less(llm, cost.llm),
      tts: less(tts, cost.tts),
      telephony: less(telephony, cost.telephony),
    },
  };
}

function remember(
  records: ReadonlyMap<string, CallRecord>,
  record: CallRecord,
): ReadonlyMap<string, CallRecord> {
  const kept = new Map(records);
  kept.delete(record.callId);
  kept.set(record.callId, record);
  const oldest = kept.keys().next();
  if (kept.size > ENDED_SIZE && !oldest.done) kept.delete(oldest.value);
  return kept;
}

/** Newest start first; of one call the newer record wins. */
function mergeHistory(known: readonly CallSummary[], news: readonly CallSummary[]): CallSummary[] {
  const byId = new Map(known.map((call) => [call.callId, call]));
  for (const call of news) {
    const other = byId.get(call.callId);
    if (other === undefined || !isNewer(other, call)) byId.set(call.callId, call);
  }
  return [...byId.values()].sort(byNewestStart).slice(0, HISTORY_SIZE);
}
