// Finds which node has a call, and asks nodes about calls.
import type { Clock } from '../../base/clock.js';
import { NotFoundError, OffhookError, RequestError } from '../../base/errors.js';
import { pause } from '../../base/pause.js';
import { toTold } from '../../base/told-error.js';
import { type CallOwner, type ClusterNode, type Coordinator, LEASE_MS } from '../../cluster/coordinator.js';
import { termOf } from '../../events/reduce.js';
import type { CallStore } from '../../stores/call-store.js';
import { COMMAND_MS } from '../handover/predecessor.js';
import type { OtherProcess, RemoteCommand } from '../handover/remote-controls.js';
import {
  askNode,
  isAnswering,
  isUnreached,
  reachableNodes,
  type CallPlace,
  type NodeRequest,
  type NodeRequests,
  type RequestType,
} from './requests.js';

/** An owner that does not answer for so long is gone. */
export const PROBE_MS = 300;
/** Until then it is not asked whether it is there. */
const PATIENCE_MS = 100;
/** Two leases: who was cut off for that long and comes back finds its calls taken over. */
export const GONE_MS = 2 * LEASE_MS;
/** A broker that has not answered by then may stand still: the nodes are asked as well. */
const HASTE_MS = 30;
/** Whoever commands a call would take one that is not found for one that is over: that is looked for as long as nodes are asked. */
const COMMANDED_MS = 2 * PROBE_MS;
/** A call goes on from node to node no more often than that, while one message looks for it. */
const MAX_HOPS = 3;
/** A node that has just joined is known by then. */
const KNOWN_MS = 1500;
const LOOK_MS = 50;
/** Who says one of these is listened to before who says a later one. */
const RANK = { live: 0, arriving: 1, expected: 2, closing: 3, ended: 4 } as const;
/** What may come twice: an answer that was lost is asked for once more. */
const REPEATABLE: ReadonlySet<RequestType> = new Set(['webhook', 'claim', 'who-has']);

interface Asking {
  readonly timeoutMs: number;
  readonly isPatient?: boolean;
}

/** Who has a call. */
export interface FoundCall extends CallOwner {
  /** As that node says; undefined where the broker has named it. */
  readonly state?: CallPlace['state'];
}

/** Whether another node has a call. */
export interface AskedOthers {
  /** Undefined for one that no other node is known to have. */
  readonly owner?: CallOwner | undefined;
  /** `none`: neither the broker nor any other node answers. `some`: one does not that may live, or it is arriving at one. */
  readonly heard: 'all' | 'some' | 'none';
}

/** How this node has a call that another one may have, too. */
export interface OwnPlace {
  readonly term: number;
  /** It was taken over, and no stream of it has come. @default false */
  readonly isPending?: boolean;
  /** The carrier does not answer it for this node. @default false */
  readonly isRefused?: boolean;
  /** It has ended here, with all that its stream brought. @default false */
  readonly isClosing?: boolean;
}

/** What a node says of calls that it was asked about. */
type NodePlaces = readonly [nodeId: string, places: readonly CallPlace[]];

export interface CallFinderParts {
  readonly nodeId: string;
  readonly clock: Clock;
  store(): CallStore;
}

export class CallFinder implements OtherProcess {
  readonly #parts: CallFinderParts;
  readonly #coordinator: Coordinator;
  /** Nodes that this one has known. */
  readonly #met = new Set<string>();
  /** Nodes that did not answer who has a call when they were asked last, on the clock. */
  readonly #unanswered = new Map<string, { readonly since: number; readonly last: number }>();

  constructor(parts: CallFinderParts, coordinator: Coordinator) {
    this.#parts = parts;
    this.#coordinator = coordinator;
  }

