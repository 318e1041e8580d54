// Records as JSON text, in pieces: a list of heavy calls is never one long text, nor made in one go.
import type { CallRecord } from '../contract/call-record.js';
import { toSummary } from '../events/summarize.js';
import type { Piece } from './breather.js';

/**
 * Records never change, so the bytes of an ended call that is listed again and again are made once. An active call has a new record with
 * every fact: what is kept for those would only be work for the garbage collector.
 */
const summaries = new WeakMap<CallRecord, Uint8Array>();

/** A record as lists show it. */
export function summaryPiece(record: CallRecord): Piece {
  if (record.status !== 'completed') return JSON.stringify(toSummary(record));
  const known = summaries.get(record);
  if (known !== undefined) return known;
  const bytes = Buffer.from(JSON.stringify(toSummary(record)), 'utf8');
  summaries.set(record, bytes);
  return bytes;
}

/** A whole record. */
export function recordPiece(record: CallRecord): Piece {
  return JSON.stringify(record);
}

/** A JSON array, element by element. */
export function* listPieces<T>(values: Iterable<T>, toPiece: (value: T) => Piece): Generator<Piece> {
  let separator = '[';
  for (const value of values) {
    yield separator;
    yield toPiece(value);
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}
