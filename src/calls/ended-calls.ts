// Remembers for a while which calls are over, so that a late webhook or stream cannot wake them.
import type { Clock } from '../base/clock.js';

/** How long a call is remembered, in milliseconds: carriers repeat webhooks for minutes, not hours. */
const MEMORY_MS = 2 * 60 * 60 * 1000;
/** Ids that are remembered at most; the oldest leave first. */
const MAX_IDS = 50_000;

export class EndedCalls {
  readonly #clock: Clock;
  readonly #maxIds: number;
  /** When each id may be forgotten, oldest first. */
  readonly #until = new Map<string, number>();

  constructor(clock: Clock, options: { maxIds?: number } = {}) {
    this.#clock = clock;
    this.#maxIds = options.maxIds ?? MAX_IDS;
  }

  /** Takes ours and the carrier's id of a call. */
  add(...ids: (string | null)[]): void {
    for (const id of ids) {
      if (id === null) continue;
      this.#until.delete(id);
      this.#until.set(id, this.#clock.now() + MEMORY_MS);
    }
    this.#forget();
  }

  has(id: string): boolean {
    const until = this.#until.get(id);
    return until !== undefined && until > this.#clock.now();
  }

  #forget(): void {
    for (const [id, until] of this.#until) {
      if (until > this.#clock.now() && this.#until.size <= this.#maxIds) return;
      this.#until.delete(id);
    }
  }
}