  async command(callId: string, command: RemoteCommand, { timeoutMs = COMMAND_MS } = {}) {
    const { clock, nodeId } = this.#parts;
    const request = { type: 'command', callId, ask: command } as const;
    let error: OffhookError = new NotFoundError('No such call.');
    let owner = await this.find(callId, { by: clock.now() + COMMANDED_MS });
    for (let hop = 1; owner !== undefined && hop <= MAX_HOPS; hop += 1) {
      try {
        const isHere = owner.nodeId === nodeId;
        const answered = isHere ? undefined : await this.ask(owner, { request, timeoutMs });
        if (answered !== undefined) return { status: 200, body: JSON.stringify(answered) };
        if (!isHere) {
          error = new RequestError('REQUEST_CONFLICT', 'The node of the call is gone.');
          // It may have carried it out all the same: nobody is asked a second time.
          break;
        }
      } catch (thrown) {
        if (!OffhookError.isInstance(thrown) || isUnreached(thrown)) throw thrown;
        error = thrown;
        if (error.code !== 'NOT_FOUND') break;
      }
      // It has gone on since it was found there, and the broker may not have heard of that.
      owner = await this.askAll(callId, clock.now() + PROBE_MS);
    }
    if (error.code === 'NOT_FOUND') return { status: 404, body: '' };
    return { status: 409, body: JSON.stringify({ error: toTold(error) }) };
  }

  /** How a node has these calls; undefined where it does not answer. `isPatient`: it is asked again while it counts as alive, until the time is over. */
  async placesAt(
    nodeId: string,
    callIds: readonly string[],
    { timeoutMs, isPatient = false }: Asking,
  ): Promise<readonly CallPlace[] | undefined> {
    const { clock } = this.#parts;
    const until = clock.now() + timeoutMs;
    const request = { type: 'who-has', callId: null, ask: { callIds } } as const;
    for (;;) {
      const leftMs = until - clock.now();
      const asked = askNode(this.#coordinator, nodeId, { request, timeoutMs: Math.min(PROBE_MS, leftMs) });
      const answer = await asked.catch(() => undefined);
      const isGivenUp = !isPatient || clock.now() + LOOK_MS >= until || !this.#isListed(nodeId);
      if (answer !== undefined || isGivenUp) return answer?.places;
      await pause(clock, LOOK_MS);
    }
  }

  /**
   * Who has the call, as far as that can be known by then: by the broker, else by what is known here of the call, else by asking every node. Undefined for
   * one that nobody has. `isNew`: it may be the first that is heard of it. Never rejects.
   */
  async find(
    callId: string,
    { by, carrierCallId, isNew = false }: { by: number; carrierCallId?: string | null; isNew?: boolean },
  ): Promise<CallOwner | undefined> {
    const { clock } = this.#parts;
    let isOver = false;
    const asked = this.#coordinator.ownerOf(callId, { by }).then(
      (owner) => ({ owner }),
      () => undefined,
    );
    void asked.then(() => (isOver = true));
    const others = pause(clock, HASTE_MS).then(async () => (isOver ? undefined : this.askAll(callId, by)));
    const told = await asked;
    if (told?.owner !== undefined) return told.owner;
    const known = await this.known(callId, carrierCallId);
    // A call that cannot be new is somebody's, who may be about to tell the broker.
    if (told !== undefined) return known ?? (isNew ? undefined : this.askAll(callId, clock.now() + PROBE_MS));
    // Without a broker the record may be behind.
    const found = clock.now() + HASTE_MS < by && isOver ? this.askAll(callId, by) : others;
    return (await found) ?? known;
  }

  /** By the record of the call. */
  async known(callId: string, carrierCallId?: string | null): Promise<CallOwner | undefined> {
    const store = this.#parts.store();
    try {
      const record =
        (await store.get(callId)) ?? (carrierCallId ? await store.get(carrierCallId) : undefined);
      return record && { nodeId: record.nodeId, term: termOf(record) };
    } catch {
      return undefined;
    }
  }

