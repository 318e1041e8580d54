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

/** A provider that has used up the wait is found by then. */
const LATE_MS = 1000;

/** What is left to the voice of an answer that comes late. */
const VOICE_MS = 400;

/** How long the caller can be kept waiting, and has been. */
export interface CallersPatience extends Patience {
  /** Milliseconds since when they hear nothing, without what the application took; 0 while nobody waits. */
  waitedMs(): number;
}

/** One per call. Times are those of the clock. */
export class CallerWait implements CallersPatience {
  readonly #clock: Pick<Clock, 'now'>;
  #limitMs = WAIT_LIMIT_MS;
  #since: number | undefined;
  /** The same without what was excused. */
  #silentSince = 0;
  /** What the caller waits longer, because there would not have been time for an answer. */
  #moreMs = 0;
  #soundsUntil = Number.NEGATIVE_INFINITY;
  #grantedUntil = Number.NEGATIVE_INFINITY;
  #hasWords = false;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Until there has to be something to say, so that there is time to say it. Nobody waits for that while there is. */
  readonly thinking: CallersPatience = {
    waitedMs: () => this.waitedMs(),
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
    if (this.#since === undefined || this.leftMs() <= 0) {
      this.#since = this.#silentSince = since;
      this.#moreMs = 0;
    }
    this.#moreMs += Math.max(0, minMs - this.leftMs());
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

  /** True while a provider may be what the caller waits for. A wait that is long over was for nothing, or for the application. */
  get isOn(): boolean {
    return this.#since !== undefined && this.leftMs() > -LATE_MS;
  }

  /** The voice has words that the caller has not heard. */
  hasWords(has: boolean): void {
    this.#hasWords = has;
  }

  /** How long the caller has heard nothing while they wait, whoever took the time, in milliseconds. */
  silentMs(): number {
    if (this.#since === undefined) return 0;
    return Math.max(0, this.#clock.now() - Math.max(this.#silentSince, this.#soundsUntil));
  }

  /** When all the sound that there is for the caller will have been heard, on the clock. */
  get soundsUntil(): number {
    return this.#soundsUntil;
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
    const silentSince = Math.max(this.#since + this.#moreMs, this.#soundsUntil);
    const excusedMs = this.#clock.now() - Math.max(silentSince, from);
    if (excusedMs > 0) this.#since = silentSince + excusedMs - this.#moreMs;
  }

  leftMs(): number {
    if (this.#since === undefined) return Number.POSITIVE_INFINITY;
    const until = Math.max(this.#since + this.#moreMs, this.#soundsUntil) + this.#limitMs;
    return Math.max(until, this.#grantedUntil) - this.#clock.now();
  }

  waitedMs(): number {
    if (this.#since === undefined) return 0;
    return Math.max(0, this.#clock.now() - Math.max(this.#since, this.#soundsUntil));
  }
}
