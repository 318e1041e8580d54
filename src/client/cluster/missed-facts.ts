// What this node has missed: facts that had left the log of the broker before it heard them are asked of the nodes themselves.
import type { Clock } from '../../base/clock.js';
import { describeError, type Logger } from '../../base/log.js';
import { pause } from '../../base/pause.js';
import { type Coordinator, LEASE_MS } from '../../cluster/coordinator.js';
import type { CallEvent, FactPlace } from '../../contract/call-event.js';
import type { CallRecord } from '../../contract/call-record.js';
import { isNewer, termOf } from '../../events/reduce.js';
import type { CallStore } from '../../stores/call-store.js';
import { PROBE_MS } from './call-finder.js';
import type { ClusterFacts } from './cluster-facts.js';
import {
  askNode,
  isAnswering,
  reachableNodes,
  type CallPlace,
  type EndedCall,
  type KnownCall,
  type NodeRequest,
  type NodeRequests,
  type RequestType,
} from './requests.js';

/** No caller waits for it, in milliseconds. */
const ASK_MS = 2000;
/** A node that does not answer, and may have a call, is asked again until its lease is over. */
const AGAIN_MS = 1000;
/** Calls in one message: the facts of a long one are some hundred kilobytes. Of most that are known, nothing is new. */
const AT_ONCE = 20;
const WHOLE_AT_ONCE = 5;
/** Nodes that are asked for what is missing in one call, and that have told which calls ended last. */
const MAX_ASKED = 3;
/** Calls whose gaps are filled at the same time. */
const LANES = 8;
/** Calls that ended last of which news is asked for. */
const MAX_CALLS = 500;

export interface MissedFactsParts {
  readonly nodeId: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly coordinator: Coordinator;
  readonly facts: Pick<ClusterFacts, 'newsOf' | 'take'>;
  store(): CallStore;
  /** How this node has these calls, those that it has. */
  placesOf(callIds: readonly string[]): Promise<readonly CallPlace[]>;
  /** Calls that other nodes know to be over. @default nobody minds */
  recall?(ended: readonly EndedCall[]): void;
  /** Of calls that no node has any more. Never rejects. */
  takeOver(
    records: readonly CallRecord[],
    about: { isAlive(nodeId: string): Promise<boolean> },
  ): Promise<void>;
}

/** A call as this node shows it. */
interface Shown {
  readonly nodeId: string;
  place: KnownCall;
}

export class MissedFacts {
  readonly #parts: MissedFactsParts;
  readonly #lanes: Promise<unknown>[] = Array.from({ length: LANES }, () => Promise.resolve());
  #gaps = 0;
  #catchingUp: Promise<void> | undefined;
  /** Something may have been missed since it was asked. */
  #isDue = false;
  #isClosed = false;
  #hasAsked = false;

  constructor(parts: MissedFactsParts) {
    this.#parts = parts;
  }

  /** False while other nodes are asked: what is known of their calls may be old. */
  get isCurrent(): boolean {
    return this.#catchingUp === undefined;
  }

  /** True once the other nodes were asked which calls have ended. */
  get hasAsked(): boolean {
    return this.#hasAsked;
  }

  /** The last calls that are over, as this node knows them. */
  readonly ended = async (): Promise<NodeRequests['ended']['answer']> => {
    const { calls } = await this.#parts.store().list({ limit: MAX_CALLS, status: 'completed' });
    return {
      calls: calls.map(({ callId, nodeId, term, seq, startedAt, endedAt, cost: { total } }) => ({
        ...{ callId, nodeId, term: termOf({ term }), seq },
        ...{ startedAt, endedAt, cost: { total } },
      })),
    };
  };

  /** What this node has of calls, behind what another one knows. */
  readonly answer = async ({
    known,
  }: NodeRequests['news']['ask']): Promise<NodeRequests['news']['answer']> => {
    const { store } = this.#parts;
    const forgotten = new Map(((await store().forgotten?.()) ?? []).map((fact) => [fact.callId, fact]));
    const news: CallEvent[] = [];
    for (const call of known) {
      const deleted = forgotten.get(call.callId);
      const all = deleted === undefined ? await this.#factsBehind(call) : [deleted];
      news.push(...all.filter((fact) => isNewer(fact, call)));
    }
    return { facts: news };
  };

