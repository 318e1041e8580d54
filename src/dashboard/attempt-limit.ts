// Counts wrong tokens by address. It never hears of right ones, so it can never refuse one.
import { isIPv6 } from 'node:net';
import type { Clock } from '../base/clock.js';

const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 10_000;

interface Window {
  startedAt: number;
  failures: number;
}

/** At most ten wrong tokens a minute from one address; an IPv6 neighbourhood (/64) is one address. */
export class AttemptLimit {
  readonly #clock: Clock;
  readonly #windows = new Map<string, Window>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a wrong token. True when the address has used up its attempts. */
  fail(address: string): boolean {
    const key = neighbourhood(address);
    const now = this.#clock.now();
    const known = this.#windows.get(key);
    const window =
      known === undefined || now - known.startedAt >= WINDOW_MS ? { startedAt: now, failures: 0 } : known;
    window.failures += 1;
    this.#windows.delete(key);
    this.#windows.set(key, window);
    this.#forgetOldest();
    return window.failures > MAX_FAILURES;
  }

  #forgetOldest(): void {
    if (this.#windows.size <= MAX_ADDRESSES) return;
    const oldest = this.#windows.keys().next();
    if (!oldest.done) this.#windows.delete(oldest.value);
  }
}

function neighbourhood(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length);
  return [...groups, ...Array<string>(zeros).fill('0'), ...rest].slice(0, 4).join(':');
}
