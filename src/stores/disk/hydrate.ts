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

/** A call of which not everything can be read. */
export interface DamagedCall {
  readonly call: number;
  /** How many rows it had, as far as that is known. */
  readonly rows: number;
}

export interface HydratedCalls {
  /** In the order in which they began. */
  readonly calls: readonly StoredCall[];
  readonly damaged: readonly DamagedCall[];
}

/** A call is as it was written, or it is damaged: one that is over has all of its rows. @throws Error for an invalid key. */
export async function readCalls(log: EventLog): Promise<HydratedCalls> {
  const calls: StoredCall[] = [];
  const damaged: DamagedCall[] = [];
  /** Those of which no row has come. */
  const missing = new Map(log.ended);
  let rows: string[] = [];
  let current = 0;
  /** One more than the number of the last row. */
  let end = 0;
  const finish = () => {
    if (end === 0) return;
    const expected = missing.get(current) ?? 0;
    missing.delete(current);
    const call = rows.length === end && end >= expected ? toCall(current, rows) : undefined;
    if (call === undefined) damaged.push({ call: current, rows: Math.max(end, expected) });
    else calls.push(call);
    [rows, end] = [[], 0];
  };
  for await (const page of log.read(ALL_ROWS)) {
    for (const [key, value] of page) {
      const { call, row } = parseKey(key);
      if (call !== current) finish();
      current = call;
      end = row + 1;
      rows.push(value);
    }
  }
  finish();
  for (const [call, count] of missing) damaged.push({ call, rows: count });
  return { calls, damaged };
}

/** Undefined when a row is not as it was written. */
function toCall(call: number, rows: readonly string[]): StoredCall | undefined {
  try {
    const events = decodeRows(rows);
    const [first] = events;
    const record = replayCall(events);
    return first && record && { call, rows: events.length, first, record };
  } catch {
    return undefined;
  }
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
