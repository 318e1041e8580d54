// Answers over records that are at hand: for a store that does not have a database select, order and sum.
import { RequestError } from '../base/errors.js';
import type { CallRecord } from '../contract/call-record.js';
import type { Aggregates } from '../contract/dashboard-api.js';
import { byNewestStart, type CallFilter, isMatch } from '../events/call-filter.js';
import { aggregate } from '../events/summarize.js';
import { parseCursor, toCursor } from './call-cursor.js';
import type { CallPage, CallQuery } from './call-store.js';

const MAX_LIMIT = 500;

/** The page that `list` of a store gives, of records in any order. @throws RequestError for a cursor or limit that cannot be one. */
export function listCalls(records: readonly CallRecord[], query: CallQuery): CallPage {
  return pageOf([...records].sort(byNewestStart), query);
}

/** The sums that `aggregates` of a store gives: over the records that match, without a filter over all. */
export function aggregateCalls(records: readonly CallRecord[], filter: CallFilter = {}): Aggregates {
  return aggregate(records.filter((record) => isMatch(record, filter)));
}

/** `listCalls` of records that are in order, the newest start first. @throws RequestError */
export function pageOf(ordered: readonly CallRecord[], query: CallQuery): CallPage {
  if (!Number.isInteger(query.limit) || query.limit < 1 || query.limit > MAX_LIMIT) {
    throw new RequestError('REQUEST_INVALID', `"limit" must be a whole number from 1 to ${MAX_LIMIT}.`);
  }
  const matches = ordered.filter((record) => isMatch(record, query));
  const after = query.cursor === undefined ? undefined : parseCursor(query.cursor);
  const rest = after === undefined ? matches : matches.filter((record) => byNewestStart(after, record) < 0);
  const calls = rest.slice(0, query.limit);
  const last = calls.at(-1);
  return {
    calls,
    nextCursor: last !== undefined && rest.length > calls.length ? toCursor(last) : null,
    total: matches.length,
  };
}
