// Records as JSON text, in pieces: a list of heavy calls is never one long text, nor made in one go.
import type { CallRecord } from '../contract/call-record.js';
import { toSummary } from '../events/summarize.js';

/** Records never change, so the text of one that is listed again and again is made once. */
const summaries = new WeakMap<CallRecord, string>();

/** A record as lists show it. */
export function summaryText(record: CallRecord): string {
  const known = summaries.get(record);
  if (known !== undefined) return known;
  const text = JSON.stringify(toSummary(record));
  summaries.set(record, text);
  return text;
}

/** A JSON array, one piece per element. */
export function* listPieces<T>(values: Iterable<T>, toText: (value: T) => string): Generator<string> {
  yield '[';
  let separator = '';
  for (const value of values) {
    yield separator + toText(value);
    separator = ',';
  }
  yield ']';
}
