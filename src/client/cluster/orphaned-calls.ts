// The calls of nodes that are gone: those that nobody asks about are found by their records, and taken over.
import type { Clock, Timer } from '../../base/clock.js';
import { describeError, type Logger } from '../../base/log.js';
import { pause, toNextBeat } from '../../base/pause.js';
import type { Coordinator, KeptState } from '../../cluster/coordinator.js';
import type { CallRecord } from '../../contract/call-record.js';
import type { CallStore } from '../../stores/call-store.js';
import { PROBE_MS } from './call-finder.js';
import { isAnswering } from './requests.js';

/** A call that this node has from one that is gone. */
export interface InheritedCall {
  /** In which it goes on. */
  readonly term: number;
  /** Undefined where none was kept. */
  readonly state: KeptState | undefined;
}

const LOOK_MS = 1000;
/** Who is there changes with the beat of the broker, each second: by then it has told. */
const BEHIND_MS = 250;
/** A node whose lease has run out is gone once it has answered nothing for so long: no caller waits for that answer, and it may only stand still for a moment. */
export const GONE_PROBE_MS = 1000;
const PROBE_AGAIN_MS = 250;
/** A call that was given away, or is on its way here, is somebody's by then. */
const ABANDONED_MS = 10_000;
/** Calls that ended lately of which something may be left to do. */
const MAX_ENDED = 500;

export interface OrphanedCallsParts {
  readonly nodeId: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly coordinator: Coordinator;
  store(): CallStore;
  /** False while this node asks the others what it has missed. */
  isCurrent(): boolean;
  /** This node has the call, or is about to, and it is not over. */
  hasIt(callId: string): Promise<boolean>;
  /** True for a call that is over and of which the carrier is yet to be asked for something. */
  hasPending(record: CallRecord): boolean;
  /** Of nodes that are not in the cluster any more. `isAlive`: whether one answers all the same, where that was asked. Never rejects. */
  takeOver(
    records: readonly CallRecord[],
    about: { isAlive(nodeId: string): Promise<boolean> | undefined },
  ): Promise<void>;
  /** A node is gone, and its calls are taken over. Never rejects. */
  gone(): Promise<void>;
  /** Calls that are this node's by their records alone. */
  abandoned(records: readonly CallRecord[]): void;
}

