// How long the caller hears nothing while something is owed to them. Whatever waits for a provider asks here, so that several that hang
// in one turn keep the caller no longer than one.
import type { Clock } from '../base/clock.js';
import type { Patience } from '../providers/patience.js';

/** Callers ask whether anybody is there after some five seconds, and a carrier needs a moment to begin to say sorry. */
export const WAIT_LIMIT_MS = 4600;

/** The same where another voice mode can answer, which needs some of the time. */
export const REPLACEABLE_WAIT_MS = 3100;

/** What an engine has in any case that takes over from one that kept the caller waiting. */
export const MIN_TAKEN_OVER_MS = 1500;

/** What an answer has in any case, however long the caller has waited for their own words to be recognised. */
export const MIN_ANSWER_MS = 1200;

/** What is left to the voice of an answer that comes late. */
const VOICE_MS = 400;

/** One per call. Times are those of the clock. */
export class CallerWait implements Patience {
  readonly #clock: Pick<Clock, 'now'>;
  #limitMs = WAIT_LIMIT_MS;
  #since: number | undefined;
  #soundsUntil = Number.NEGATIVE_INFINITY;
  #grantedUntil = Number.NEGATIVE_INFINITY;
  #hasWords = false;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Until there has to be something to say, so that there is time to say it. Nobody waits for that while there is. */
  readonly thinking: Patience = {
    leftMs: () => {
      const isVoiceLate = this.#hasWords && this.#soundsUntil <= this.#clock.now();
      return isVoiceLate ? Number.POSITIVE_INFINITY : this.leftMs() - VOICE_MS;
    },
  };

  /** Another voice mode can take this one's place. */
  replaceable(): void {
    this.#limitMs = REPLACEABLE_WAIT_MS;
  }

  /** An engine that failed has kept the caller waiting before this one. */
  takeOver(waitedMs: number): void {
    this.#grantedUntil = this.#clock.now() + MIN_TAKEN_OVER_MS;
    this.begin(this.#clock.now() - waitedMs);
  }

  /**
   * The caller waits since then, unless they did so already. A wait that is long over was for nothing, like that for the words of a
   * cough. `minMs` of it are left in any case.
   */
  begin(since: number, minMs = 0): void {
    if (this.#since === undefined || this.leftMs() <= 0) this.#since = since;
    this.#since += Math.max(0, minMs - this.leftMs());
  }

  /** The caller has been answered, or makes a sound. */
  end(): void {
    this.#since = undefined;
    this.#hasWords = false;
  }

  /** An engine that has just begun goes on with the wait that one before it has left. */
  get isTakenOver(): boolean {
    return this.#grantedUntil > this.#clock.now();
  }

  get isOn(): boolean {
    return this.#since !== undefined;
  }

  /** The voice has words that the caller has not heard. */
  hasWords(has: boolean): void {
    this.#hasWords = has;
  }

  /** There is sound for the caller until then. */
  sounds(until: number): void {
    this.#soundsUntil = until;
  }

  /** There is no sound any more. */
  silenced(): void {
    this.#soundsUntil = Math.min(this.#soundsUntil, this.#clock.now());
  }

  /** What the application, or its tools, took since `from` is not the providers' time. */
  excuse(from: number): void {
    if (this.#since === undefined) return;
    const silentSince = Math.max(this.#since, this.#soundsUntil);
    const excusedMs = this.#clock.now() - Math.max(silentSince, from);
    if (excusedMs > 0) this.#since = silentSince + excusedMs;
  }

  leftMs(): number {
    if (this.#since === undefined) return Number.POSITIVE_INFINITY;
    const until = Math.max(this.#since, this.#soundsUntil) + this.#limitMs;
    return Math.max(until, this.#grantedUntil) - this.#clock.now();
  }
}
