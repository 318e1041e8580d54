// Counts wrong tokens by address, and closes the door for a while to who shows too many.
import type { Clock } from '../base/clock.js';
import { neighborhoodOf } from '../base/network-address.js';

const MAX_FAILURES = 10;
/** An address that has shown no wrong token for so long begins anew. */
const MEMORY_MS = 60_000;
const CLOSED_MS = 15_000;
const MAX_ADDRESSES = 10_000;

interface Failures {
  failures: number;
  failedAt: number;
}

/** Ten wrong tokens from one address (IPv6: its /64) close it for some seconds, and so does each one that follows. */
export class AttemptLimit {
  readonly #clock: Clock;
  readonly #records = new Map<string, Failures>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** For how long no token of the address is looked at, in milliseconds; 0 while one is. */
  closedMs(address: string): number {
    const record = this.#records.get(neighborhoodOf(address));
    if (record === undefined || record.failures < MAX_FAILURES) return 0;
    return Math.max(0, record.failedAt + CLOSED_MS - this.#clock.now());
  }

  /** Counts a wrong token. */
  fail(address: string): void {
    const key = neighborhoodOf(address);
    const now = this.#clock.now();
    const known = this.#records.get(key);
    const failures = known === undefined || now - known.failedAt >= MEMORY_MS ? 0 : known.failures;
    this.#records.delete(key);
    this.#records.set(key, { failures: failures + 1, failedAt: now });
    if (this.#records.size <= MAX_ADDRESSES) return;
    const oldest = this.#records.keys().next();
    if (!oldest.done) this.#records.delete(oldest.value);
  }
}
