// A node whose broker a test takes away.
import type { SharedTime } from '../../src/base/clock.js';
import { ClusterError } from '../../src/base/errors.js';
import type {
  CallOwner,
  ClusterNode,
  Coordinator,
  CoordinatorEvents,
  HearFact,
  KeptState,
  NodeMessage,
  Patience,
  Pool,
  RememberedNode,
  Taken,
} from '../../src/cluster/coordinator.js';
import type { CallEvent } from '../../src/contract/call-event.js';

export class AwayCoordinator implements Coordinator {
  readonly #node: Coordinator;
  /** The broker does not answer. */
  isAway = false;
  /** The broker answers what is asked only once this is called. */
  #held: (() => void)[] | undefined;
  /** What it was asked about places, in order. */
  readonly asked: string[] = [];
  /** Until when the places that it was asked for were waited for; undefined for 100 ms. */
  readonly deadlines: (number | undefined)[] = [];

  constructor(node: Coordinator) {
    this.#node = node;
  }

  get nodeId(): string {
    return this.#node.nodeId;
  }

  get isReached(): boolean {
    return !this.isAway && this.#node.isReached;
  }

  get isThere(): boolean {
    return !this.isAway && this.#node.isThere;
  }

  get time(): SharedTime {
    return this.#node.time;
  }

  get leasedUntil(): number {
    return this.#node.leasedUntil;
  }

  get hasHeardAll(): boolean {
    return this.#node.hasHeardAll;
  }

  get behindMs(): number {
    return this.#node.behindMs;
  }

  nodes(): readonly ClusterNode[] {
    return this.#node.nodes();
  }

  silent(): readonly ClusterNode[] {
    return this.#node.silent();
  }

  find(nodeId: string): RememberedNode | undefined {
    return this.#node.find(nodeId);
  }

  /** Until `answer`, nothing is answered. */
  hold(): void {
    this.#held = [];
  }

  answer(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const go of held) go();
  }

  join(events: CoordinatorEvents): Promise<void> {
    return this.#node.join(events);
  }

  observe(): Promise<void> {
    return this.#node.observe();
  }

  async claim(callId: string, term: number): Promise<CallOwner> {
    await this.#demand();
    return this.#node.claim(callId, term);
  }

  async ownerOf(callId: string): Promise<CallOwner | undefined> {
    await this.#demand();
    return this.#node.ownerOf(callId);
  }

  async release(callId: string, keepMs: number): Promise<void> {
    await this.#demand();
    return this.#node.release(callId, keepMs);
  }

  async keepState(callId: string, term: number, text: string): Promise<void> {
    await this.#demand();
    return this.#node.keepState(callId, term, text);
  }

  async stateOf(callId: string): Promise<KeptState | undefined> {
    await this.#demand();
    return this.#node.stateOf(callId);
  }

  async take(pool: Pool, id: string, ttlMs: number, { by }: Patience = {}): Promise<Taken> {
    this.asked.push(`take ${pool.name} ${id}`);
    this.deadlines.push(by);
    await this.#demand();
    return this.#node.take(pool, id, ttlMs);
  }

  async taken(pool: Pool): Promise<number> {
    this.asked.push(`taken ${pool.name}`);
    await this.#demand();
    return this.#node.taken(pool);
  }

  async giveBack(pool: Pool, id: string): Promise<void> {
    this.asked.push(`give back ${pool.name} ${id}`);
    await this.#demand();
    return this.#node.giveBack(pool, id);
  }

  handOn(pool: Pool, id: string): void {
    this.#node.handOn(pool, id);
  }

  async append(facts: readonly CallEvent[]): Promise<boolean> {
    await this.#demand();
    return this.#node.append(facts);
  }

  tail(hear: HearFact, missed?: () => void): void {
    this.#node.tail(hear, missed);
  }

  send(nodeId: string, message: NodeMessage, timeoutMs: number): Promise<string> {
    return this.#node.send(nodeId, message, timeoutMs);
  }

  close(): Promise<void> {
    return this.#node.close();
  }

  async #demand(): Promise<void> {
    if (this.#held !== undefined) await new Promise<void>((resolve) => this.#held?.push(resolve));
    if (this.isAway) throw new ClusterError('The broker does not answer.');
  }
}
