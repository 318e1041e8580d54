// The calls before and behind the open one, in the list that shows it. Pure: no browser, no clock.
import type { CallRecord } from '../../../contract/call-record.js';
import type { CallSummary } from '../../../contract/dashboard-api.js';
import { type LiveView, shownLive } from './live.js';

/** Ids; null where the list ends. */
export interface Neighbors {
  previous: string | null;
  next: string | null;
}

export interface Lists {
  active: ReadonlyMap<string, CallRecord>;
  live: LiveView;
  /** Ended calls, as they are shown. */
  shown: readonly CallSummary[];
}

/** A call that no list shows has none. */
export function neighborsOf(callId: string, { active, live, shown }: Lists): Neighbors {
  const list = active.has(callId) ? shownLive(active, live) : shown;
  const place = list.findIndex((call) => call.callId === callId);
  if (place < 0) return { previous: null, next: null };
  return { previous: list[place - 1]?.callId ?? null, next: list[place + 1]?.callId ?? null };
}
