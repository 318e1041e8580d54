// How long the caller hears nothing while something is owed to them. Whatever waits for a provider asks here, so that several that hang
// in one turn keep the caller no longer than one.
import type { Clock } from '../base/clock.js';
import type { Patience } from '../providers/patience.js';

/** Callers ask whether anybody is there after some five seconds, and a carrier needs a moment to begin to say sorry. */
export const WAIT_LIMIT_MS = 4600;

/** The same where another voice mode can answer: it has what an answer has in any case, and a moment to be begun. */
export const REPLACEABLE_WAIT_MS = 2950;

/**
 * What an answer has in any case until its first words, however long the caller has waited for their own words to be recognised. A model
 * that works mostly begins within 1.5 s. Where the words came after three seconds, this is all that is left of the limit: the voice is then
 * not asked to say sorry any more, the carrier is.
 */
const MIN_ANSWER_MS = 1600;

/** The same behind an engine that hung, and was given up late. What hangs next takes no more. */
const MIN_TAKEN_OVER_MS = 1250;

/** The same where another voice mode can answer. */
const MIN_REPLACEABLE_ANSWER_MS = 800;

/** A provider that has used up the wait is found by then. */
const LATE_MS = 1000;

/** What is left to the voice: to say sorry for a model that hangs, or for words that came at the last moment. */
const VOICE_MS = 400;

/** How long the caller can be kept waiting, and has been. */
export interface CallersPatience extends Patience {
  /** Milliseconds since when they hear nothing, without what the application took; 0 while nobody waits. */
  waitedMs(): number;
}

/**
 * One per call. Times are those of the clock. A wait goes on until it is ended, so who stops owing anything ends it: what is owed next does
 * not begin with the time of something else.
 */
export class CallerWait implements CallersPatience {
  readonly #clock: Pick<Clock, 'now'>;
  #limitMs = WAIT_LIMIT_MS;
  #minAnswerMs = MIN_ANSWER_MS;
  #since: number | undefined;
  /** The same without what was excused. */
  #silentSince = 0;
  /** Since when the caller waits whom an engine before this one has kept waiting, and until when this one has just begun. */
  #takenOverSince = Number.POSITIVE_INFINITY;
  #takenOverUntil = Number.NEGATIVE_INFINITY;
  #takenOverAt = Number.NEGATIVE_INFINITY;
  /** What an answer has in any case then. */
  #minTakenOverMs = MIN_TAKEN_OVER_MS;
  /** The wait is not over before that. */
  #grantedUntil = Number.NEGATIVE_INFINITY;
  #excusedUntil = Number.NEGATIVE_INFINITY;
  #soundsUntil = Number.NEGATIVE_INFINITY;
  /** Since when the voice has words that the caller has not heard. */
  #wordsSince: number | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Until there has to be something to say, so that there is time to say it. Nobody waits for that while there is. */
  readonly thinking: CallersPatience = {
    waitedMs: () => this.waitedMs(),
    leftMs: () => {
      if (this.#isVoiceLate) return Number.POSITIVE_INFINITY;
      return Math.max(this.leftMs() - VOICE_MS, this.#grantedUntil - this.#clock.now());
    },
  };

  /** Until words have to be heard. That has an end from when the voice has them, also while a caller who makes sounds does not wait. */
  readonly voice: CallersPatience = {
    waitedMs: () => this.#silenceSince(this.#since ?? this.#wordsSince),
    leftMs: () => {
      if (this.#wordsSince === undefined) return this.leftMs();
      const now = this.#clock.now();
      const ownMs = Math.max(this.#wordsSince, this.#soundsUntil) + this.#limitMs - now;
      return Math.max(Math.min(this.leftMs(), ownMs), this.#wordsSince + VOICE_MS - now);
    },
  };

  /** Another voice mode can take this one's place. */
  replaceable(): void {
    this.#limitMs = REPLACEABLE_WAIT_MS;
    this.#minAnswerMs = MIN_REPLACEABLE_ANSWER_MS;
  }

  /** What an answer has in any case until its first words, in milliseconds. */
  get minAnswerMs(): number {
    return this.#minAnswerMs;
  }

  /** An engine that failed has kept the caller waiting before this one: what is said first belongs to the same wait. */
  takeOver(waitedMs: number): void {
    const now = this.#clock.now();
    const leftMs = Math.min(MIN_ANSWER_MS, REPLACEABLE_WAIT_MS + MIN_ANSWER_MS - waitedMs);
    this.#takenOverSince = now - waitedMs;
    this.#takenOverAt = now;
    this.#minTakenOverMs = Math.max(MIN_TAKEN_OVER_MS, leftMs);
    this.#takenOverUntil = this.#grantedUntil = now + this.#minTakenOverMs;
    this.begin(now);
  }

  /** The caller waits since then, unless they did so already. `minMs` are left in any case, or what a wait that was taken over leaves. */
  begin(since: number, minMs = 0): void {
    const silentSince = this.#since === undefined ? since : this.#silentSince;
    this.#silentSince = Math.min(since, silentSince, this.#takenOverSince);
    this.#since = Math.min(since, this.#since ?? since, this.#takenOverSince);
    const isTakenOver = this.#takenOverSince !== Number.POSITIVE_INFINITY;
    const grantedMs = isTakenOver ? Math.min(minMs, this.#minTakenOverMs) : minMs;
    this.#grantedUntil = Math.max(this.#grantedUntil, this.#clock.now() + grantedMs);
  }

  /** The caller has been answered, is owed nothing, or makes a sound. */
  end(): void {
    // What is played again of the time before is no sound that the caller makes in it.
    if (this.#clock.now() < this.#takenOverAt) return;
    this.#since = undefined;
    this.#takenOverSince = Number.POSITIVE_INFINITY;
  }

  /** An engine that has just begun goes on with the wait that one before it has left. */
  get isTakenOver(): boolean {
    return this.#takenOverUntil > this.#clock.now();
  }

  /** True while a provider may be what the caller waits for. A wait that is long over was for nothing, or for the application. */
  get isOn(): boolean {
    return this.#since !== undefined && this.leftMs() > -LATE_MS;
  }

  /** The voice has words that the caller has not heard. */
  hasWords(has: boolean): void {
    this.#wordsSince = has ? (this.#wordsSince ?? this.#clock.now()) : undefined;
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

  /** What the application, or its tools, took since `from` is not the providers' time, but where the voice is late anyhow. */
  excuse(from: number): void {
    if (this.#since === undefined || this.#isVoiceLate) return;
    const now = this.#clock.now();
    const silentSince = Math.max(this.#since, this.#soundsUntil);
    const excusedMs = now - Math.max(silentSince, from, this.#excusedUntil);
    if (excusedMs <= 0) return;
    this.#since = silentSince + excusedMs;
    this.#grantedUntil += excusedMs;
    this.#excusedUntil = now;
  }

  leftMs(): number {
    if (this.#since === undefined) return Number.POSITIVE_INFINITY;
    const until = Math.max(this.#since, this.#soundsUntil) + this.#limitMs;
    return Math.max(until, this.#grantedUntil) - this.#clock.now();
  }

  waitedMs(): number {
    return this.#silenceSince(this.#since);
  }

  #silenceSince(since: number | undefined): number {
    return since === undefined ? 0 : Math.max(0, this.#clock.now() - Math.max(since, this.#soundsUntil));
  }

  get #isVoiceLate(): boolean {
    return this.#wordsSince !== undefined && this.#soundsUntil <= this.#clock.now();
  }
}
