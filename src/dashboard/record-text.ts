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
export function* summaryPieces(record: CallRecord): Generator<Piece> {
  if (record.status !== 'completed') {
    yield JSON.stringify(toSummary(record));
    return;
  }
  const known = summaries.get(record) ?? Buffer.from(JSON.stringify(toSummary(record)), 'utf8');
  summaries.set(record, known);
  yield known;
}

/** Turns or entries of the transcript that are made into text at a time. */
const GROUP = 50;

/** A whole record. A call may have thousands of turns. */
export function* recordPieces({ turns, transcript, ...rest }: CallRecord): Generator<string> {
  yield `${JSON.stringify(rest).slice(0, -1)},"turns":`;
  yield* groupPieces(turns);
  yield ',"transcript":';
  yield* groupPieces(transcript);
  yield '}';
}

function* groupPieces(values: readonly object[]): Generator<string> {
  let separator = '[';
  for (let start = 0; start < values.length; start += GROUP) {
    yield separator + JSON.stringify(values.slice(start, start + GROUP)).slice(1, -1);
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

/** A JSON array, element by element. */
export function* listPieces<T>(
  values: Iterable<T>,
  toPieces: (value: T) => Generator<Piece>,
): Generator<Piece> {
  let separator = '[';
  for (const value of values) {
    yield separator;
    yield* toPieces(value);
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}
