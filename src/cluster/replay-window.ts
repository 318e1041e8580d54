// Which messages of each sender have come: none acts twice, whatever the clocks of the two say.

/** How far behind its newest a message may come. One bit each. */
const WINDOW = 1024n;
/** Senders that are remembered: all nodes, and those of many restarts. */
const MAX_SENDERS = 10_000;

interface Seen {
  newest: bigint;
  /** Bit n: the message n before the newest has come. */
  bits: bigint;
}

const FULL = (1n << WINDOW) - 1n;

/** Source: the anti-replay window of RFC 4303, section 3.4.3. */
export class ReplayWindow {
  readonly #seen = new Map<string, Seen>();

  /** True for a number that comes for the first time, and not too late to tell. */
  take(sender: string, number: number): boolean {
    const at = BigInt(number);
    const seen = this.#seen.get(sender) ?? { newest: -1n, bits: 0n };
    const behind = seen.newest - at;
    if (behind >= WINDOW) return false;
    if (behind >= 0n) {
      const bit = 1n << behind;
      if ((seen.bits & bit) !== 0n) return false;
      seen.bits |= bit;
      return true;
    }
    seen.bits = ((seen.bits << -behind) | 1n) & FULL;
    seen.newest = at;
    this.#remember(sender, seen);
    return true;
  }

  /** Who has not written for the longest time is forgotten first. */
  #remember(sender: string, seen: Seen): void {
    this.#seen.delete(sender);
    this.#seen.set(sender, seen);
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= MAX_SENDERS) return;
      this.#seen.delete(oldest);
    }
  }
}
