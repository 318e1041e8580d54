// What the application reads of its calls in the process that has them.
import { ConfigError } from '../base/errors.js';
import type { CallEvents } from '../contract/call-event.js';
import type { CallRecord } from '../contract/call-record.js';
import type { Aggregates } from '../contract/dashboard-api.js';
import type { CallFilter } from '../events/call-filter.js';
import type { CallPage, CallQuery, CallReader } from '../stores/call-store.js';

/** The records that a server keeps: what the API shows, without HTTP. Every method may throw StoreError. */
export interface CallHistory extends CallReader {
  /** A call by our id or the carrier's; undefined for one that is not here. */
  get(callId: string): Promise<CallRecord | undefined>;
  /** Active and ended calls, newest start first, with transcripts. `limit` is 1-500. @default 50 @throws RequestError for a limit or cursor that is none */
  list(query?: Partial<CallQuery>): Promise<CallPage>;
  /** The calls that are up, newest start first. */
  active(): Promise<CallRecord[]>;
  /** Counters over the calls that match; over all without a filter. */
  aggregates(filter?: CallFilter): Promise<Aggregates>;
}

const DEFAULT_LIMIT = 50;

export function openHistory(store: CallReader): CallHistory {
  return {
    get: (callId) => store.get(callId),
    list: (query) => store.list({ limit: DEFAULT_LIMIT, ...query }),
    active: () => store.active(),
    aggregates: (filter) => store.aggregates(filter),
  };
}

/** Only the hearing of a bus: facts are told by calls alone. */
export function toCallEvents(bus: CallEvents): CallEvents {
  return {
    subscribe(listener) {
      if (typeof listener === 'function') return bus.subscribe((event) => listener(event));
      throw new ConfigError('CONFIG_INVALID', 'subscribe() takes a function that is given each fact.');
    },
  };
}
