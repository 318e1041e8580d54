// Notices that the process stood still for so long that others may have its calls, before anything is done for one.
import type { Clock } from '../../base/clock.js';
import { LEASE_MS } from '../../cluster/coordinator.js';
import { PROBE_MS } from './call-finder.js';

/** Something wakes a process with calls at least so often: the watch of its event loop. */
const WAKE_MS = 100;
/** A loop that was late by so much may have stood still. */
const STALL_MS = 1000;
/** One that was late by so much may not have answered another node that asked whether it is there. */
const MISSED_MS = WAKE_MS + PROBE_MS;
/** What that node has done since is known here by then. */
const KNOWN_MS = 3000;

export interface StallWatchParts {
  readonly clock: Clock;
  /** Until when others take this node for alive, on the clock. */
  leasedUntil(): number;
  /** It stood still, and its lease is over. */
  stalled(): void;
}

export class StallWatch {
  readonly #parts: StallWatchParts;
  #wokenAt: number;
  #missedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: StallWatchParts) {
    this.#parts = parts;
    this.#wokenAt = parts.clock.now();
  }

  /** To be asked by whatever wakes the process, each of its timers among them: one look at the clock. */
  notice(): void {
    const now = this.#parts.clock.now();
    const before = this.#wokenAt;
    this.#wokenAt = now;
    if (now - before >= MISSED_MS) this.#missedAt = now;
    if (now - before >= STALL_MS) this.#late(before, now);
  }

  /** True right after this process stood still for so long that another one may have taken it for gone. */
  get hasStoodStill(): boolean {
    return this.#parts.clock.now() - this.#missedAt < KNOWN_MS;
  }

  #late(before: number, now: number): void {
    const until = this.#parts.leasedUntil();
    if (until > now) return;
    // Without a broker nobody has a lease, and a short stall is no death.
    if (until > before || now - before >= LEASE_MS) this.#parts.stalled();
  }
}
