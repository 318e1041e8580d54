// The calls that a store keeps at hand: active ones, and a ring of those that ended last. Changes them by facts, and answers queries.
import { type Clock, systemClock } from '../base/clock.js';
import { ConfigError } from '../base/errors.js';
import type { CallEvent, CallEventOf } from '../contract/call-event.js';
import type { CallRecord } from '../contract/call-record.js';
import type { Aggregates } from '../contract/dashboard-api.js';
import { byNewestStart, type CallFilter, isSummaryMatch } from '../events/call-filter.js';
import { opensCall, reduceCall } from '../events/reduce.js';
import { aggregate, Tally } from '../events/summarize.js';
import type { CallPage, CallQuery } from './call-store.js';
import { NewestFirst } from './newest-first.js';
import { checkQuery, pageOf, searchCalls } from './queries.js';

/** Ended calls that are kept. Source: specification, Limits. */
export const RING_SIZE = 500;
/** Who hears so long after a call has ended that it has, in milliseconds, was away: the call has its place among those that ended before. */
const LATE_MS = 60_000;
/** Deleted calls that are remembered as such: the one that was deleted first leaves first. */
const MAX_FORGOTTEN = 10_000;

export type CallForgotten = CallEventOf<'call.forgotten'>;

/** What a fact did. */
export interface RingChange {
  /** Undefined for a call that was not known. */
  readonly before: CallRecord | undefined;
  readonly record: CallRecord;
  /** The call that left the ring for this one. */
  readonly evicted: CallRecord | undefined;
}

/**
 * Keeps the last ended calls, the one that ended first leaves first; one that is yet to be hung up stays while there is another one to
 * leave. Active calls are never dropped.
 */
export class CallRing {
  readonly #size: number;
  readonly #clock: Clock;
  readonly #active = new Map<string, CallRecord>();
  /** In the order in which calls ended. */
  readonly #ended = new Map<string, CallRecord>();
  /** Our id by the carrier's, for the calls that are held. */
  readonly #byCarrierId = new Map<string, string>();
  /** Of calls that were deleted. */
  readonly #forgotten = new Map<string, CallForgotten>();
  readonly #order = new NewestFirst();
  readonly #tally = new Tally();
  /** One search at a time: many would hold up frames together. */
  #searching: Promise<unknown> = Promise.resolve();

  /** `size`: ended calls that are kept, 1 or more. @throws ConfigError */
  constructor(size: number = RING_SIZE, clock: Clock = systemClock) {
    this.#size = size;
    this.#clock = clock;
    if (!Number.isInteger(size) || size < 1) {
      throw new ConfigError('CONFIG_INVALID', 'The size of a store must be a whole number, 1 or more.');
    }
  }

