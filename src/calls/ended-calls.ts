// Remembers for a while which calls are over, so that a late webhook or stream cannot wake them and late facts find their record.
import type { Clock } from '../base/clock.js';
import { TimedMap } from './timed-map.js';

/** How long a call is remembered, in milliseconds: carriers repeat webhooks for minutes, not hours. */
const MEMORY_MS = 2 * 60 * 60 * 1000;
/** Ids that are remembered at most; the oldest leave first. */
const MAX_IDS = 50_000;

/** `T` is what is left of a call. */
export class EndedCalls<T> {
  readonly #calls: TimedMap<T>;

  constructor(clock: Clock, options: { maxIds?: number } = {}) {
    this.#calls = new TimedMap(clock, { keepMs: MEMORY_MS, maxEntries: options.maxIds ?? MAX_IDS });
  }

  /** Takes ours and the carrier's id of a call. */
  add(call: T, ...ids: (string | null)[]): void {
    for (const id of ids) if (id !== null) this.#calls.set(id, call);
  }

  has(id: string): boolean {
    return this.#calls.get(id) !== undefined;
  }

  get(id: string): T | undefined {
    return this.#calls.get(id);
  }
}
