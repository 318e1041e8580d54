// What the nodes of a cluster share: who is there, who has which call, how many of something are up, and what happened. All of it is hints and
// copies: a node that lives is authoritative for its calls, and no call that is up waits for any of this.
import type { SharedTime } from '../base/clock.js';
import type { CallEvent } from '../contract/call-event.js';

/** A process of the cluster. */
export interface ClusterNode {
  /** New at each start. */
  readonly nodeId: string;
  /** Where the others reach it: `http://10.0.0.5:3000`. */
  readonly address: string;
}

/** A node that is there, or was. */
export interface RememberedNode extends ClusterNode {
  /** It has said goodbye. */
  readonly hasLeft: boolean;
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
  /** The broker has lost what it knew. Claims are told it again by the coordinator; facts and states by whoever has them. */
  emptied(): void;
}

/** What has come to the address of a node, from anybody. */
export interface NodeDelivery {
  /** `NODE_PROOF_HEADER`; empty without one. */
  readonly proof: string;
  /** Reads the body. Rejects for one that is longer, or ends too early. Not asked for what is refused by its proof. */
  read(maxBytes: number): Promise<Uint8Array>;
}

/** An answer to what came to the address of a node, as HTTP carries it. */
export interface NodeAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** What another node goes on with, should the one that has the call die. */
export interface KeptState {
  readonly term: number;
  readonly text: string;
  /** When it was kept, in the time of the cluster. */
  readonly at: number;
}

/** Places of which `limit` may be taken at a time, by all nodes together. */
export interface Pool {
  readonly name: string;
  readonly limit: number;
}

/** What is known of a pool once a place was asked for. */
export interface Taken {
  readonly hasPlace: boolean;
  /** Places that are taken by now, by all nodes together. */
  readonly taken: number;
}

/** `toldAt`: when the broker had it, in the time of the cluster. */
export type HearFact = (fact: CallEvent, toldAt: number) => void;

export interface Patience {
  /** Until when the broker must have answered, on the clock: one webhook gives all its questions the same moment. @default 100 ms from now */
  readonly by?: number | undefined;
  /** No caller waits: a slow broker is asked, too, and has the time that it needs. @default false */
  readonly isUnhurried?: boolean | undefined;
}

/** How long one webhook may wait for the broker in all, in milliseconds. */
export const BROKER_MS = 100;
/** What no caller waits for leaves a node once in so many milliseconds, together: each message to the broker costs both about as much as what is in it. */
export const GATHER_MS = 250;
/** A node is taken for gone so long after it was last heard of, in milliseconds. */
export const LEASE_MS = 5000;
/** The state of a call is forgotten so long after it was kept last, in milliseconds. */
export const KEPT_MS = 10 * 60_000;
/** Where a node takes messages of others. */
export const NODE_PATH = '/cluster';
/** By which the receiver knows a sender before it reads what that sends. */
export const NODE_PROOF_HEADER = 'offhook-proof';

/**
 * One node's side of the cluster. What asks the broker rejects with ClusterError while that is away: the question that finds it out after its time, every
 * further one at once. Who gets no answer goes on as if alone.
 */
export interface Coordinator {
  readonly nodeId: string;
  /** True while the broker answers within the time of a webhook. */
  readonly isThere: boolean;
  /** True while the broker is connected, however slow it is. */
  readonly isReached: boolean;
  /** Until when the others take this node for alive without hearing of it again, on the clock. From then on they may take its calls. */
  readonly leasedUntil: number;
  /** That of the broker, as this node last heard it; of this node's clock until then. */
  readonly time: SharedTime;
  /** True once `tail` has brought everything that the broker keeps. */
  readonly hasHeardAll: boolean;
  /** For how long `tail` has not brought everything that the broker keeps, in milliseconds; 0 while it has. */
  readonly behindMs: number;
  /** Those that are alive, this one among them unless it only observes, as far as it is known here. While the broker is away, and for some seconds after it is back or has lost everything, those of before, too: each may yet say that it is there. */
  nodes(): readonly ClusterNode[];
  /** Those that were there, and may still be: a node that is cut off from the broker loses its lease, and keeps its calls. Who has not answered `send` for `LEASE_MS` is not among them. */
  silent(): readonly ClusterNode[];
  /** What is known of a node, also of one that is gone; undefined for one that was never known here, or is forgotten. */
  find(nodeId: string): RememberedNode | undefined;

  /** Is a node from now on, until `close`. Also where the broker is away: it joins as soon as that answers. @throws ConfigError for a broker that will never do */
  join(events: CoordinatorEvents): Promise<void>;
  /** Instead of `join`: knows the nodes from now on and is none, so that none of them counts with it. It may hear facts and ask nodes, and is asked nothing. As `join` where the broker is away. @throws ConfigError for a broker that will never do */
  observe(): Promise<void>;

  /**
   * Has the call in `term`, unless a node has it in that term or a higher one. Resolves to who has it. A claim is held until it is released, also where
   * this rejects: a broker that does not know of it is told as soon as it answers. Where a split leaves two nodes with one call in the same term, it is the
   * one's with the lower ID.
   */
  claim(callId: string, term: number, patience?: Patience): Promise<CallOwner>;
  /** Undefined for a call that nobody has. Rejects also while a broker that has lost what it knew may not have been told again. */
  ownerOf(callId: string, patience?: Patience): Promise<CallOwner | undefined>;
  /** The call needs no owner any more, and no state. Others find this node as the last one for `keepMs`. What another node has is left alone. */
  release(callId: string, keepMs: number): Promise<void>;

  /** Keeps the state of a call for `KEPT_MS`, unless there is one of a higher term, or a newer one. A slow broker is asked, too: resolves once it has it. */
  keepState(callId: string, term: number, text: string): Promise<void>;
  /** Undefined where none is kept. */
  stateOf(callId: string): Promise<KeptState | undefined>;

  /** Takes a place for `ttlMs`, or keeps the one that `id` has, whichever node took it. There is none where all are taken. */
  take(pool: Pool, id: string, ttlMs: number, patience?: Patience): Promise<Taken>;
  /** How many are taken. */
  taken(pool: Pool, patience?: Patience): Promise<number>;
  giveBack(pool: Pool, id: string): Promise<void>;
  /** Another node may have the place by now: this one does not give it back as it leaves. */
  handOn(pool: Pool, id: string): void;

  /**
   * Resolves to true once the broker has the facts, for every node to hear in this order. To false where it takes none of them, since it has lost what this node
   * had told it before: that is to come first.
   */
  append(facts: readonly CallEvent[]): Promise<boolean>;
  /**
   * Hears the facts of all nodes, for which what this one has stated may be left out: what the broker keeps, and then what comes. Each at least once, those of one call in order. `missed`: all that the broker keeps
   * was heard, and it may have lost some before: it keeps the newest ones.
   */
  tail(hear: HearFact, missed?: () => void): void;

  /** Asks another node, past the broker. Rejects with what that node throws, and with ClusterError where it is not there or has not answered in time. */
  send(nodeId: string, message: NodeMessage, timeoutMs: number): Promise<string>;
  /** Answers what has come to `NODE_PATH` at the address of this node, from anybody. Never rejects. Absent where nodes do not talk by HTTP. */
  receive?(delivery: NodeDelivery): Promise<NodeAnswer>;

  /** Is no node any more; its claims and places are free. Idempotent, never rejects. */
  close(): Promise<void>;
}
