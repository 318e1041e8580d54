// A memory that forgets: each entry after a time, and the oldest first when there are too many.
import type { Clock } from '../../base/clock.js';
import { Oldest } from '../../base/oldest.js';

export interface TimedMapOptions<K, V> {
  readonly keepMs: number;
  readonly maxEntries: number;
  /** Such an entry is not forgotten: it is young again when its time comes. @default none */
  readonly isNeeded?: (value: V) => boolean;
  /** The entry was forgotten. */
  readonly forgotten?: (key: K) => void;
}

export class TimedMap<K, V> {
  readonly #clock: Clock;
  readonly #options: TimedMapOptions<K, V>;
  /** Oldest first. */
  readonly #entries = new Map<K, { value: V; until: number }>();
  readonly #oldest = new Oldest(this.#entries);

  constructor(clock: Clock, options: TimedMapOptions<K, V>) {
    this.#clock = clock;
    this.#options = options;
  }

  /** A key that is set again is young again. */
  set(key: K, value: V): void {
    this.#put(key, value);
    this.#forget();
  }

  /** How many are remembered. */
  get size(): number {
    this.#forget();
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    return entry.until > this.#clock.now() || this.#isNeeded(entry.value) ? entry.value : undefined;
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  #forget(): void {
    const now = this.#clock.now();
    // Each is looked at once: those that are needed go to the end.
    for (let left = this.#entries.size; left > 0; left -= 1) {
      const oldest = this.#oldest.find();
      if (oldest === undefined) return;
      const [name, entry] = oldest;
      if (entry.until > now && this.#entries.size <= this.#options.maxEntries) return;
      this.#entries.delete(name);
      if (this.#isNeeded(entry.value)) this.#put(name, entry.value);
      else this.#options.forgotten?.(name);
    }
  }

  #put(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: this.#clock.now() + this.#options.keepMs });
  }

  #isNeeded(value: V): boolean {
    return this.#options.isNeeded?.(value) ?? false;
  }
}
