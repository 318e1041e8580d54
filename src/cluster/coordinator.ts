// What the nodes of a cluster share: who is there, who has which call, how many of something are up, and what happened. All of it is hints and
// copies: a node that lives is authoritative for its calls, and no call that is up waits for any of this.
import type { CallEvent } from '../contract/call-event.js';

/** A process of the cluster. */
export interface ClusterNode {
  /** New at each start. */
  readonly nodeId: string;
  /** Where the others reach it: `http://10.0.0.5:3000`. */
  readonly address: string;
}

/** Who has a call. */
export interface CallOwner {
  readonly nodeId: string;
  /** Counted one higher whenever another node takes the call. */
  readonly term: number;
}

/** What one node asks of another, about a call or about itself. */
export interface NodeMessage {
  readonly type: string;
  /** Null where it is about none. */
  readonly callId: string | null;
  readonly body: string;
}

/** Answers what other nodes ask. What it throws is thrown there, with its code. */
export type AnswerNode = (message: NodeMessage, from: string) => Promise<string>;

export interface CoordinatorEvents {
  readonly answer: AnswerNode;
  /** Another node has a call that this one has claimed: in a higher term, or after a split in the same one. */
  outranked(callId: string, owner: CallOwner): void;
}

/** Places of which `limit` may be taken at a time, by all nodes together. */
export interface Pool {
  readonly name: string;
  readonly limit: number;
}

/** Until when the broker must have answered, on the clock: one webhook gives all its questions the same moment. @default 100 ms from now */
export interface Patience {
  readonly by?: number | undefined;
}

/** How long one webhook may wait for the broker in all, in milliseconds. */
export const BROKER_MS = 100;
/** A node is taken for gone so long after it was last heard of, in milliseconds. */
export const LEASE_MS = 5000;

/**
 * One node's side of the cluster. What asks the broker rejects with ClusterError while that is away: the question that finds it out after its time, every
 * further one at once. Who gets no answer goes on as if alone.
 */
export interface Coordinator {
  readonly nodeId: string;
  /** True while the broker answers within the time of a webhook. */
  readonly isThere: boolean;
  /** How long the others take this node for alive without hearing of it again, in milliseconds. At 0 they may take its calls. */
  readonly leaseLeftMs: number;
  /** Those that are alive, this one among them, as far as it is known here. While the broker is away, those of before. */
  nodes(): readonly ClusterNode[];

  /** Is a node from now on, until `close`. Also where the broker is away: it joins as soon as that answers. @throws ConfigError for a broker that will never do */
  join(events: CoordinatorEvents): Promise<void>;

  /**
   * Has the call in `term`, unless a node has it in that term or a higher one. Resolves to who has it. A claim is held until it is released, also where
   * this rejects: a broker that does not know of it is told as soon as it answers. Where a split leaves two nodes with one call in the same term, it is the
   * one's with the lower ID.
   */
  claim(callId: string, term: number, patience?: Patience): Promise<CallOwner>;
  /** Undefined for a call that nobody has. */
  ownerOf(callId: string, patience?: Patience): Promise<CallOwner | undefined>;
  /** The call needs no owner any more. Others find this node as the last one for `keepMs`. What another node has is left alone. */
  release(callId: string, keepMs: number): Promise<void>;

  /** Takes a place for `ttlMs`, or keeps the one that `id` has. False where all are taken. */
  take(pool: Pool, id: string, ttlMs: number, patience?: Patience): Promise<boolean>;
  giveBack(pool: Pool, id: string): Promise<void>;

  /** Resolves once the broker has the facts, for every node to hear in this order. */
  append(facts: readonly CallEvent[]): Promise<void>;
  /** Hears the facts of all nodes, this one's too: what the broker keeps, and then what comes. Each at least once, those of one call in order. */
  tail(hear: (fact: CallEvent) => void): void;

  /** Asks another node, past the broker. Rejects with what that node throws, and with ClusterError where it is not there or has not answered in time. */
  send(nodeId: string, message: NodeMessage, timeoutMs: number): Promise<string>;

  /** Is no node any more; its claims and places are free. Idempotent, never rejects. */
  close(): Promise<void>;
}
