// Remembers for a while which calls are over, so that a late webhook or stream cannot wake them and late facts find their record.
import type { Clock } from '../../base/clock.js';
import { RecentIds } from '../facts/recent-ids.js';
import { TimedMap } from '../facts/timed-map.js';

/** How long a call is remembered at most, in milliseconds: carriers repeat webhooks for minutes, not hours. */
const MEMORY_MS = 2 * 60 * 60 * 1000;
/** Ids that are remembered at most; the oldest leave first. */
const MAX_IDS = 50_000;
/** Ids of the calls whose late facts are taken: as many calls as a store keeps, each by our id and the carrier's. */
const MAX_LATE_IDS = 1000;

/** `T` is what is left of a call. */
export class EndedCalls<T extends { readonly isTakingLeave: boolean }> {
  readonly #calls: TimedMap<T>;
  readonly #ids: RecentIds;

  constructor(clock: Clock, options: { maxIds?: number; maxLateIds?: number } = {}) {
    const { maxIds = MAX_IDS, maxLateIds = MAX_LATE_IDS } = options;
    this.#calls = new TimedMap(clock, {
      keepMs: MEMORY_MS,
      maxEntries: maxLateIds,
      isNeeded: ({ isTakingLeave }) => isTakingLeave,
    });
    this.#ids = new RecentIds(clock, { keepMs: MEMORY_MS, maxIds });
  }

  /** Takes ours and the carrier's id of a call. */
  add(call: T, ...ids: (string | null)[]): void {
    for (const id of ids) {
      if (id === null) continue;
      this.#calls.set(id, call);
      this.#ids.add(id);
    }
  }

  has(id: string): boolean {
    return this.#ids.has(id) || this.get(id) !== undefined;
  }

  /** Undefined also for a call of which only this is known, that it is over. */
  get(id: string): T | undefined {
    return this.#calls.get(id);
  }
}
