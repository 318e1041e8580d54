// The order of calls in lists, and the places in it that pages begin at.
import { RequestError } from '../base/errors.js';
import type { CallRecord } from '../contract/call-record.js';

/** A place in the order of all calls. */
export type Position = Pick<CallRecord, 'startedAt' | 'callId'>;

/** Total order, so that a cursor means the same place whatever is added before or after it. */
export function byNewestStart(a: Position, b: Position): number {
  if (a.startedAt !== b.startedAt) return b.startedAt - a.startedAt;
  if (a.callId === b.callId) return 0;
  return a.callId < b.callId ? 1 : -1;
}

export function toCursor(record: Position): string {
  return Buffer.from(`${record.startedAt}:${record.callId}`).toString('base64url');
}

/** @throws RequestError for anything that `toCursor` does not make. */
export function parseCursor(cursor: string): Position {
  const match = /^(\d{1,16}):(.+)$/s.exec(Buffer.from(cursor, 'base64url').toString());
  const position = { startedAt: Number(match?.[1]), callId: match?.[2] ?? '' };
  if (match === null || toCursor(position) !== cursor) {
    throw new RequestError('REQUEST_INVALID', '"cursor" must be the nextCursor of a page before.');
  }
  return position;
}
