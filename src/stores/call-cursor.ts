// The places in the order of calls that pages begin at.
import { RequestError } from '../base/errors.js';
import type { CallPosition } from '../events/call-filter.js';

export function toCursor(record: CallPosition): string {
  return Buffer.from(`${record.startedAt}:${record.callId}`).toString('base64url');
}

/** @throws RequestError for anything that `toCursor` does not make. */
export function parseCursor(cursor: string): CallPosition {
  const match = /^(\d{1,16}):(.+)$/s.exec(Buffer.from(cursor, 'base64url').toString());
  const position = { startedAt: Number(match?.[1]), callId: match?.[2] ?? '' };
  if (match === null || toCursor(position) !== cursor) {
    throw new RequestError('REQUEST_INVALID', '"cursor" must be the nextCursor of an earlier page.');
  }
  return position;
}
