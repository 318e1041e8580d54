// Answers over records that are at hand: for a store that does not have a database select, order and sum.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RequestError } from '../base/errors.js';
import type { CallRecord } from '../contract/call-record.js';
import type { Aggregates } from '../contract/dashboard-api.js';
import {
  byNewestStart,
  type CallFilter,
  numbersIn,
  isMatch,
  spokenTexts,
  wantedNumber,
} from '../events/call-filter.js';
import { aggregate } from '../events/summarize.js';
import { parseCursor, toCursor } from './call-cursor.js';
import type { CallPage, CallQuery } from './call-store.js';

const MAX_LIMIT = 500;

/**
 * The page that `list` of a store gives, of records in any order. A search for words reads all that was said in them, before anything else
 * happens in this process. @throws RequestError for a cursor or limit that cannot be one.
 */
export function listCalls(records: readonly CallRecord[], query: CallQuery): CallPage {
  checkQuery(query);
  return pageOf(records.filter((record) => isMatch(record, query)).sort(byNewestStart), query);
}

/** The sums that `aggregates` of a store gives: over the records that match, without a filter over all. */
export function aggregateCalls(records: readonly CallRecord[], filter: CallFilter = {}): Aggregates {
  return aggregate(records.filter((record) => isMatch(record, filter)));
}

/** @throws RequestError for a cursor or limit that cannot be one. */
export function checkQuery({ limit, cursor }: Pick<CallQuery, 'limit' | 'cursor'>): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new RequestError('REQUEST_INVALID', `"limit" must be a whole number from 1 to ${MAX_LIMIT}.`);
  }
  if (cursor !== undefined) parseCursor(cursor);
}

/** The page of records that match and are in order, the newest start first. @throws RequestError */
export function pageOf(matches: readonly CallRecord[], query: CallQuery): CallPage {
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

/** As much as a search reads before frames and requests have their turn, in characters: a fraction of a millisecond. */
const SLICE_CHARS = 64 * 1024;

/** The records in which the words were said, in their order. It holds up nothing: what is searched may be long. */
export async function searchCalls(records: readonly CallRecord[], words: string): Promise<CallRecord[]> {
  const wanted = words.toLowerCase();
  const number = wantedNumber(words);
  const found: CallRecord[] = [];
  let read = 0;
  for (const record of records) {
    for (const text of spokenTexts(record)) {
      read += text.length + 1;
      const isIn =
        text.toLowerCase().includes(wanted) || (number !== null && numbersIn(text).includes(number));
      if (isIn) found.push(record);
      if (read >= SLICE_CHARS) {
        read = 0;
        await nextTurn();
      }
      if (isIn) break;
    }
  }
  return found;
}
