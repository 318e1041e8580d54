// A cluster whose nodes are in one process, as tests have it: what they share is in memory, and never away. A node can be cut off from it.
import type { Clock, SharedTime } from '../base/clock.js';
import { ClusterError } from '../base/errors.js';
import type { CallEvent } from '../contract/call-event.js';
import {
  type CallOwner,
  type ClusterNode,
  type Coordinator,
  type CoordinatorEvents,
  type HearFact,
  KEPT_MS,
  type KeptState,
  LEASE_MS,
  type NodeMessage,
  type Pool,
  type RememberedNode,
  type Taken,
} from './coordinator.js';
import { HeldClaims } from './held-claims.js';

const LOG_FACTS = 10_000;

interface Claim {
  readonly owner: CallOwner;
  /** When it is forgotten, on the clock. */
  readonly until: number;
}

interface Place {
  readonly nodeId: string;
  /** When it is free again, on the clock. */
  readonly until: number;
}

interface Told {
  readonly fact: CallEvent;
  readonly toldAt: number;
}

/** What the nodes share. */
export class MemoryCluster {
  readonly clock: Clock;
  readonly nodes = new Map<string, MemoryCoordinator>();
  /** Those that have said goodbye. */
  readonly left = new Map<string, ClusterNode>();
  /** Those that only observe. */
  readonly observers = new Map<string, MemoryCoordinator>();
  readonly pools = new Map<string, Map<string, Place>>();
  readonly log: Told[] = [];
  readonly listeners = new Map<string, HearFact>();
  readonly states = new Map<string, KeptState & { readonly until: number }>();
  readonly #claims = new Map<string, Claim>();
  /** Nodes that are cut off, and since when, on the clock. */
  readonly #cut = new Map<string, { readonly at: number; readonly reachesNodes: boolean }>();

  readonly logFacts: number;

  /** `logFacts`: facts that are kept for nodes that come later. */
  constructor(clock: Clock, logFacts = LOG_FACTS) {
    this.clock = clock;
    this.logFacts = logFacts;
  }

  /** The node reaches neither broker nor, unless `reachesNodes`, other nodes from now on, until `heal`. */
  cut(nodeId: string, { reachesNodes = false } = {}): void {
    this.#cut.set(nodeId, { at: this.clock.now(), reachesNodes });
  }

  heal(nodeId: string): void {
    this.#cut.delete(nodeId);
    (this.nodes.get(nodeId) ?? this.observers.get(nodeId))?.tellClaims();
  }

  /** From the broker at least. */
  isCut(nodeId: string): boolean {
    return this.#cut.has(nodeId);
  }

  isReached(nodeId: string): boolean {
    return this.#cut.get(nodeId)?.reachesNodes !== false;
  }

  leasedUntil(nodeId: string): number {
    return this.clock.now() - this.cutForMs(nodeId) + LEASE_MS;
  }

  /** For how long the node has not reached the broker. */
  cutForMs(nodeId: string): number {
    const cut = this.#cut.get(nodeId);
    return cut === undefined ? 0 : this.clock.now() - cut.at;
  }

  /** @throws ClusterError for a node that is cut off. */
  demand(nodeId: string): void {
    if (this.isCut(nodeId)) throw new ClusterError('The broker does not answer.');
  }

  node(node: ClusterNode): Coordinator {
    return new MemoryCoordinator(node, this);
  }

  ownerOf(callId: string): CallOwner | undefined {
    const claim = this.#claims.get(callId);
    if (claim === undefined || claim.until > this.clock.now()) return claim?.owner;
    this.#claims.delete(callId);
    return undefined;
  }

  own(callId: string, owner: CallOwner, forMs: number): void {
    this.#claims.set(callId, { owner, until: this.clock.now() + forMs });
  }

  /** Places that are taken. */
  placesOf(name: string): Map<string, Place> {
    const places = this.pools.get(name) ?? new Map<string, Place>();
    this.pools.set(name, places);
    for (const [id, { until }] of places) if (until <= this.clock.now()) places.delete(id);
    return places;
  }
}

