// Records as JSON text, in pieces: a list of heavy calls is never one long text, nor made in one go.
import type { CallRecord } from '../contract/call-record.js';
import { toSummary } from '../events/summarize.js';
import type { Piece } from './breather.js';

/** Records never change, so the bytes of one that is shown again and again are made once. */
const summaries = new WeakMap<CallRecord, Uint8Array>();
const actives = new WeakMap<CallRecord, Uint8Array>();

function remembered(memory: WeakMap<CallRecord, Uint8Array>, record: CallRecord, value: unknown): Uint8Array {
  const known = memory.get(record);
  if (known !== undefined) return known;
  const bytes = Buffer.from(JSON.stringify(value), 'utf8');
  memory.set(record, bytes);
  return bytes;
}

/** A record as lists show it. */
export function summaryBytes(record: CallRecord): Uint8Array {
  return remembered(summaries, record, toSummary(record));
}

/** The whole record of an active call. The next fact brings a new record, and these bytes go with the old one. */
export function activeBytes(record: CallRecord): Uint8Array {
  return remembered(actives, record, record);
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
