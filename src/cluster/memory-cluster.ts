// A cluster whose nodes are in one process, as tests have it: what they share is in memory, and never away.
import type { Clock } from '../base/clock.js';
import { ClusterError } from '../base/errors.js';
import type { CallEvent } from '../contract/call-event.js';
import {
  type CallOwner,
  type ClusterNode,
  type Coordinator,
  type CoordinatorEvents,
  LEASE_MS,
  type NodeMessage,
  type Pool,
} from './coordinator.js';
import { HeldClaims } from './held-claims.js';

/** Facts that are kept for nodes that come later. */
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

type Hear = (fact: CallEvent) => void;

/** What the nodes share. */
export class MemoryCluster {
  readonly clock: Clock;
  readonly nodes = new Map<string, MemoryCoordinator>();
  readonly pools = new Map<string, Map<string, Place>>();
  readonly log: CallEvent[] = [];
  readonly listeners = new Map<string, Hear>();
  readonly #claims = new Map<string, Claim>();

  constructor(clock: Clock) {
    this.clock = clock;
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
  readonly isThere = true;
  readonly leaseLeftMs = LEASE_MS;
  readonly #node: ClusterNode;
  readonly #cluster: MemoryCluster;
  readonly #claims = new HeldClaims();
  #events: CoordinatorEvents | undefined;

  constructor(node: ClusterNode, cluster: MemoryCluster) {
    this.nodeId = node.nodeId;
    this.#node = node;
    this.#cluster = cluster;
  }

  nodes(): readonly ClusterNode[] {
    const joined = [...this.#cluster.nodes.values()].map((each) => each.#node);
    return joined.includes(this.#node) ? joined : [this.#node, ...joined];
  }

  async join(events: CoordinatorEvents): Promise<void> {
    this.#events = events;
    this.#cluster.nodes.set(this.nodeId, this);
  }

  async claim(callId: string, term: number): Promise<CallOwner> {
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
    return this.#cluster.ownerOf(callId);
  }

  async release(callId: string, keepMs: number): Promise<void> {
    this.#claims.drop(callId);
    const owner = this.#cluster.ownerOf(callId);
    if (owner?.nodeId === this.nodeId) this.#cluster.own(callId, owner, keepMs);
  }

  async take({ name, limit }: Pool, id: string, ttlMs: number): Promise<boolean> {
    const places = this.#cluster.placesOf(name);
    if (!places.has(id) && places.size >= limit) return false;
    places.set(id, { nodeId: this.nodeId, until: this.#cluster.clock.now() + ttlMs });
    return true;
  }

  async giveBack({ name }: Pool, id: string): Promise<void> {
    this.#cluster.placesOf(name).delete(id);
  }

  async append(facts: readonly CallEvent[]): Promise<void> {
    const { log, listeners } = this.#cluster;
    for (const fact of facts) {
      log.push(fact);
      for (const hear of listeners.values()) hear(fact);
    }
    log.splice(0, log.length - LOG_FACTS);
  }

  tail(hear: Hear): void {
    const { log, listeners } = this.#cluster;
    for (const fact of log) hear(fact);
    listeners.set(this.nodeId, hear);
  }

  async send(nodeId: string, message: NodeMessage, timeoutMs: number): Promise<string> {
    const node = this.#cluster.nodes.get(nodeId);
    if (node === undefined) throw new ClusterError(`The node ${nodeId} is not there.`);
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

  /** Another node has the call in a higher term. */
  isOutranked(callId: string, owner: CallOwner): void {
    if (this.#claims.drop(callId)) this.#events?.outranked(callId, owner);
  }

  async close(): Promise<void> {
    const { nodes, pools, listeners } = this.#cluster;
    nodes.delete(this.nodeId);
    listeners.delete(this.nodeId);
    await Promise.all(this.#claims.all().map(([callId]) => this.release(callId, 0)));
    for (const places of pools.values())
      for (const [id, { nodeId }] of places) if (nodeId === this.nodeId) places.delete(id);
  }
}
