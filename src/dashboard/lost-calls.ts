// Calls whose process is silent, as readers see them: over, `process-lost`. That is a supposition, so the store does not hear of it
// until it is a day old: a process that comes back finds its calls as it left them.
import type { CallEvent, CallEventOf } from '../contract/call-event.js';
import type { CallRecord } from '../contract/call-record.js';
import type { Aggregates } from '../contract/dashboard-api.js';
import { type CallFilter, isSummaryMatch } from '../events/call-filter.js';
import { originOf, reduceCall, termOf } from '../events/reduce.js';
import { aggregate } from '../events/summarize.js';
import type { CallPage, CallQuery, CallStore } from '../stores/call-store.js';
import type { Senders } from './ingest-senders.js';

const PAGE_SIZE = 500;

/** The end that is supposed of a call whose process is silent; undefined while it is alive, and for a call that is over. */
export function supposedEnd(record: CallRecord, senders: Senders): CallEventOf<'call.ended'> | undefined {
  const silence = record.status === 'completed' ? null : senders.silence(record.nodeId);
  if (silence === null) return undefined;
  const { callId, nodeId, seq, answeredAt, startedAt, media } = record;
  return {
    callId,
    nodeId,
    term: termOf(record),
    originId: originOf(record),
    seq: seq + 1,
    at: Math.max(silence.since, answeredAt ?? startedAt),
    type: 'call.ended',
    endReason: 'process-lost',
    outcome: answeredAt === null ? 'failed' : 'answered',
    error: null,
    media,
  };
}

/** A store for readers, on top of the one that the facts go to. */
export class SupposingStore implements CallStore {
  readonly #facts: CallStore;
  readonly #senders: Senders;

  constructor(facts: CallStore, senders: Senders) {
    this.#facts = facts;
    this.#senders = senders;
  }

  get isKept(): boolean {
    return this.#facts.isKept;
  }

  append(...args: Parameters<CallStore['append']>): Promise<void> {
    return this.#facts.append(...args);
  }

  async get(callId: string): Promise<CallRecord | undefined> {
    const record = await this.#facts.get(callId);
    return record === undefined ? undefined : this.#show(record);
  }

  async list(query: CallQuery): Promise<CallPage> {
    const asksForShown = [query.status, query.outcome, query.endReason].some((each) => each !== undefined);
    if (asksForShown && (await this.#hasLost())) return this.#listByShown(query);
    const page = await this.#facts.list(query);
    return { ...page, calls: page.calls.map((record) => this.#show(record)) };
  }

  async active(): Promise<CallRecord[]> {
    return (await this.#facts.active()).filter((record) => !this.#isLost(record));
  }

  async aggregates(filter: CallFilter = {}): Promise<Aggregates> {
    if (!(await this.#hasLost())) return this.#facts.aggregates(filter);
    return aggregate(await this.#allShown(filter));
  }

  async forgotten(): Promise<readonly CallEvent[]> {
    return (await this.#facts.forgotten?.()) ?? [];
  }

  close(): Promise<void> {
    return this.#facts.close();
  }

  #show(record: CallRecord): CallRecord {
    const end = supposedEnd(record, this.#senders);
    return end === undefined ? record : reduceCall(record, end);
  }

  #isLost(record: CallRecord): boolean {
    return supposedEnd(record, this.#senders) !== undefined;
  }

  async #hasLost(): Promise<boolean> {
    return (await this.#facts.active()).some((record) => this.#isLost(record));
  }

  /** Status, outcome and reason that are shown are not those that the store could select by. */
  async #listByShown({ limit, cursor: start, ...filter }: CallQuery): Promise<CallPage> {
    const calls: CallRecord[] = [];
    let cursor: string | null | undefined = start;
    while (cursor !== null && calls.length < limit) {
      const page = await this.#page(filter, { limit: limit - calls.length, cursor });
      calls.push(...page.calls);
      cursor = page.nextCursor;
    }
    const total = (await this.#allShown(filter)).length;
    return { calls, nextCursor: cursor ?? null, total };
  }

  async #allShown(filter: CallFilter): Promise<CallRecord[]> {
    const records: CallRecord[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page: CallPage = await this.#page(filter, { limit: PAGE_SIZE, cursor });
      records.push(...page.calls);
      cursor = page.nextCursor;
    }
    return records;
  }

  /** What of a page of the store is shown as the filter asks. */
  async #page(
    filter: CallFilter,
    { limit, cursor }: { limit: number; cursor: string | undefined },
  ): Promise<CallPage> {
    const { status, outcome, endReason, ...stored } = filter;
    const ends = { ...(status && { status }), ...(outcome && { outcome }), ...(endReason && { endReason }) };
    const query: CallQuery = { ...stored, limit, ...(cursor === undefined ? {} : { cursor }) };
    const page = await this.#facts.list(query);
    const shown = page.calls
      .map((record) => this.#show(record))
      .filter((record) => isSummaryMatch(record, ends));
    return { ...page, calls: shown };
  }
}
