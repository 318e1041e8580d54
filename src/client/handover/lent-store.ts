// A store on disk that another process may have for a while: what happens here then goes there.
import type { CallEvent } from '../../contract/call-event.js';
import type { CallRecord } from '../../contract/call-record.js';
import type { Aggregates } from '../../contract/dashboard-api.js';
import type { CallFilter } from '../../events/call-filter.js';
import type { CallPage, CallQuery, CallStore } from '../../stores/call-store.js';
import type { FactRelay } from './fact-relay.js';

export class LentStore implements CallStore {
  /** One that is closed still shows what it had in memory. */
  #store: CallStore;
  readonly #reopen: () => Promise<CallStore>;
  #isClosed = false;
  /** Set while another process has the disk. */
  #relay: FactRelay | undefined;

  /** `reopen`: rejects while the disk cannot be had. */
  constructor(store: CallStore, reopen: () => Promise<CallStore>) {
    this.#store = store;
    this.#reopen = reopen;
  }

  get isKept(): boolean {
    return this.#relay !== undefined || this.#store.isKept;
  }

  /** Resolves when the disk is free. What is appended from now on goes to `relay`. */
  async lend(relay: FactRelay): Promise<void> {
    this.#relay = relay;
    await this.#store.close();
  }

  /** The other process is gone. Rejects while the disk cannot be had. It is closed again where this store was closed meanwhile. */
  async takeBack(): Promise<void> {
    const relay = this.#relay;
    if (relay === undefined) return;
    const store = await this.#reopen();
    // What comes meanwhile goes the same way as what has come.
    const facts = relay.close();
    this.#store = store;
    this.#relay = undefined;
    // All in this tick: what comes next is newer.
    await Promise.all(facts.map((fact) => store.append(fact)));
    if (this.#isClosed) await store.close();
  }

  /** Facts of a call that neither this process nor the other one has on disk, in order. */
  pendingOf(callId: string): CallEvent[] {
    return this.#relay?.pendingOf(callId) ?? [];
  }

  /** @throws StoreError for a deletion that is not done on disk, whoever has that. */
  async append(event: CallEvent): Promise<void> {
    const relayed = this.#relay?.append(event);
    const stored = this.#store.append(event);
    if (relayed === undefined) return stored;
    // Only its memory counts while another process has the disk.
    await stored.catch(() => {});
    await relayed;
  }

  get(callId: string): Promise<CallRecord | undefined> {
    return this.#store.get(callId);
  }

  list(query: CallQuery): Promise<CallPage> {
    return this.#store.list(query);
  }

  active(): Promise<CallRecord[]> {
    return this.#store.active();
  }

  aggregates(filter?: CallFilter): Promise<Aggregates> {
    return this.#store.aggregates(filter);
  }

  async events(callId: string): Promise<readonly CallEvent[] | undefined> {
    return this.#relay === undefined ? this.#store.events?.(callId) : undefined;
  }

  async forgotten(): Promise<readonly CallEvent[]> {
    return (await this.#store.forgotten?.()) ?? [];
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#store.close();
  }
}
