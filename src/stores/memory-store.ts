// Store in memory: a ring of ended calls, and the active ones beside it. What it forgets is gone.
import type { CallEvent } from '../contract/call-event.js';
import type { CallRecord } from '../contract/call-record.js';
import type { Aggregates } from '../contract/dashboard-api.js';
import type { CallFilter } from '../events/call-filter.js';
import { CallRing } from './call-ring.js';
import type { CallPage, CallQuery, CallStore } from './call-store.js';

export class MemoryStore implements CallStore {
  readonly isKept = false;
  readonly #ring: CallRing;

  /** `size`: ended calls that are kept. @default 500 */
  constructor(options: { size?: number } = {}) {
    this.#ring = new CallRing(options.size);
  }

  async append(event: CallEvent): Promise<void> {
    if (event.type === 'call.forgotten') this.#ring.forget(event);
    else this.#ring.apply(event);
  }

  async get(callId: string): Promise<CallRecord | undefined> {
    return this.#ring.get(callId);
  }

  async list(query: CallQuery): Promise<CallPage> {
    return this.#ring.list(query);
  }

  async active(): Promise<CallRecord[]> {
    return this.#ring.active();
  }

  async aggregates(filter?: CallFilter): Promise<Aggregates> {
    return this.#ring.aggregates(filter);
  }

  async forgotten(): Promise<readonly CallEvent[]> {
    return this.#ring.forgotten();
  }

  async close(): Promise<void> {}
}