class MemoryCoordinator implements Coordinator {
  readonly nodeId: string;
  readonly hasHeardAll = true;
  readonly time: SharedTime;
  readonly #node: ClusterNode;
  readonly #cluster: MemoryCluster;
  readonly #claims = new HeldClaims();
  #events: CoordinatorEvents | undefined;
  #hear: HearFact | undefined;
  #missed: (() => void) | undefined;

  constructor(node: ClusterNode, cluster: MemoryCluster) {
    this.nodeId = node.nodeId;
    this.#node = node;
    this.#cluster = cluster;
    this.time = { now: () => cluster.clock.wallNow(), formerNow: () => undefined };
  }

  get isThere(): boolean {
    return !this.#cluster.isCut(this.nodeId);
  }

  get isReached(): boolean {
    return this.isThere;
  }

  get behindMs(): number {
    return this.#cluster.cutForMs(this.nodeId);
  }

  get leasedUntil(): number {
    return this.#cluster.leasedUntil(this.nodeId);
  }

  nodes(): readonly ClusterNode[] {
    const alive = [...this.#cluster.nodes.values()].filter(
      ({ leasedUntil }) => !this.isThere || leasedUntil > this.#cluster.clock.now(),
    );
    const joined = alive.map((each) => each.#node);
    const isListed = joined.includes(this.#node) || this.#cluster.observers.has(this.nodeId);
    return isListed ? joined : [this.#node, ...joined];
  }

  silent(): readonly ClusterNode[] {
    const listed = this.nodes();
    return [...this.#cluster.nodes.values()]
      .map((each) => each.#node)
      .filter((node) => !listed.includes(node));
  }

  find(nodeId: string): RememberedNode | undefined {
    const { left, nodes } = this.#cluster;
    const gone = left.get(nodeId);
    if (gone !== undefined) return { ...gone, hasLeft: true };
    const present = nodes.get(nodeId);
    return present === undefined ? undefined : { ...present.#node, hasLeft: false };
  }

  async join(events: CoordinatorEvents): Promise<void> {
    this.#events = events;
    this.#cluster.left.delete(this.nodeId);
    this.#cluster.nodes.set(this.nodeId, this);
  }

  async observe(): Promise<void> {
    this.#cluster.observers.set(this.nodeId, this);
  }

  async claim(callId: string, term: number): Promise<CallOwner> {
    if (!this.isThere) this.#claims.hold(callId, term);
    this.#cluster.demand(this.nodeId);
    const had = this.#cluster.ownerOf(callId);
    const isOther = had !== undefined && had.nodeId !== this.nodeId;
    if (had !== undefined && (had.term > term || (isOther && had.term === term))) return had;
    const owner = { nodeId: this.nodeId, term };
    this.#claims.hold(callId, term);
    this.#cluster.own(callId, owner, Number.POSITIVE_INFINITY);
    if (isOther) this.#cluster.nodes.get(had.nodeId)?.isOutranked(callId, owner);
    return owner;
  }

  async ownerOf(callId: string): Promise<CallOwner | undefined> {
    this.#cluster.demand(this.nodeId);
    return this.#cluster.ownerOf(callId);
  }

  async release(callId: string, keepMs: number): Promise<void> {
    this.#claims.drop(callId);
    this.#cluster.demand(this.nodeId);
    const owner = this.#cluster.ownerOf(callId);
    if (owner?.nodeId !== this.nodeId) return;
    this.#cluster.own(callId, owner, keepMs);
    this.#cluster.states.delete(callId);
  }

  async keepState(callId: string, term: number, text: string): Promise<void> {
    const { states, clock } = this.#cluster;
    this.#cluster.demand(this.nodeId);
    if ((states.get(callId)?.term ?? 0) > term) return;
    states.set(callId, { term, text, at: this.time.now(), until: clock.now() + KEPT_MS });
  }

  async stateOf(callId: string): Promise<KeptState | undefined> {
    this.#cluster.demand(this.nodeId);
    const kept = this.#cluster.states.get(callId);
    if (kept === undefined || kept.until <= this.#cluster.clock.now()) return undefined;
    const { term, text, at } = kept;
    return { term, text, at };
  }

  async take({ name, limit }: Pool, id: string, ttlMs: number): Promise<Taken> {
    this.#cluster.demand(this.nodeId);
    const places = this.#cluster.placesOf(name);
    if (!places.has(id) && places.size >= limit) return { hasPlace: false, taken: places.size };
    places.set(id, { nodeId: this.nodeId, until: this.#cluster.clock.now() + ttlMs });
    return { hasPlace: true, taken: places.size };
  }

  async taken({ name }: Pool): Promise<number> {
    this.#cluster.demand(this.nodeId);
    return this.#cluster.placesOf(name).size;
  }

  async giveBack({ name }: Pool, id: string): Promise<void> {
    this.#cluster.demand(this.nodeId);
    this.#cluster.placesOf(name).delete(id);
  }

  handOn({ name }: Pool, id: string): void {
    const places = this.#cluster.placesOf(name);
    const place = places.get(id);
    if (place?.nodeId === this.nodeId) places.set(id, { ...place, nodeId: '' });
  }

  async append(facts: readonly CallEvent[]): Promise<boolean> {
    const { log, listeners } = this.#cluster;
    this.#cluster.demand(this.nodeId);
    const toldAt = this.time.now();
    for (const fact of facts) {
      log.push({ fact, toldAt });
      for (const [nodeId, hear] of listeners) if (!this.#cluster.isCut(nodeId)) hear(fact, toldAt);
    }
    log.splice(0, log.length - this.#cluster.logFacts);
    return true;
  }

  tail(hear: HearFact, missed?: () => void): void {
    this.#hear = hear;
    this.#missed = missed;
    this.#cluster.listeners.set(this.nodeId, hear);
    this.#hearAll();
  }

  async send(nodeId: string, message: NodeMessage, timeoutMs: number): Promise<string> {
    const node = this.#cluster.nodes.get(nodeId);
    const isReached = [nodeId, this.nodeId].every((each) => this.#cluster.isReached(each));
    if (node === undefined || !isReached) throw new ClusterError(`The node ${nodeId} is not there.`);
    return new Promise((resolve, reject) => {
      const late = () => reject(new ClusterError('The other node did not answer.'));
      const timer = this.#cluster.clock.after(timeoutMs, late);
      const over = () => timer.cancel();
      node.answer(message, this.nodeId).then(resolve, reject).finally(over);
    });
  }

  /** What another node asks. */
  async answer(message: NodeMessage, from: string): Promise<string> {
    if (this.#events === undefined) throw new ClusterError('The node is not ready.');
    return this.#events.answer(message, from);
  }

  /** Another node has the call in a higher term. One that is cut off hears it as it is back. */
  isOutranked(callId: string, owner: CallOwner): void {
    if (this.isThere && this.#claims.drop(callId)) this.#events?.outranked(callId, owner);
  }

  /** It reaches the others again. */
  tellClaims(): void {
    this.#hearAll();
    for (const [callId, term] of this.#claims.all()) {
      const owner = this.#cluster.ownerOf(callId);
      const isOther = owner !== undefined && owner.nodeId !== this.nodeId;
      const yields = isOther && (owner.term > term || (owner.term === term && owner.nodeId < this.nodeId));
      if (yields) this.isOutranked(callId, owner);
      else {
        this.#cluster.own(callId, { nodeId: this.nodeId, term }, Number.POSITIVE_INFINITY);
        if (isOther)
          this.#cluster.nodes.get(owner.nodeId)?.isOutranked(callId, { nodeId: this.nodeId, term });
      }
    }
  }

  #hearAll(): void {
    for (const { fact, toldAt } of this.#cluster.log) this.#hear?.(fact, toldAt);
    this.#missed?.();
  }

  async close(): Promise<void> {
    this.#cluster.heal(this.nodeId);
    const { nodes, observers, pools, listeners } = this.#cluster;
    if (nodes.delete(this.nodeId)) this.#cluster.left.set(this.nodeId, this.#node);
    observers.delete(this.nodeId);
    listeners.delete(this.nodeId);
    await Promise.all(this.#claims.all().map(([callId]) => this.release(callId, 0)));
    for (const places of pools.values())
      for (const [id, { nodeId }] of places) if (nodeId === this.nodeId) places.delete(id);
  }
}
