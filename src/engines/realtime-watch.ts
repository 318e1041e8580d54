// What a realtime model owes: a connection, an answer that has not begun, or the rest of one that has. It must show a sign of life
// every few seconds; a silent one leaves the caller with a dead line.
import type { Clock, Timer } from '../base/clock.js';
import { REPLACEABLE_WAIT_MS } from './caller-wait.js';

export interface RealtimeWatchOptions {
  readonly clock: Clock;
  /** An answer has not begun. It may have missed that the caller has finished: ask for it. Told once, then `silent`. */
  readonly late: () => void;
  readonly silent: () => void;
  /** Somebody else can answer in its place, and needs some of the time. */
  readonly isReplaceable: boolean;
  /** How long the caller had heard nothing while they waited, when this model took the call over. @default they waited for nothing */
  readonly takenOverMs?: number | undefined;
  /** How long ago the caller finished what nobody has answered, as far as the line tells. @default nobody knows */
  readonly unansweredMs?: (() => number | undefined) | undefined;
}

interface Limits {
  /** Until the first connection. */
  readonly openingMs: number;
  /** Between two signs of life. */
  readonly silentMs: number;
  /** Until a connection that was lost is back. The caller may have finished before, and the model not have said so any more. */
  readonly lostMs: number;
  /** The same in any case, where the caller has waited for long when the one before is found dead. */
  readonly minLostMs: number;
}

/** How long ago the caller's last sound mostly is when a model notices that they have finished. */
const NOTICED_MS = 500;

/**
 * Source: callers ask whether anybody is there after some five seconds. A model has to be given up before that: the carrier needs a moment
 * to say so, and an answer is owed only when the model has noticed that the caller has finished.
 */
const LAST: Limits = { openingMs: 4500, silentMs: 4000, lostMs: 3600, minLostMs: 400 };

/** So early that the one who takes its place is heard within those five seconds, or fails within them. */
const REPLACEABLE: Limits = {
  openingMs: 2000,
  silentMs: REPLACEABLE_WAIT_MS - NOTICED_MS,
  lostMs: 2500,
  minLostMs: 0,
};

/** What a model has in any case that takes over from an engine that kept the caller waiting. */
const MIN_TAKEN_OVER_MS = 1500;

/** What a new connection has for an answer, however long the caller has waited for the connection. */
const MIN_LIMIT_MS = 1200;

export class RealtimeWatch {
  readonly #options: RealtimeWatchOptions;
  readonly #limits: Limits;
  #timer: Timer | undefined;
  /** Runs while there is no connection in the place of one that was lost. */
  #lost: Timer | undefined;
  #lostSince: number | undefined;
  /** Since when there is no sign of what is owed. */
  #waitingSince: number | undefined;
  #isOwed = false;
  #isAsked = false;
  #isLate = false;
  /** How long the caller had waited already when the answer came to be owed. */
  #waitedMs = 0;
  #isReady = false;
  /** When a caller who waited before this model was there must be answered, on the clock. */
  #answerBy: number | undefined;

  constructor(options: RealtimeWatchOptions) {
    this.#options = options;
    this.#limits = options.isReplaceable ? REPLACEABLE : LAST;
  }

  /** Since when the caller waits, on the clock; undefined when they do not. */
  get waitingSince(): number | undefined {
    return this.#waitingSince;
  }

  /** Since when there is no connection, on the clock; undefined where there is one, or never was. */
  get lostSince(): number | undefined {
    return this.#lostSince;
  }

  /** An answer is to come that has not begun. */
  get isOwed(): boolean {
    return this.#isOwed;
  }

  /** A connection is being made. What is owed meanwhile counts from when there is one. */
  opening(): void {
    const { clock, silent, takenOverMs } = this.#options;
    const { openingMs } = this.#limits;
    this.#waitingSince = clock.now();
    const limitMs =
      takenOverMs === undefined ? openingMs : Math.max(MIN_TAKEN_OVER_MS, openingMs - takenOverMs);
    if (takenOverMs !== undefined) this.#answerBy = clock.now() + limitMs;
    this.#timer = clock.after(limitMs, () => silent());
  }

