// Reads the calls back from the log: one scan, and the same reducer that made their records.
import type { CallEvent } from '../../contract/call-event.js';
import type { CallRecord } from '../../contract/call-record.js';
import { reduceCall } from '../../events/reduce.js';
import type { EventLog } from './event-log.js';
import { ALL_ROWS, damaged, decodeRow, parseKey, rowsOf } from './row.js';

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
  let current: { -readonly [Name in keyof StoredCall]: StoredCall[Name] } | undefined;
  for await (const page of log.read(ALL_ROWS)) {
    for (const [key, value] of page) {
      const { call, row } = parseKey(key);
      const isNext = current?.call !== call;
      if (row !== (isNext ? 0 : current?.rows)) throw damaged();
      if (isNext || current === undefined) {
        const first = decodeRow(value, undefined);
        current = { call, rows: 1, first, record: reduceCall(undefined, first) };
        calls.push(current);
      } else {
        current.rows += 1;
        current.record = reduceCall(current.record, decodeRow(value, current.first));
      }
    }
  }
  return calls;
}

/** The facts of one call. @throws Error when a row is missing or not as it was written. */
export async function readEvents(log: EventLog, call: number): Promise<CallEvent[]> {
  const events: CallEvent[] = [];
  for await (const page of log.read(rowsOf(call))) {
    for (const [key, value] of page) {
      if (parseKey(key).row !== events.length) throw damaged();
      events.push(decodeRow(value, events[0]));
    }
  }
  return events;
}

/** In the order in which calls ended; those that have not come last. */
export function byEnd(a: StoredCall, b: StoredCall): number {
  const end = ({ record }: StoredCall) => record.endedAt ?? Number.POSITIVE_INFINITY;
  return end(a) === end(b) ? a.call - b.call : end(a) - end(b);
}
