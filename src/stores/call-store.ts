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

/** Records handed out are the caller's to read, not to change. */
export interface CallStore {
  /** True while what is appended outlives the process. */
  readonly isKept: boolean;
  /** Applies a fact. Facts of one call come in order; one that is known already changes nothing. */
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
   * transcripts are not kept, so `seq` rises with gaps.
   */
  events?(callId: string): Promise<readonly CallEvent[] | undefined>;
  /** Idempotent. */
  close(): Promise<void>;
}