  /** There is a connection. */
  ready(): void {
    this.#isReady = true;
    this.#stop();
    if (this.#isOwed) this.#start();
    else this.#nobodyWaits();
  }

  /** The connection is gone since `agoMs`, and another one is being made. */
  lost(agoMs = 0): void {
    const { clock, silent, unansweredMs } = this.#options;
    this.#waitingSince ??= clock.now() - agoMs;
    this.#lostSince ??= clock.now();
    this.#lost?.cancel();
    const { lostMs, minLostMs } = this.#limits;
    // A model that was there long enough behind the caller's sound, and owed nothing, had nothing to say to that.
    const unnoticedMs = this.#isOwed ? Number.POSITIVE_INFINITY : agoMs + NOTICED_MS;
    const leftMs = REPLACEABLE_WAIT_MS - Math.min(unnoticedMs, unansweredMs?.() ?? 0);
    const limitMs = unansweredMs === undefined ? lostMs : Math.min(lostMs, Math.max(minLostMs, leftMs));
    this.#lost = clock.after(limitMs, () => silent());
  }

  /** There is another connection. */
  back(): void {
    this.#lost?.cancel();
    this.#lostSince = undefined;
    // Whoever is asked on it is asked for the first time.
    this.#isLate = false;
    this.#isAsked = false;
    if (this.#timer === undefined) this.#waitingSince = undefined;
  }

  /** An answer is to come: one that we have asked for, or that the model gives by itself. The caller may have waited for a while. */
  owes({ isAsked, waitedMs = 0 }: { isAsked: boolean; waitedMs?: number }): void {
    if (!this.#isOwed) this.#waitingSince ??= this.#options.clock.now();
    if (!this.#isLate) this.#waitedMs = waitedMs;
    this.#isOwed = true;
    this.#isAsked ||= isAsked;
    this.#start();
  }

  /** The caller has finished, `agoMs` ago, and the model answers by itself. */
  owesCaller(agoMs: number): void {
    this.owes({ isAsked: false, waitedMs: Math.max(0, agoMs - NOTICED_MS) });
  }

  /** The answer has begun. */
  began(): void {
    this.#isOwed = false;
    this.#isAsked = false;
    this.#isLate = false;
    this.#answerBy = undefined;
    this.#waitingSince = this.#options.clock.now();
    this.#start();
  }

  /** A sign of life. */
  alive(): void {
    if (!this.#isReady || this.#timer === undefined) return;
    this.#waitingSince = this.#options.clock.now();
    this.#start();
  }

  /** What had begun is complete. */
  ended(): void {
    if (!this.#isOwed) this.rest();
  }

  /** Nothing is owed any more. */
  rest(): void {
    this.#isOwed = false;
    this.#isAsked = false;
    this.#isLate = false;
    this.#answerBy = undefined;
    if (!this.#isReady) return;
    this.#nobodyWaits();
    this.#stop();
  }

  /** Idempotent. */
  close(): void {
    this.#stop();
    this.#lost?.cancel();
  }

  #nobodyWaits(): void {
    this.#answerBy = undefined;
    this.#waitingSince = undefined;
  }

  /** Half of the time for an answer that may have to be asked for, the other half when it was. */
  #start(): void {
    if (!this.#isReady) return;
    this.#stop();
    const isUnasked = this.#isOwed && !this.#isAsked;
    const leftMs = isUnasked ? this.#limitMs / 2 : this.#limitMs;
    this.#timer = this.#options.clock.after(leftMs, () => this.#ring());
  }

  get #limitMs(): number {
    if (this.#answerBy !== undefined) return Math.max(0, this.#answerBy - this.#options.clock.now());
    const waitedMs = this.#isOwed ? this.#waitedMs : 0;
    const limitMs = Math.max(MIN_LIMIT_MS, this.#limits.silentMs - waitedMs);
    return this.#isLate ? limitMs / 2 : limitMs;
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #ring(): void {
    this.#timer = undefined;
    const { late, silent } = this.#options;
    if (!this.#isOwed || this.#isAsked) silent();
    else {
      this.#isLate = true;
      late();
    }
  }
}
