// A memory that forgets: each entry after a time, and the oldest first when there are too many.
import type { Clock } from '../../base/clock.js';
import { Oldest } from '../../base/oldest.js';

export interface TimedMapOptions<T> {
  readonly keepMs: number;
  readonly maxEntries: number;
  /** Such an entry is not forgotten: it is young again when its time comes. @default none */
  readonly isNeeded?: (value: T) => boolean;
}

export class TimedMap<T> {
  readonly #clock: Clock;
  readonly #options: TimedMapOptions<T>;
  /** Oldest first. */
  readonly #entries = new Map<string, { value: T; until: number }>();
  readonly #oldest = new Oldest(this.#entries);

  constructor(clock: Clock, options: TimedMapOptions<T>) {
    this.#clock = clock;
    this.#options = options;
  }

  /** A key that is set again is young again. */
  set(key: string, value: T): void {
    this.#put(key, value);
    const now = this.#clock.now();
    // Each is looked at once: those that are needed go to the end.
    for (let left = this.#entries.size; left > 0; left -= 1) {
      const oldest = this.#oldest.find();
      if (oldest === undefined) return;
      const [name, entry] = oldest;
      if (entry.until > now && this.#entries.size <= this.#options.maxEntries) return;
      this.#entries.delete(name);
      if (this.#isNeeded(entry.value)) this.#put(name, entry.value);
    }
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    return entry.until > this.#clock.now() || this.#isNeeded(entry.value) ? entry.value : undefined;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  #put(key: string, value: T): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: this.#clock.now() + this.#options.keepMs });
  }

  #isNeeded(value: T): boolean {
    return this.#options.isNeeded?.(value) ?? false;
  }
}
