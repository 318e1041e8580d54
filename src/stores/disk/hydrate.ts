// Reads the calls back from the log: one scan, and the same reducer that made their records.
import type { CallEvent } from '../../contract/call-event.js';
import type { CallRecord } from '../../contract/call-record.js';
import { replayCall } from '../../events/reduce.js';
import type { EventLog } from './event-log.js';
import { ALL_ROWS, damaged, decodeRows, parseKey, rowsOf } from './row.js';

/** A call in the log. */
export interface StoredCall {
  /** Its number. */
  readonly call: number;
  /** How many rows it has. */
  readonly rows: number;
  readonly first: CallEvent;
  readonly record: CallRecord;
}

/** All calls, in the order in which they began. @throws Error when a row is missing or not as it was written. */
export async function readCalls(log: EventLog): Promise<StoredCall[]> {
  const calls: StoredCall[] = [];
  let rows: string[] = [];
  let current = 0;
  const finish = () => {
    if (rows.length > 0) calls.push(toCall(current, decodeRows(rows)));
    rows = [];
  };
  for await (const page of log.read(ALL_ROWS)) {
    for (const [key, value] of page) {
      const { call, row } = parseKey(key);
      if (call !== current) finish();
      if (row !== rows.length) throw damaged();
      current = call;
      rows.push(value);
    }
  }
  finish();
  return calls;
}

function toCall(call: number, events: readonly CallEvent[]): StoredCall {
  const [first] = events;
  const record = replayCall(events);
  if (first === undefined || record === undefined) throw damaged();
  return { call, rows: events.length, first, record };
}

/** The facts of one call. @throws Error when a row is missing or not as it was written. */
export async function readEvents(log: EventLog, call: number): Promise<CallEvent[]> {
  const rows: string[] = [];
  for await (const page of log.read(rowsOf(call))) {
    for (const [key, value] of page) {
      if (parseKey(key).row !== rows.length) throw damaged();
      rows.push(value);
    }
  }
  return decodeRows(rows);
}

/** In the order in which calls ended; those that have not come last. */
export function byEnd(a: StoredCall, b: StoredCall): number {
  const end = ({ record }: StoredCall) => record.endedAt ?? Number.POSITIVE_INFINITY;
  return end(a) === end(b) ? a.call - b.call : end(a) - end(b);
}
