// The processes that feed a dashboard: when each was heard from last, and how much that is active it may have here.
import type { Clock } from '../base/clock.js';

/** A process that is silent for so long is taken for dead, in milliseconds. Senders give a sign of life every ten seconds. */
export const LOST_AFTER_MS = 45_000;

/** Bounds of what may be active here, of one process and of all, and of the number of processes. */
export interface SenderBounds {
  /** Processes without active calls that are remembered. */
  senders: number;
  activeCalls: number;
  /** JSON characters of the facts of active calls: of one call, of all calls of a process, and of all. */
  callLength: number;
  activeLength: number;
  /** Of all processes together: who has the token may name as many as they like. */
  totalCalls: number;
  totalLength: number;
}

const BOUNDS: SenderBounds = {
  senders: 256,
  activeCalls: 2000,
  callLength: 8 * 1024 * 1024,
  activeLength: 64 * 1024 * 1024,
  totalCalls: 10_000,
  totalLength: 256 * 1024 * 1024,
};

interface Sender {
  heardAt: number;
  heardAtWall: number;
  /** Length of what is here of its active calls, by call. */
  readonly active: Map<string, number>;
  activeLength: number;
}

/** Processes by their id. Of those without active calls the one that was silent the longest is forgotten first. */
export class Senders {
  readonly #clock: Clock;
  readonly #bounds: SenderBounds;
  readonly #senders = new Map<string, Sender>();
  readonly #started: Pick<Sender, 'heardAt' | 'heardAtWall'>;
  readonly #total = { calls: 0, length: 0 };

  constructor(clock: Clock, bounds: Partial<SenderBounds> = {}) {
    this.#clock = clock;
    this.#bounds = { ...BOUNDS, ...bounds };
    this.#started = { heardAt: clock.now(), heardAtWall: clock.wallNow() };
  }

  /** Processes that are remembered. */
  get count(): number {
    return this.#senders.size;
  }

  /** A sign of life. */
  hear(nodeId: string): void {
    const sender = this.#find(nodeId);
    sender.heardAt = this.#clock.now();
    sender.heardAtWall = this.#clock.wallNow();
    this.#senders.delete(nodeId);
    this.#senders.set(nodeId, sender);
  }

  /**
   * How long a process has been silent, and since when (epoch milliseconds); null while it counts as alive. One that never spoke may
   * have spoken to the dashboard that was here before: it has as long as all others from our start on.
   */
  silence(nodeId: string): { forMs: number; since: number } | null {
    const { heardAt, heardAtWall } = this.#senders.get(nodeId) ?? this.#started;
    const forMs = this.#clock.now() - heardAt;
    return forMs < LOST_AFTER_MS ? null : { forMs, since: heardAtWall };
  }

  /** Counts a fact of an active call. False when too much is active, of the process or of all: the fact is then not to be taken. */
  charge(nodeId: string, callId: string, length: number): boolean {
    const sender = this.#find(nodeId);
    const before = sender.active.get(callId);
    const { activeCalls, callLength, activeLength, totalCalls, totalLength } = this.#bounds;
    const isNew = before === undefined;
    if (isNew && (sender.active.size >= activeCalls || this.#total.calls >= totalCalls)) return false;
    if ((before ?? 0) + length > callLength || sender.activeLength + length > activeLength) return false;
    if (this.#total.length + length > totalLength) return false;
    sender.active.set(callId, (before ?? 0) + length);
    sender.activeLength += length;
    this.#total.length += length;
    if (isNew) this.#total.calls += 1;
    return true;
  }

  /** Another process has taken a call over: it counts there, however much is active there already. */
  move(callId: string, { from, to }: { from: string; to: string }): void {
    const length = this.#senders.get(from)?.active.get(callId);
    if (length === undefined) return;
    this.release(from, callId);
    const sender = this.#find(to);
    sender.active.set(callId, length);
    sender.activeLength += length;
    this.#total.length += length;
    this.#total.calls += 1;
  }

  /** A call is over: it counts no more. */
  release(nodeId: string, callId: string): void {
    const sender = this.#senders.get(nodeId);
    const length = sender?.active.get(callId);
    if (sender === undefined || length === undefined) return;
    sender.active.delete(callId);
    sender.activeLength -= length;
    this.#total.length -= length;
    this.#total.calls -= 1;
  }

  #find(nodeId: string): Sender {
    const known = this.#senders.get(nodeId);
    if (known !== undefined) return known;
    const sender: Sender = { ...this.#started, active: new Map(), activeLength: 0 };
    this.#senders.set(nodeId, sender);
    if (this.#senders.size > this.#bounds.senders) this.#forgetIdle(nodeId);
    return sender;
  }

  /** What is counted of active calls must not be forgotten while they are here. */
  #forgetIdle(newest: string): void {
    for (const [nodeId, { active }] of this.#senders) {
      if (active.size > 0 || nodeId === newest) continue;
      this.#senders.delete(nodeId);
      return;
    }
  }
}
