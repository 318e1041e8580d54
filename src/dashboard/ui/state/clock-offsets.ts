// What the browser's clock is ahead of the dates of calls. A call keeps the clock that it began with, whatever its server's is set to.
import type { CallEvent } from '../../../contract/call-event.js';

export interface ClockOffsets {
  /** Of the server, as far as known, in milliseconds. */
  readonly serverMs: number | null;
  /** Of each call that is up, as far as facts were heard of it. */
  readonly byCall: ReadonlyMap<string, number>;
}

export const NO_OFFSETS: ClockOffsets = { serverMs: null, byCall: new Map() };

/** The fact that took the shortest way tells the most. `up`: the calls that are up after it. Some facts come when a call is over. */
export function hearOffset(
  offsets: ClockOffsets,
  { callId, at }: CallEvent,
  { now, up }: { now: number; up: { has(callId: string): boolean } },
): ClockOffsets {
  const ahead = now - at;
  const byCall = new Map([...offsets.byCall].filter(([id]) => up.has(id)));
  if (up.has(callId)) byCall.set(callId, Math.min(byCall.get(callId) ?? ahead, ahead));
  return { serverMs: Math.min(offsets.serverMs ?? ahead, ahead), byCall };
}

export function offsetOf({ serverMs, byCall }: ClockOffsets, callId: string | undefined): number {
  return (callId === undefined ? undefined : byCall.get(callId)) ?? serverMs ?? 0;
}
