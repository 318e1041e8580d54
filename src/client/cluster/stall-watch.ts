// Notices that the process stood still for so long that others may have its calls, before anything is done for one.
import type { Clock, Timer } from '../../base/clock.js';
import { toNextBeat } from '../../base/pause.js';
import { LEASE_MS } from '../../cluster/coordinator.js';
import { PROBE_MS } from './call-finder.js';

const BEAT_MS = 250;
/** A loop that was late by so much may have stood still. */
const STALL_MS = 1000;
/** One that was late by so much may not have answered another node that asked whether it is there. */
const MISSED_MS = BEAT_MS + PROBE_MS;
/** What that node has done since is known here by then. */
const KNOWN_MS = 3000;

export interface StallWatchParts {
  readonly clock: Clock;
  /** How long others take this node for alive, in milliseconds; 0 also while the broker is away. */
  leaseLeftMs(): number;
  /** It stood still, and its lease is over. */
  stalled(): void;
}

export class StallWatch {
  readonly #parts: StallWatchParts;
  #beatAt: number;
  #wasLeased: boolean;
  #missedAt = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;

  constructor(parts: StallWatchParts) {
    this.#parts = parts;
    this.#beatAt = parts.clock.now();
    this.#wasLeased = parts.leaseLeftMs() > 0;
    this.#await();
  }

  /** To be asked by whatever wakes the process: one look at the clock. */
  notice(): void {
    const now = this.#parts.clock.now();
    const lateMs = now - this.#beatAt;
    if (lateMs >= MISSED_MS) this.#missedAt = now;
    if (lateMs >= STALL_MS) this.#late(now, lateMs);
  }

  /** True right after this process stood still for so long that another one may have taken it for gone. */
  get hasStoodStill(): boolean {
    return this.#parts.clock.now() - this.#missedAt < KNOWN_MS;
  }

  /** Idempotent. */
  close(): void {
    this.#timer?.cancel();
  }

  #await(): void {
    const { clock } = this.#parts;
    this.#timer = clock.after(toNextBeat(clock, BEAT_MS), () => {
      this.notice();
      this.#beatAt = this.#parts.clock.now();
      this.#wasLeased = this.#parts.leaseLeftMs() > 0;
      this.#await();
    });
  }

  #late(now: number, lateMs: number): void {
    this.#beatAt = now;
    const isLeased = this.#parts.leaseLeftMs() > 0;
    const hasRunOut = this.#wasLeased && !isLeased;
    this.#wasLeased = isLeased;
    // Without a broker nobody has a lease, and a short stall is no death.
    if (hasRunOut || (!isLeased && lateMs >= LEASE_MS)) this.#parts.stalled();
  }
}
