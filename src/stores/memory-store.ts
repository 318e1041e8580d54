// Store in memory: a ring of ended calls, and the active ones beside it. What it forgets is gone.
import { ConfigError, RequestError } from '../base/errors.js';
import type { CallEvent } from '../contract/call-event.js';
import type { CallRecord } from '../contract/call-record.js';
import type { Aggregates } from '../contract/dashboard-api.js';
import { type CallFilter, isMatch } from '../events/call-filter.js';
import { reduceCall } from '../events/reduce.js';
import { aggregate, Tally } from '../events/summarize.js';
import type { CallPage, CallQuery, CallStore } from './call-store.js';

/** Ended calls that are kept. Source: specification, Limits. */
const RING_SIZE = 500;
const MAX_LIMIT = 500;

/** Keeps the last ended calls, the one that ended first leaves first. Active calls are never dropped. */
export class MemoryStore implements CallStore {
  readonly #size: number;
  readonly #active = new Map<string, CallRecord>();
  /** In the order in which calls ended. */
  readonly #ended = new Map<string, CallRecord>();
  /** Our id by the carrier's, for the calls that are held. */
  readonly #byCarrierId = new Map<string, string>();
  readonly #tally = new Tally();

  /** `size`: ended calls that are kept. @default 500 */
  constructor(options: { size?: number } = {}) {
    this.#size = options.size ?? RING_SIZE;
    if (!Number.isInteger(this.#size) || this.#size < 1) {
      throw new ConfigError('CONFIG_INVALID', 'The size of a memory store is a whole number, 1 or more.');
    }
  }

  async append(event: CallEvent): Promise<void> {
    const before = this.#find(event.callId);
    if (before === undefined && !opensRecord(event)) return;
    const record = reduceCall(before, event);
    if (record === before) return;
    this.#tally.replace(before, record);
    if (record.status !== 'completed') this.#active.set(record.callId, record);
    else this.#keep(record);
    if (record.carrierCallId !== null) this.#byCarrierId.set(record.carrierCallId, record.callId);
  }

  async get(callId: string): Promise<CallRecord | undefined> {
    return this.#find(callId) ?? this.#find(this.#byCarrierId.get(callId));
  }

  async list(query: CallQuery): Promise<CallPage> {
    if (!Number.isInteger(query.limit) || query.limit < 1 || query.limit > MAX_LIMIT) {
      throw new RequestError('REQUEST_INVALID', `"limit" must be a whole number from 1 to ${MAX_LIMIT}.`);
    }
    const matches = this.#all()
      .filter((record) => isMatch(record, query))
      .sort(byNewestStart);
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

  async active(): Promise<CallRecord[]> {
    return [...this.#active.values()].sort(byNewestStart);
  }

  async aggregates(filter?: CallFilter): Promise<Aggregates> {
    if (filter === undefined || Object.keys(filter).length === 0) return this.#tally.result();
    return aggregate(this.#all().filter((record) => isMatch(record, filter)));
  }

  async close(): Promise<void> {}

  #find(callId: string | undefined): CallRecord | undefined {
    if (callId === undefined) return undefined;
    return this.#active.get(callId) ?? this.#ended.get(callId);
  }

  #all(): CallRecord[] {
    return [...this.#active.values(), ...this.#ended.values()];
  }

  #keep(record: CallRecord): void {
    this.#active.delete(record.callId);
    this.#ended.set(record.callId, record);
    if (this.#ended.size <= this.#size) return;
    const [oldest] = this.#ended.values();
    if (oldest === undefined) return;
    this.#ended.delete(oldest.callId);
    this.#tally.replace(oldest, undefined);
    const { carrierCallId } = oldest;
    if (carrierCallId !== null && this.#byCarrierId.get(carrierCallId) === oldest.callId) {
      this.#byCarrierId.delete(carrierCallId);
    }
  }
}

/** Only facts that say who talks to whom open a record: a late fact of a call that left the ring does not bring it back. */
function opensRecord(event: CallEvent): boolean {
  return event.type === 'call.status' || event.type === 'call.started';
}

/** A place in the order of all calls. */
type Position = Pick<CallRecord, 'startedAt' | 'callId'>;

/** Total order, so that a cursor means the same place whatever is added before or after it. */
function byNewestStart(a: Position, b: Position): number {
  if (a.startedAt !== b.startedAt) return b.startedAt - a.startedAt;
  if (a.callId === b.callId) return 0;
  return a.callId < b.callId ? 1 : -1;
}

function toCursor(record: Position): string {
  return Buffer.from(`${record.startedAt}:${record.callId}`).toString('base64url');
}

/** @throws RequestError for anything that `toCursor` does not make. */
function parseCursor(cursor: string): Position {
  const match = /^(\d{1,16}):(.+)$/s.exec(Buffer.from(cursor, 'base64url').toString());
  const position = { startedAt: Number(match?.[1]), callId: match?.[2] ?? '' };
  if (match === null || toCursor(position) !== cursor) {
    throw new RequestError('REQUEST_INVALID', '"cursor" must be the nextCursor of a page before.');
  }
  return position;
}
