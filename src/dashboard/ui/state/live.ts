// The calls that are up: which of them are looked for, and in which order. Pure: no browser, no clock.
import type { CallPhase, CallRecord } from '../../../contract/call-record.js';
import { isMatch } from '../../../events/call-filter.js';

/** `longest`: the order in which calls began. `waiting`: who waits longest first. `trouble`: who had trouble last first. */
export const LIVE_ORDERS = ['longest', 'waiting', 'trouble'] as const;
export type LiveOrder = (typeof LIVE_ORDERS)[number];

/** What is looked for among the live calls. */
export interface LiveView {
  /** Part of a number, an id or the name of an agent. */
  q: string;
  order: LiveOrder;
}

/** Whether a caller waits for somebody to speak. `elsewhere`: they do, and mostly hear something, such as that it rings. */
const WAITS: Readonly<Record<CallPhase, 'here' | 'elsewhere' | false>> = {
  listening: false,
  hearing: false,
  thinking: 'here',
  speaking: false,
  held: 'elsewhere',
  ending: false,
};

/** Since when nobody has spoken to the caller who should, epoch milliseconds; null for one who does not wait. */
export function waitingSince({ phase, status, direction, startedAt }: CallRecord): number | null {
  if (phase !== null) return WAITS[phase.name] ? phase.since : null;
  return status === 'ringing' && direction === 'inbound' ? startedAt : null;
}

/** A caller who has heard nobody for so long waits too long. */
export const LONG_WAIT_MS = 10_000;

/** The calls whose callers wait too long, each with the beginning of its wait. Whoever is being transferred hears that it rings. */
export function longWaits(
  calls: Iterable<CallRecord>,
  nowOf: (callId: string) => number,
): { call: CallRecord; since: number }[] {
  return [...calls].flatMap((call) => {
    const isElsewhere = call.phase !== null && WAITS[call.phase.name] === 'elsewhere';
    const since = isElsewhere ? null : waitingSince(call);
    return since !== null && nowOf(call.callId) - since >= LONG_WAIT_MS ? [{ call, since }] : [];
  });
}

/** When something last went wrong, epoch milliseconds; null for nothing. */
function troubledAt({ incidents }: CallRecord): number | null {
  return incidents.at(-1)?.at ?? null;
}

/** The first first; of those that began together a snapshot has another order. */
function byStart(a: CallRecord, b: CallRecord): number {
  return a.startedAt - b.startedAt || (a.callId < b.callId ? -1 : 1);
}

/** What comes first has the smallest value. Who has none comes last. */
const RANKS: Readonly<Record<LiveOrder, (call: CallRecord) => number | null>> = {
  longest: () => null,
  waiting: waitingSince,
  trouble: (call) => {
    const at = troubledAt(call);
    return at === null ? null : -at;
  },
};

/** As many fit beside the history, each in full. */
export const MAX_WHOLE = 4;

/** The calls that are shown, in their order. A search that was typed stays until there are few calls: then all of them are shown. */
export function shownLive(calls: ReadonlyMap<string, CallRecord>, view: LiveView): CallRecord[] {
  const wanted = calls.size > MAX_WHOLE ? view : { q: '', order: view.order };
  return selectLive(calls.values(), wanted);
}

/** The calls that are looked for, in their order: the longest first where nothing else is asked for, so that a new call moves none of the others. */
export function selectLive(calls: Iterable<CallRecord>, { q, order }: LiveView): CallRecord[] {
  const wanted = q.trim();
  const rank = RANKS[order];
  return [...calls]
    .filter((call) => wanted === '' || isMatch(call, { q: wanted }) || isAgent(call, wanted))
    .sort((a, b) => {
      const [left, right] = [rank(a), rank(b)];
      if (left === null || right === null)
        return Number(left === null) - Number(right === null) || byStart(a, b);
      return left - right || byStart(a, b);
    });
}

function isAgent({ agent }: CallRecord, wanted: string): boolean {
  return agent?.toLowerCase().includes(wanted.toLowerCase()) ?? false;
}

/** The calls in the order in which they were shown, and those that were not behind them. */
export function keepOrder(calls: readonly CallRecord[], shown: readonly string[]): CallRecord[] {
  const places = new Map(shown.map((callId, place) => [callId, place]));
  const placeOf = ({ callId }: CallRecord) => places.get(callId) ?? Number.MAX_SAFE_INTEGER;
  return calls.toSorted((a, b) => placeOf(a) - placeOf(b));
}
