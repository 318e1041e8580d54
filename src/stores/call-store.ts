// Contract of a store of calls. Asynchronous even in memory, so that a remote store fits.
import type { CallEvent } from '../contract/call-event.js';
import type { CallRecord } from '../contract/call-record.js';
import type { Aggregates } from '../contract/dashboard-api.js';
import type { CallFilter } from '../events/call-filter.js';

/** Which calls, and how many. */
export interface CallQuery extends CallFilter {
  /** 1-500. */
  limit: number;
  /** `nextCursor` of the page before. @throws RequestError when it is not one. */
  cursor?: string;
}

export interface CallPage {
  calls: CallRecord[];
  nextCursor: string | null;
  total: number;
}

/** Calls to be read: what a store gives without being written to. */
export type CallReader = Pick<CallStore, 'get' | 'list' | 'active' | 'aggregates'>;

/**
 * Where the records of calls are kept: `serve({ store })` takes any. Records handed out are the caller's to read, not to change.
 * `testStore` of `offhook/testing` checks one. How many ended calls it keeps is its own affair. A server asks for one fact of a call at a time, repeats one for which `append` threw, and
 * waits up to five seconds for an answer to anything else.
 */
export interface CallStore {
  /** True while what is appended outlives the process. */
  readonly isKept: boolean;
  /**
   * Applies a fact, by `reduceCall` of `offhook/stores`. Facts of one call come in order, one at a time; those of several calls may come
   * together. One that is known already (its `term` and `seq` are not above the record's) changes nothing. Resolves when the fact is kept.
   *
   * `call.forgotten` deletes a call: nothing here gives it out from then on, later facts of it change nothing, and when the promise
   * resolves, no byte of it is left but the fact itself.
   */
  append(event: CallEvent): Promise<void>;
  /** By our id or the carrier's. */
  get(callId: string): Promise<CallRecord | undefined>;
  /** Active and ended calls, newest start first. */
  list(query: CallQuery): Promise<CallPage>;
  active(): Promise<CallRecord[]>;
  /** Over the calls that match; without a filter over all that are held. */
  aggregates(filter?: CallFilter): Promise<Aggregates>;
  /**
   * The facts that made the record, in order, where a store keeps the log: what a forwarder plays again to whoever missed them. By our
   * id or the carrier's; undefined for a call that is not here, or whose log cannot be read now. Most partial
   * transcripts are not kept, so `seq` rises with gaps; where another process took the call over, it may begin lower, in a higher `term`.
   */
  events?(callId: string): Promise<readonly CallEvent[] | undefined>;
  /**
   * The `call.forgotten` of calls that were deleted, the last ones: for dashboards that were away. Their `events` are this one fact. Absent
   * where a store keeps none: a deleted call then stays on dashboards that did not hear of it.
   */
  forgotten?(): Promise<readonly CallEvent[]>;
  /** Idempotent. */
  close(): Promise<void>;
}