  /** Applies a fact. Undefined when it changed nothing. One that deletes its call goes to `forget`. */
  apply(event: CallEvent): RingChange | undefined {
    if (this.#forgotten.has(event.callId)) return undefined;
    const before = this.#held(event.callId);
    if (before === undefined && !opensCall(event)) return undefined;
    const record = reduceCall(before, event);
    return record === before ? undefined : { before, record, evicted: this.put(record) };
  }

  /** Takes a record that facts have made elsewhere. Returns the call that left the ring for it. */
  put(record: CallRecord): CallRecord | undefined {
    const before = this.#held(record.callId);
    if (before === undefined) this.#order.add(record);
    this.#tally.replace(before, record);
    if (before !== undefined && before.carrierCallId !== record.carrierCallId) this.#unname(before);
    if (record.carrierCallId !== null) this.#byCarrierId.set(record.carrierCallId, record.callId);
    if (record.status !== 'completed') {
      this.#active.set(record.callId, record);
      // Whoever took it over goes on with it.
      this.#ended.delete(record.callId);
      return undefined;
    }
    this.#active.delete(record.callId);
    const isNew = !this.#ended.has(record.callId);
    this.#ended.set(record.callId, record);
    if (isNew) this.#place(record);
    return this.#ended.size > this.#size ? this.#dropOldest() : undefined;
  }

  /**
   * Lets go of a call, and of every fact of it that comes later. Returns who is forgotten no longer, for want of room; undefined for nobody.
   * A call that is not here is none to be remembered.
   */
  forget(event: CallForgotten): CallForgotten | undefined {
    const record = this.#held(event.callId);
    if (record === undefined) return undefined;
    this.#active.delete(record.callId);
    this.#leave(record);
    return this.remember(event);
  }

  /** A call that was deleted before. Returns as `forget`. */
  remember(event: CallForgotten): CallForgotten | undefined {
    this.#forgotten.set(event.callId, event);
    if (this.#forgotten.size <= MAX_FORGOTTEN) return undefined;
    const [oldest] = this.#forgotten.values();
    if (oldest !== undefined) this.#forgotten.delete(oldest.callId);
    return oldest;
  }

  /** In the order in which they were deleted. */
  forgotten(): CallForgotten[] {
    return [...this.#forgotten.values()];
  }

  /** The fact that deleted the call, by our id. */
  forgottenAs(callId: string): CallForgotten | undefined {
    return this.#forgotten.get(callId);
  }

  /** By our id or the carrier's. */
  get(callId: string): CallRecord | undefined {
    return this.#held(callId) ?? this.#held(this.#byCarrierId.get(callId));
  }

  /** @throws RequestError for a cursor or limit that cannot be one. */
  async list(query: CallQuery): Promise<CallPage> {
    checkQuery(query);
    return pageOf(await this.#matches(query), query);
  }

  /** Newest start first. */
  active(): CallRecord[] {
    return [...this.#active.values()].sort(byNewestStart);
  }

  /** Over the calls that match; without a filter over all that are held. */
  async aggregates(filter: CallFilter = {}): Promise<Aggregates> {
    if (Object.keys(filter).length === 0) return this.#tally.result();
    return aggregate(await this.#matches(filter));
  }

  /** Of the calls that are held now, newest start first. */
  #matches({ words, ...rest }: CallFilter): readonly CallRecord[] | Promise<readonly CallRecord[]> {
    const matches = this.#all().filter((record) => isSummaryMatch(record, rest));
    if (words === undefined || words === '') return matches;
    const found = this.#searching.then(() => searchCalls(matches, words));
    // One that fails is the end of none behind it.
    this.#searching = found.catch(() => {});
    // It takes its time, and nothing of a call that was deleted meanwhile is told.
    return found.then((records) => records.filter(({ callId }) => this.#held(callId) !== undefined));
  }

  #held(callId: string | undefined): CallRecord | undefined {
    if (callId === undefined) return undefined;
    return this.#active.get(callId) ?? this.#ended.get(callId);
  }

  /** Newest start first. */
  #all(): CallRecord[] {
    const all: CallRecord[] = [];
    for (const callId of this.#order.callIds()) {
      const record = this.#held(callId);
      if (record !== undefined) all.push(record);
    }
    return all;
  }

  /** Behind those that ended before it. One that has just ended is the last, also where the clock was set back. */
  #place({ callId, endedAt }: CallRecord): void {
    if (endedAt === null || this.#clock.wallNow() - endedAt < LATE_MS) return;
    for (const other of [...this.#ended.values()]) {
      if (other.callId === callId || (other.endedAt ?? endedAt) <= endedAt) continue;
      this.#ended.delete(other.callId);
      this.#ended.set(other.callId, other);
    }
  }

  #dropOldest(): CallRecord | undefined {
    const oldest = this.#oldest();
    if (oldest !== undefined) this.#leave(oldest);
    return oldest;
  }

  #leave(record: CallRecord): void {
    this.#ended.delete(record.callId);
    this.#order.delete(record);
    this.#tally.replace(record, undefined);
    this.#unname(record);
  }

  #oldest(): CallRecord | undefined {
    for (const record of this.#ended.values()) if (record.hangUp !== 'pending') return record;
    const [oldest] = this.#ended.values();
    return oldest;
  }

  #unname({ callId, carrierCallId }: CallRecord): void {
    if (carrierCallId !== null && this.#byCarrierId.get(carrierCallId) === callId) {
      this.#byCarrierId.delete(carrierCallId);
    }
  }
}
