// A memory that forgets: each entry after a time, and the oldest first when there are too many.
import type { Clock } from '../base/clock.js';

export class TimedMap<T> {
  readonly #clock: Clock;
  readonly #options: { readonly keepMs: number; readonly maxEntries: number };
  /** Oldest first. */
  readonly #entries = new Map<string, { value: T; until: number }>();

  constructor(clock: Clock, options: { keepMs: number; maxEntries: number }) {
    this.#clock = clock;
    this.#options = options;
  }

  /** A key that is set again is young again. */
  set(key: string, value: T): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: this.#clock.now() + this.#options.keepMs });
    for (const [oldest, { until }] of this.#entries) {
      if (until > this.#clock.now() && this.#entries.size <= this.#options.maxEntries) return;
      this.#entries.delete(oldest);
    }
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.until > this.#clock.now() ? entry.value : undefined;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
