// Calls that were told to open a stream and have not yet: each holds a place, or a burst of calls would all find room.
import type { Clock } from '../base/clock.js';
import { Oldest } from '../base/oldest.js';

/** A carrier opens the stream within a second or two. Who has not by then has gone, and the place is free again. */
const PROMISE_MS = 10_000;

/** Promises by call. Memory is bounded by the calls that ring within ten seconds. */
export class PromisedCalls {
  readonly #clock: Clock;
  /** Insertion order is age. */
  readonly #promises = new Map<string, { at: number }>();
  readonly #oldest = new Oldest(this.#promises);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(callId: string): void {
    this.#promises.delete(callId);
    this.#promises.set(callId, { at: this.#clock.now() });
    this.#forgetStale();
  }

  /** How many are still open: neither settled, which is for the caller to say, nor too old. */
  count(isSettled: (callId: string) => boolean): number {
    this.#forgetStale();
    for (const callId of this.#promises.keys()) {
      if (isSettled(callId)) this.#promises.delete(callId);
    }
    return this.#promises.size;
  }

  #forgetStale(): void {
    const limit = this.#clock.now() - PROMISE_MS;
    for (let oldest = this.#oldest.find(); oldest !== undefined; oldest = this.#oldest.find()) {
      const [callId, { at }] = oldest;
      if (at > limit) return;
      this.#promises.delete(callId);
    }
  }
}