  /** Something has become of calls of another node that the broker does not tell. Never rejects. */
  readonly changed = async (
    { calls }: NodeRequests['changed']['ask'],
    { from }: { readonly from: string },
  ): Promise<NodeRequests['changed']['answer']> => {
    void this.#askForNews(from, calls).catch((error: unknown) =>
      this.#parts.logger.error(
        describeError(error),
        'what has become of calls of another node was not heard',
      ),
    );
    return {};
  };

  async #askForNews(nodeId: string, calls: readonly KnownCall[]): Promise<void> {
    const { store, facts } = this.#parts;
    const known: KnownCall[] = [];
    for (const call of calls) {
      const record = await store().get(call.callId);
      const place = { callId: call.callId, term: record ? termOf(record) : 0, seq: record?.seq ?? 0 };
      if (isNewer(call, place)) known.push(place);
    }
    for (const batch of batchesOf(known))
      for (const fact of (await this.#news(nodeId, batch)) ?? []) facts.take(fact);
  }

  /** While the broker does not, has every other node hear what has become of these calls here: it may have to go on with one, or know that it is over. */
  show(callIds: readonly string[]): void {
    const calls = callIds.flatMap((callId) => {
      const last = this.#parts.facts.newsOf(callId)?.at(-1);
      return last === undefined ? [] : [{ callId, term: last.term, seq: last.seq }];
    });
    for (const { nodeId } of reachableNodes(this.#parts.coordinator))
      void this.#ask(nodeId, { type: 'changed', callId: null, ask: { calls } });
  }

  /** All of a call of which something is behind what is known, else nothing. */
  async #factsBehind(known: KnownCall): Promise<readonly CallEvent[]> {
    const { facts, store } = this.#parts;
    const news = facts.newsOf(known.callId);
    if (news !== undefined) return news;
    const record = await store().get(known.callId);
    if (record === undefined || !isNewer({ term: termOf(record), seq: record.seq }, known)) return [];
    return (await store().events?.(known.callId)) ?? [];
  }

  /** What was stated of a call between the last fact that was heard and this one. Never rejects. */
  between(last: FactPlace | undefined, fact: CallEvent): Promise<readonly CallEvent[]> {
    const lane = this.#gaps % LANES;
    this.#gaps += 1;
    const filling = (this.#lanes[lane] ?? Promise.resolve()).then(() => this.#between(last, fact));
    const filled = filling.catch(() => []);
    this.#lanes[lane] = filled;
    return filled;
  }

  /** Asks every node for what is new in the calls that this one shows, and for the last ones that are over. Calls that no node has any more are taken over, or their ends are stated. Never rejects. */
  catchUp(): Promise<void> {
    this.#isDue = !this.#isClosed;
    this.#catchingUp ??= this.#catchUp()
      .catch((error: unknown) => {
        if (this.#isClosed) return;
        this.#parts.logger.error(describeError(error), 'the other nodes were not asked what was missed');
      })
      .finally(() => {
        this.#hasAsked = true;
        this.#catchingUp = undefined;
      });
    return this.#catchingUp;
  }

  /**
   * A node is gone that may have told nobody which calls it had: those that other nodes had given to it, by their records, are taken over, or their ends are
   * stated. Never rejects.
   */
  async takeLost(): Promise<void> {
    await this.#takeLost(new Set()).catch((error: unknown) =>
      this.#parts.logger.error(describeError(error), 'the calls that no node has were not looked for'),
    );
  }

  /** Idempotent. What is asked by then is not heard. */
  close(): void {
    this.#isClosed = true;
  }

  async #between(
    last: FactPlace | undefined,
    { callId, nodeId, seq }: CallEvent,
  ): Promise<readonly CallEvent[]> {
    const known = last ?? (await this.#parts.store().get(callId));
    // It was heard by the process before this one.
    if (known !== undefined && seq <= known.seq + 1) return [];
    const place = { callId, term: known === undefined ? 0 : termOf(known), seq: known?.seq ?? 0 };
    const others = this.#others.filter((other) => other !== nodeId);
    const asked = this.#others.includes(nodeId) ? [nodeId, ...others] : others;
    for (const each of asked.slice(0, MAX_ASKED)) {
      const facts = (await this.#news(each, [place])) ?? [];
      if (facts.length > 0) return facts;
    }
    return [];
  }

  async #catchUp(): Promise<void> {
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      const ended = await this.#askAll();
      await this.#takeLost(ended);
    }
  }

  /** But for those that are over. */
  async #takeLost(ended: ReadonlySet<string>): Promise<void> {
    const { store, clock, takeOver } = this.#parts;
    const until = clock.now() + LEASE_MS + AGAIN_MS;
    const find = async () =>
      this.#lostOf((await store().active()).filter(({ callId }) => !ended.has(callId)));
    let found = await find();
    while (found.lost.length > 0 && !found.isSure && clock.now() < until && !this.#isClosed) {
      await pause(clock, AGAIN_MS);
      found = await find();
    }
    if (found.lost.length > 0) await takeOver(found.lost, { isAlive: async () => false });
  }

  /** Resolves to the calls that are over by now. */
  async #askAll(): Promise<ReadonlySet<string>> {
    const others = [...this.#others, ...(await this.#livingSilent())];
    const { store, facts } = this.#parts;
    const { calls } = await store().list({ limit: MAX_CALLS });
    const shown = new Map<string, Shown>();
    for (const { callId, nodeId, term, seq } of [...calls, ...(await store().active())])
      shown.set(callId, { nodeId, place: { callId, term: termOf({ term }), seq } });
    // Those that had left the log, or were lost with it, before this node was there.
    for (const { callId, nodeId } of await this.#endedElsewhere(others))
      if (!shown.has(callId)) shown.set(callId, { nodeId, place: { callId, term: 0, seq: 0 } });
    const ended = new Set<string>();
    const take = (fact: CallEvent) => {
      const { callId, term, seq } = fact;
      if (fact.type === 'call.ended' || fact.type === 'call.forgotten') ended.add(callId);
      else if (fact.type === 'call.status') ended.delete(callId);
      const call = shown.get(callId);
      if (call !== undefined) call.place = { callId, term, seq };
      facts.take(fact);
    };
    // Who has a call knows it whole, any other what it has heard.
    const deaf = new Set<string>();
    for (const isOwner of [true, false])
      for (const nodeId of others) {
        const asked = [...shown.values()].filter((call) => (call.nodeId === nodeId) === isOwner);
        for (const known of batchesOf(asked.map(({ place }) => place))) {
          if (deaf.has(nodeId)) break;
          const news = await this.#news(nodeId, known);
          for (const fact of news ?? []) take(fact);
          // Else each of its calls would be waited for.
          if (news === undefined && !(await isAnswering(this.#parts.coordinator, nodeId, PROBE_MS)))
            deaf.add(nodeId);
        }
      }
    return ended;
  }

  /** As several nodes know them, but for those that were deleted here; the call that ended first at the front. */
  async #endedElsewhere(others: readonly string[]): Promise<EndedCall[]> {
    const { store, recall } = this.#parts;
    const forgotten = new Set(((await store().forgotten?.()) ?? []).map(({ callId }) => callId));
    const calls = new Map<string, EndedCall>();
    let told = 0;
    for (const nodeId of others) {
      // One that has just come knows as little.
      if (told === MAX_ASKED) break;
      const answer = await this.#ask(nodeId, { type: 'ended', callId: null, ask: {} });
      if (answer === undefined || answer.calls.length === 0) continue;
      told += 1;
      for (const call of answer.calls) {
        const other = calls.get(call.callId);
        const isNews = other === undefined || isNewer(call, other);
        if (isNews && !forgotten.has(call.callId)) calls.set(call.callId, call);
      }
    }
    const ended = [...calls.values()].toSorted((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0));
    recall?.(ended);
    this.#hasAsked = true;
    return ended.slice(-MAX_CALLS);
  }

  /** Those that no node has, also not the one that had them last. `isSure`: every node has answered. */
  async #lostOf(active: readonly CallRecord[]): Promise<{ lost: CallRecord[]; isSure: boolean }> {
    const listed = this.#others;
    const { nodeId: own, placesOf, coordinator } = this.#parts;
    const nodes = reachableNodes(coordinator).map(({ nodeId }) => nodeId);
    const asked = active.filter(({ nodeId }) => nodeId === own || nodes.includes(nodeId));
    if (asked.length === 0) return { lost: [], isSure: true };
    const callIds = asked.map(({ callId }) => callId);
    const answered = new Set<string>();
    const had = new Set((await placesOf(callIds)).map(({ callId }) => callId));
    await Promise.all(
      nodes.map(async (nodeId) => {
        const answer = await this.#ask(nodeId, { type: 'who-has', callId: null, ask: { callIds } });
        if (answer === undefined) return;
        answered.add(nodeId);
        for (const { callId } of answer.places) had.add(callId);
      }),
    );
    const hasSaid = (nodeId: string) => nodeId === own || answered.has(nodeId);
    const lost = asked.filter(({ callId, nodeId }) => hasSaid(nodeId) && !had.has(callId));
    return { lost, isSure: listed.every((nodeId) => answered.has(nodeId)) };
  }

  get #others(): string[] {
    const { coordinator, nodeId } = this.#parts;
    return coordinator
      .nodes()
      .map((node) => node.nodeId)
      .filter((each) => each !== nodeId);
  }

  /** Nodes that are cut off from the broker, and answer. */
  async #livingSilent(): Promise<string[]> {
    const { coordinator } = this.#parts;
    const asked = coordinator
      .silent()
      .map(async ({ nodeId }) => ((await isAnswering(coordinator, nodeId, PROBE_MS)) ? [nodeId] : []));
    return (await Promise.all(asked)).flat();
  }

  async #news(nodeId: string, known: readonly KnownCall[]): Promise<readonly CallEvent[] | undefined> {
    return (await this.#ask(nodeId, { type: 'news', callId: null, ask: { known } }))?.facts;
  }

  /** Undefined where that node does not answer. */
  async #ask<T extends RequestType>(
    nodeId: string,
    request: NodeRequest<T>,
  ): Promise<NodeRequests[T]['answer'] | undefined> {
    const asked = askNode(this.#parts.coordinator, nodeId, { request, timeoutMs: ASK_MS });
    return asked.catch(() => undefined);
  }
}

/** As many calls as one message may bring news of. */
function batchesOf(places: readonly KnownCall[]): KnownCall[][] {
  const batches: KnownCall[][] = [];
  for (const [size, ofSize] of [
    [WHOLE_AT_ONCE, places.filter(({ seq }) => seq === 0)],
    [AT_ONCE, places.filter(({ seq }) => seq > 0)],
  ] as const)
    for (let first = 0; first < ofSize.length; first += size) batches.push(ofSize.slice(first, first + size));
  return batches;
}
