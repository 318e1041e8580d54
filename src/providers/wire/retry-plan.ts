// When to try again, and when to stop trying. A caller waits meanwhile, so the whole of it takes a few seconds.
import type { Clock } from '../../base/clock.js';
import type { WireFailure } from './failure.js';

/** Pauses before the second and third try. */
const TRANSIENT_PAUSES_MS = [100, 500];
const THROTTLED_PAUSES_MS = [250, 500, 1000];

/** The same of a plan that persists: the last of them again and again. */
const PERSISTING_PAUSES_MS = { transient: [100, 250, 500, 750], throttled: THROTTLED_PAUSES_MS };

const SHORTEST_PAUSE_MS = 50;

/** A plan that persists begins its last try with so much of its time left. */
const LAST_TRY_MS = 500;

/** No try starts, or goes on, for longer than this after the trouble began. */
const WINDOW_MS = 4000;

/** A vendor that wants a longer pause than this is given up. */
export const LONGEST_RETRY_AFTER_MS = 1500;

/** Pauses are stretched or shortened by up to a quarter, so that calls which fail together do not come back together. */
const JITTER = 0.25;

export interface RetryPlanOptions {
  readonly clock: Clock;
  /** When the trouble began, on the clock. @default the first failure */
  readonly startedAt?: number;
  /** Tries after a vendor has said that it is asked for too much. @default 3 */
  readonly throttledTries?: number;
  /** True while nobody else can be asked: tries go on, with growing pauses, for as long as there is time. @default never */
  readonly persists?: (() => boolean) | undefined;
}

/** One plan for one trouble, from the first failure to success or the end. */
export class RetryPlan {
  readonly #clock: Clock;
  readonly #throttledPauses: readonly number[];
  readonly #persists: () => boolean;
  #startedAt: number | undefined;
  #transient = 0;
  #throttled = 0;

  constructor(options: RetryPlanOptions) {
    const { clock, startedAt, throttledTries = THROTTLED_PAUSES_MS.length, persists = () => false } = options;
    this.#clock = clock;
    this.#startedAt = startedAt;
    this.#persists = persists;
    this.#throttledPauses = THROTTLED_PAUSES_MS.slice(0, throttledTries);
  }

  /** How long a try may take that begins now, in milliseconds. */
  get leftMs(): number {
    const now = this.#clock.now();
    return Math.max(0, WINDOW_MS - (now - (this.#startedAt ?? now)));
  }

  /** How long to wait before the next try, in milliseconds; null when there is to be none. */
  next(failure: WireFailure): number | null {
    const now = this.#clock.now();
    this.#startedAt ??= now;
    const persists = this.#persists();
    const pause = this.#pause(failure, persists);
    if (pause === undefined) return null;
    const jittered = pause * (1 + (Math.random() * 2 - 1) * JITTER);
    const wantedMs = failure.retryAfterMs ?? 0;
    const delayMs = Math.max(jittered, wantedMs);
    if (!persists) return now - this.#startedAt + delayMs > WINDOW_MS ? null : delayMs;
    const lastMs = this.leftMs - LAST_TRY_MS;
    if (delayMs <= lastMs) return delayMs;
    return lastMs >= Math.max(SHORTEST_PAUSE_MS, wantedMs) ? lastMs : null;
  }

  #pause({ kind, retryAfterMs }: WireFailure, persists: boolean): number | undefined {
    if (kind === 'fatal') return undefined;
    if (!persists && (retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS) return undefined;
    const tries = kind === 'throttled' ? this.#throttled++ : this.#transient++;
    if (!persists) return (kind === 'throttled' ? this.#throttledPauses : TRANSIENT_PAUSES_MS)[tries];
    const pauses = PERSISTING_PAUSES_MS[kind];
    return pauses[Math.min(tries, pauses.length - 1)];
  }
}