export class OrphanedCalls {
  readonly #parts: OrphanedCallsParts;
  /** Seen once: a fact that says otherwise may be on its way. */
  #suspects = new Set<string>();
  /** Whether nodes answer whose calls were seen once, by node. */
  #probed = new Map<string, Promise<boolean>>();
  /** Calls that this node should have, by their records, and has not: since when, on the clock. */
  #abandoned = new Map<string, number>();
  /** Nodes that were there, or whose calls were looked for. */
  #nodes = new Set<string>();
  /** Nodes that are only cut off from the broker, as far as is known. */
  #silent: readonly string[] = [];
  /** What nodes have left that were gone before this one came is yet to be looked for. */
  #isNew = true;
  /** A node is gone, and that is yet to be said. */
  #isAnyGone = false;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(parts: OrphanedCallsParts) {
    this.#parts = parts;
    this.#await();
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #await(): void {
    if (this.#isClosed) return;
    const { clock } = this.#parts;
    this.#timer = clock.after(toNextBeat(clock, LOOK_MS, BEHIND_MS), () => {
      this.#look()
        .catch((error: unknown) =>
          this.#parts.logger.error(
            describeError(error),
            'the calls of nodes that are gone were not looked for',
          ),
        )
        .finally(() => this.#await());
    });
  }

  async #look(): Promise<void> {
    const { clock, coordinator, store, takeOver } = this.#parts;
    // Who hears nothing of the others cannot tell who is gone, and what was seen before that is old.
    const isLeased = coordinator.leasedUntil > clock.now();
    const isInTouch = coordinator.isReached && coordinator.hasHeardAll && isLeased;
    if (!this.#parts.isCurrent() || !isInTouch) {
      this.#suspects.clear();
      this.#probed.clear();
      this.#abandoned.clear();
      return;
    }
    const alive = new Set(coordinator.nodes().map(({ nodeId }) => nodeId));
    const active = await store().active();
    const orphans = active.filter(({ nodeId }) => !alive.has(nodeId) && nodeId !== this.#parts.nodeId);
    this.#watchSilent(alive);
    await this.#lookForAbandoned(active);
    const due = [...orphans, ...(await this.#unfinished(alive))];
    const found = due.filter(({ callId }) => this.#suspects.has(callId));
    const probed = this.#probed;
    const suspected = due.filter((record) => !found.includes(record)).map(({ nodeId }) => nodeId);
    this.#suspects = new Set(due.map(({ callId }) => callId));
    this.#probed = new Map([...new Set(suspected)].map((nodeId) => [nodeId, this.#isThere(nodeId)]));
    if (found.length > 0) await takeOver(found, { isAlive: (nodeId) => probed.get(nodeId) });
    if (!this.#isAnyGone || due.length > found.length) return;
    this.#isAnyGone = false;
    void this.#parts.gone();
  }

  /** By the time a call of it is seen again, it is known. Never rejects. */
  async #isThere(nodeId: string): Promise<boolean> {
    const { clock, coordinator } = this.#parts;
    const until = clock.now() + GONE_PROBE_MS;
    for (;;) {
      if (await isAnswering(coordinator, nodeId, until - clock.now())) return true;
      if (clock.now() + PROBE_AGAIN_MS >= until) break;
      await pause(clock, PROBE_AGAIN_MS);
    }
    await pause(clock, until - clock.now());
    return false;
  }

  /** Each of two nodes may have left a call to the other one. */
  async #lookForAbandoned(active: readonly CallRecord[]): Promise<void> {
    const { nodeId: own, clock, hasIt, abandoned } = this.#parts;
    const before = this.#abandoned;
    this.#abandoned = new Map();
    for (const { callId, nodeId } of active)
      if (nodeId === own && !(await hasIt(callId)))
        this.#abandoned.set(callId, before.get(callId) ?? clock.now());
    const due = active.filter(
      ({ callId }) => clock.now() - (this.#abandoned.get(callId) ?? clock.now()) >= ABANDONED_MS,
    );
    for (const { callId } of due) this.#abandoned.delete(callId);
    if (due.length > 0) abandoned(due);
  }

  /** A node may die while it is cut off: nobody else would find what it was given meanwhile. */
  #watchSilent(alive: ReadonlySet<string>): void {
    const { coordinator } = this.#parts;
    const silent = coordinator.silent().map(({ nodeId }) => nodeId);
    this.#isAnyGone ||= this.#silent.some((nodeId) => !silent.includes(nodeId) && !alive.has(nodeId));
    this.#silent = silent;
    // Who does not answer is not among them for long.
    for (const nodeId of silent) void isAnswering(coordinator, nodeId, PROBE_MS);
  }

  /**
   * Calls that have ended and are yet to be hung up, or priced, of nodes that have just gone: once by the store alone, for those that nobody has seen go. Who
   * takes one over claims it, so that one node asks the carrier. Where two do, as after a split, they ask twice what changes nothing: a leg that is gone is
   * hung up, and a price is what it is.
   */
  async #unfinished(alive: ReadonlySet<string>): Promise<CallRecord[]> {
    const isGone = (nodeId: string) => !alive.has(nodeId) && (this.#isNew || this.#nodes.has(nodeId));
    const isAnyGone = this.#isNew || [...this.#nodes].some(isGone);
    const pending = isAnyGone ? await this.#pending(isGone) : [];
    const suspected = pending.some(({ callId }) => !this.#suspects.has(callId));
    this.#isAnyGone ||= isAnyGone;
    // Looked at once more.
    this.#nodes = suspected ? new Set([...this.#nodes, ...alive]) : new Set(alive);
    this.#isNew &&= suspected;
    return pending;
  }

  async #pending(isGone: (nodeId: string) => boolean): Promise<CallRecord[]> {
    const { calls } = await this.#parts.store().list({ limit: MAX_ENDED, status: 'completed' });
    return calls.filter((record) => isGone(record.nodeId) && this.#parts.hasPending(record));
  }
}
