// How loud the caller is, as their words tell: a sound that is as loud may be theirs. Music, a television or somebody's breath lie below
// it; what does not, and has brought no words, the agent gets used to.
import type { Clock } from '../../../base/clock.js';
import type { LineSound } from './line-sound.js';

/** Voice of this length silences the agent, or is about to. */
const SOUND_MS = 500;
/** Words stand in the recognizer's text at most so long after they were said, mostly: at least so far back it is looked for them. */
const WORDS_MS = 1500;
/** The caller is not always as loud as when they were loudest, in decibels. */
const QUIETER_DB = 5;
/** A sound is louder than a wordless one by this much where it is another, in decibels. */
const LOUDER_DB = 3;
/** For so long: the caller may be further away by then, and a sound of the same loudness another. */
const REMEMBERED_MS = 60_000;

/** As far as it is known, on the clock. */
interface Loudest {
  readonly dbfs: number;
  readonly until: number;
}

/** One per call. Words interrupt at any level: whoever is quieter is understood a moment later. */
export class CallerLoudness {
  readonly #clock: Clock;
  readonly #sound: LineSound;
  /** The loudest words: those that come a minute later take their place. */
  #words: Loudest;
  #wordless: Loudest = { dbfs: Number.NEGATIVE_INFINITY, until: Number.NEGATIVE_INFINITY };
  /** When the sound began that has interrupted last, unless it has brought words. */
  #since: number | undefined;

  /** `isLate`: words come when all was said. Until the first of them have come any sound may be the caller's then, and else none. */
  constructor(clock: Clock, sound: LineSound, { isLate }: { isLate: boolean }) {
    this.#clock = clock;
    this.#sound = sound;
    const dbfs = isLate ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    this.#words = { dbfs, until: Number.NEGATIVE_INFINITY };
  }

  /** True when what is heard is as loud as the caller, and louder than what has brought no words. */
  get isCallers(): boolean {
    const isLoud = this.#sound.loudestDbfs(SOUND_MS) >= this.#words.dbfs - QUIETER_DB;
    return isLoud && this.mayBeCallers;
  }

  /** True when what is heard is louder than what has brought no words. */
  get mayBeCallers(): boolean {
    const isRemembered = this.#clock.now() < this.#wordless.until;
    return !isRemembered || this.#sound.loudestDbfs(SOUND_MS) >= this.#wordless.dbfs + LOUDER_DB;
  }

  /** It interrupts the agent. */
  interrupts(): void {
    this.#since = this.#clock.now() - SOUND_MS;
  }

  /** It was speech. `beganAt`: when the sound began, on the clock, where that is known: its words may come long after it. */
  broughtWords(beganAt?: number): void {
    this.#since = undefined;
    const sinceMs = this.#clock.now() - (beganAt ?? Number.POSITIVE_INFINITY);
    this.#words = this.#loudest(this.#words, this.#sound.loudestDbfs(Math.max(WORDS_MS, sinceMs)));
  }

  /** It has ended, or goes on, and no words have come of it. */
  broughtNone(): void {
    if (this.#since === undefined) return;
    const dbfs = this.#sound.loudestDbfs(this.#clock.now() - this.#since);
    this.#wordless = this.#loudest(this.#wordless, dbfs);
    this.#since = undefined;
  }

  #loudest(known: Loudest, dbfs: number): Loudest {
    const now = this.#clock.now();
    if (now < known.until && dbfs < known.dbfs) return known;
    return { dbfs, until: now + REMEMBERED_MS };
  }
}
