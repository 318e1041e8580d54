// The nodes of a cluster as one of them knows them, by what the broker says: also right after that was away, when it has yet to hear of the others.
import type { Clock } from '../../base/clock.js';
import { type ClusterNode, LEASE_MS, type RememberedNode } from '../coordinator.js';

/** A broker that was away, or has lost what it knew, has heard of every node, and been told everything again, so long after that was found, in milliseconds. */
const TOLD_AGAIN_MS = 3000;
/** Nodes whose address is remembered after they have gone: who takes over asks them once more. */
const MAX_GONE = 1000;
/** One that nobody has asked anything is forgotten so long after it has gone, or has answered last, in milliseconds. */
const UNASKED_MS = 10 * 60_000;

/** What the broker last said of the nodes. */
interface Known {
  readonly version: string;
  /** Another one where the broker has lost everything. Empty before it was asked. */
  readonly epoch: string;
  readonly nodes: readonly ClusterNode[];
  /** IDs of some that have said goodbye. */
  readonly left: readonly string[];
}

interface Gone {
  readonly node: ClusterNode;
  readonly hasLeft: boolean;
  /** When it has gone, or answered last, on the clock. */
  heardAt: number;
  /** When it left the first question since then unanswered, on the clock. */
  unansweredAt: number | undefined;
}

export class KnownNodes {
  readonly #clock: Clock;
  #known: Known;
  /** Those that were there before the broker was away, or lost their leases: until, on the clock, they count as there, since each may yet say so. */
  #before: { readonly nodes: readonly ClusterNode[]; readonly until: number } = { nodes: [], until: 0 };
  /** When it was found that the broker had lost what it knew, on the clock. */
  #emptiedAt = Number.NEGATIVE_INFINITY;
  readonly #gone = new Map<string, Gone>();

  /** `own`: this node, unless it only observes. */
  constructor(clock: Clock, own: readonly ClusterNode[]) {
    this.#clock = clock;
    this.#known = { version: '', epoch: '', nodes: own, left: [] };
  }

  get version(): string {
    return this.#known.version;
  }

  get epoch(): string {
    return this.#known.epoch;
  }

  /** The broker may be another one by now, which counts its versions itself. */
  doubtVersion(): void {
    this.#known = { ...this.#known, version: '' };
  }

  /** False while a broker that has lost what it knew may not have been told again. */
  get isToldAgain(): boolean {
    return this.#clock.now() - this.#emptiedAt >= TOLD_AGAIN_MS;
  }

  all(): readonly ClusterNode[] {
    const { nodes } = this.#known;
    const { nodes: before, until } = this.#before;
    if (this.#clock.now() >= until) return nodes;
    return [...nodes, ...before.filter((had) => !nodes.some(({ nodeId }) => nodeId === had.nodeId))];
  }

  /** Also one that has gone. */
  find(nodeId: string): RememberedNode | undefined {
    const { node, hasLeft = false } = this.#gone.get(nodeId) ?? {};
    const known = node ?? this.all().find((each) => each.nodeId === nodeId);
    return known && { ...known, hasLeft };
  }

  /** Those that have gone, and may live. */
  silent(): readonly ClusterNode[] {
    const now = this.#clock.now();
    const listed = new Set(this.all().map(({ nodeId }) => nodeId));
    return [...this.#gone.values()]
      .filter(
        ({ heardAt, unansweredAt = now }) => now - unansweredAt < LEASE_MS && now - heardAt < UNASKED_MS,
      )
      .map(({ node }) => node)
      .filter(({ nodeId }) => !listed.has(nodeId));
  }

  /** It was asked something. */
  asked(nodeId: string, { isAnswered }: { isAnswered: boolean }): void {
    const gone = this.#gone.get(nodeId);
    if (gone === undefined) return;
    const now = this.#clock.now();
    if (isAnswered) gone.heardAt = now;
    gone.unansweredAt = isAnswered ? undefined : (gone.unansweredAt ?? now);
  }

  /**
   * The broker has said this, for which `undefined` is what it said before. `isDoubtful`: leases may have run out that are about to be renewed. `hasGoneBack`: it has
   * lost some of what it knew. Returns whether it has lost any.
   */
  learn(
    known: Known | undefined,
    { isDoubtful, hasGoneBack = false }: { isDoubtful: boolean; hasGoneBack?: boolean },
  ): boolean {
    const before = this.all();
    const { epoch } = this.#known;
    if (known !== undefined) {
      this.#remember(known);
      this.#known = known;
    }
    const isEmptied = hasGoneBack || (epoch !== '' && this.#known.epoch !== epoch);
    const now = this.#clock.now();
    if (isEmptied) this.#emptiedAt = now;
    if (isEmptied || isDoubtful) this.#before = { nodes: before, until: now + TOLD_AGAIN_MS };
    return isEmptied;
  }

  #remember({ nodes, left }: Known): void {
    const at = this.#clock.now();
    for (const node of this.#known.nodes) {
      if (nodes.some(({ nodeId }) => nodeId === node.nodeId)) continue;
      const hasLeft = left.includes(node.nodeId);
      this.#gone.set(node.nodeId, { node, hasLeft, heardAt: at, unansweredAt: undefined });
    }
    for (const { nodeId } of nodes) this.#gone.delete(nodeId);
    for (const oldest of this.#gone.keys()) {
      if (this.#gone.size <= MAX_GONE) break;
      this.#gone.delete(oldest);
    }
  }
}