  /** Who has the call, by what the others say of it until then. */
  async askAll(callId: string, by: number): Promise<FoundCall | undefined> {
    const found = await this.whoHas([callId], { timeoutMs: Math.max(0, by - this.#parts.clock.now()) });
    const places = found.flatMap(([nodeId, places]) => places.map((place) => ({ ...place, nodeId })));
    return places.toSorted((a, b) => RANK[a.state] - RANK[b.state] || (a.nodeId < b.nodeId ? -1 : 1))[0];
  }

  /** By those that answer in time. Never rejects. */
  async whoHas(callIds: readonly string[], asking: Asking): Promise<NodePlaces[]> {
    const { clock } = this.#parts;
    const ask = async ({ nodeId }: ClusterNode) => {
      const places = await this.placesAt(nodeId, callIds, asking);
      if (places === undefined) this.#hasNotAnswered(nodeId, clock.now());
      else this.#unanswered.delete(nodeId);
      return [nodeId, places] as const;
    };
    const answers = await Promise.all(this.#others.map(ask));
    const listed = new Set(this.#others.map(({ nodeId }) => nodeId));
    for (const nodeId of this.#unanswered.keys()) if (!listed.has(nodeId)) this.#unanswered.delete(nodeId);
    return answers.filter((answer): answer is NodePlaces => answer[1] !== undefined);
  }

  /**
   * Whether another node has a call that this one has, too, as far as that can be known now. Never rejects.
   */
  async besides(callId: string, own: OwnPlace): Promise<AskedOthers> {
    const others = this.#others;
    if (others.length === 0) return { heard: 'all' };
    const told = this.#coordinator.ownerOf(callId).then(
      (owner) => ({ owner }),
      () => undefined,
    );
    const answers = await this.whoHas([callId], { timeoutMs: PROBE_MS });
    const named = await told;
    if (named === undefined && answers.length === 0) return { heard: 'none' };
    const had = answers.flatMap(([nodeId, places]) =>
      places
        .filter((place) => isTheirs(place, own, { hasLowerId: nodeId < this.#parts.nodeId }))
        .map((place) => ({ nodeId, term: place.term })),
    );
    if (named?.owner !== undefined && named.owner.term > own.term) had.push(named.owner);
    const owner = had.toSorted((a, b) => b.term - a.term)[0];
    const answered = new Set(answers.map(([nodeId]) => nodeId));
    const isAwaited = ({ nodeId }: ClusterNode) => !answered.has(nodeId) && this.#mayLive(nodeId);
    const isArriving = answers.some(([, places]) => places.some(({ state }) => state === 'arriving'));
    const heard = isArriving || others.some(isAwaited) ? 'some' : 'all';
    return { owner: owner?.nodeId === this.#parts.nodeId ? undefined : owner, heard };
  }

  #hasNotAnswered(nodeId: string, now: number): void {
    const before = this.#unanswered.get(nodeId);
    // What it did not answer long ago says nothing of today.
    const isRecent = before !== undefined && now - before.last < GONE_MS;
    this.#unanswered.set(nodeId, { since: isRecent ? before.since : now, last: now });
  }

  /** One that has answered nothing for so long is taken for gone, whatever the broker said of it last. */
  #mayLive(nodeId: string): boolean {
    const { since } = this.#unanswered.get(nodeId) ?? { since: this.#parts.clock.now() };
    return this.#parts.clock.now() - since < GONE_MS;
  }

  get #others(): readonly ClusterNode[] {
    return reachableNodes(this.#coordinator);
  }

  /**
   * Without a broker, who has a call whose node is gone, or is to have it of those that are after it: undefined where that is this node. Where the
   * stream is, the call is; else the lowest ID has it. Who has asked before this one said that it is after the call has it in a moment.
   */
  async rivalFor(callId: string, isStreamThere: boolean): Promise<FoundCall | undefined> {
    const { clock } = this.#parts;
    const until = clock.now() + 2 * PROBE_MS;
    for (;;) {
      const found = await this.askAll(callId, clock.now() + PROBE_MS);
      if (found === undefined || !this.#yields(found, isStreamThere)) return found;
      if (clock.now() >= until) return undefined;
      await pause(clock, LOOK_MS);
    }
  }

  /** That it does, to this node. */
  #yields({ nodeId, state }: FoundCall, isStreamThere: boolean): boolean {
    const isLast = this.#parts.nodeId < nodeId;
    if (state === 'expected') return isStreamThere || isLast;
    return state === 'arriving' && isStreamThere && isLast;
  }

  /** Asks who has a call, and follows it to where it has gone. Undefined where that node is gone. Rejects with what it throws. */
  async ask<T extends RequestType>(
    owner: CallOwner,
    asked: { request: NodeRequest<T>; timeoutMs: number; isPatient?: boolean },
  ): Promise<NodeRequests[T]['answer'] | undefined> {
    let { nodeId } = owner;
    for (let hop = 1; ; hop += 1) {
      const answer = await this.#askOne(nodeId, asked);
      const next = answer !== undefined && 'nodeId' in answer ? answer.nodeId : undefined;
      if (next === undefined || next === this.#parts.nodeId || hop === MAX_HOPS) return answer;
      nodeId = next;
    }
  }

  /** `isPatient`: one that only does not answer is waited for while its lease lasts, because no caller waits. A process that died refuses at once. */
  async #askOne<T extends RequestType>(
    nodeId: string,
    asked: { request: NodeRequest<T>; timeoutMs: number; isPatient?: boolean },
  ): Promise<NodeRequests[T]['answer'] | undefined> {
    const { clock } = this.#parts;
    await this.#meet(nodeId);
    const until = clock.now() + asked.timeoutMs;
    const failed = askNode(this.#coordinator, nodeId, asked).catch(async (error: unknown) => {
      if (!isUnreached(error)) throw error;
      if (!(await this.isAlive(nodeId))) return undefined;
      const timeoutMs = until - clock.now();
      if (timeoutMs <= 0 || !REPEATABLE.has(asked.request.type)) throw error;
      return askNode(this.#coordinator, nodeId, { ...asked, timeoutMs });
    });
    // One that takes its time is asked whether it is there.
    const silent = pause(clock, PATIENCE_MS).then(async () =>
      (asked.isPatient === true && this.#isListed(nodeId)) || (await this.isAlive(nodeId))
        ? failed
        : undefined,
    );
    silent.catch(() => {});
    return Promise.race([failed, silent]);
  }

  /** False also for one that has just joined. */
  #isListed(nodeId: string): boolean {
    return this.#coordinator.nodes().some((node) => node.nodeId === nodeId);
  }

  /** One that has just joined is not known everywhere. */
  async #meet(nodeId: string): Promise<void> {
    const { clock } = this.#parts;
    const until = clock.now() + KNOWN_MS;
    for (;;) {
      for (const node of this.#others) this.#met.add(node.nodeId);
      if (this.#met.has(nodeId) || clock.now() >= until) break;
      await pause(clock, LOOK_MS);
    }
    this.#met.add(nodeId);
  }

  async isAlive(nodeId: string, timeoutMs = PROBE_MS): Promise<boolean> {
    await this.#meet(nodeId);
    return isAnswering(this.#coordinator, nodeId, timeoutMs);
  }
}

/** Of two nodes that have a call, whether it is the other one's. */
function isTheirs(
  { term, state, hasStream = false }: CallPlace,
  own: OwnPlace,
  { hasLowerId }: { hasLowerId: boolean },
): boolean {
  const { isPending = false, isRefused = false, isClosing = false } = own;
  if (term > own.term || state === 'expected') return term > own.term;
  // Facts of both are in this term: an end that has fewer of them would be seen by nobody.
  if (state === 'ended') return isPending || isRefused;
  // Who has its stream, and not the rest, asks this node for that: who has left it by then has nothing to give.
  if (state === 'arriving') return false;
  if (hasStream) return isPending || term === own.term;
  if (term < own.term) return false;
  // Who has had it answered need not have its stream yet.
  if (isRefused) return true;
  // Who has ended it has all that its stream brought.
  if ((state === 'closing') !== isClosing) return !isClosing;
  // Of two that are as far, the call is not left to who leaves it to this node.
  return hasLowerId;
}
