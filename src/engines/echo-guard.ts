// Keeps the agent's own words, which the line brings back, from being taken for the caller's.
import type { Playout } from '../audio/playout.js';
import type { Clock } from '../base/clock.js';
import { isEcho, isQuietEcho } from './echo.js';
import { wordsOf } from './lexicon.js';

/** What says words: a reply. */
export interface WordSource {
  readonly audible: boolean;
  saidBetween(fromMs: number, toMs: number): string;
}

export interface EchoGuardOptions {
  readonly clock: Clock;
  readonly playout: Playout;
  /** Words that stop the agent, however quiet, unless they are its own. */
  readonly stopWords: ReadonlySet<string>;
  /** A phrase that sounds beside the replies. */
  readonly filler: () => string | undefined;
}

/** Words come back within this time; recognisers take most of it. */
const MEMORY_MS = 2000;
/** More than the recogniser gives in one piece. */
const LONGEST_MS = 15_000;
/** The playback clock may be this much behind. */
const AHEAD_MS = 250;
/** Sound that begins this long after the agent's last is the caller's: a line brings nothing back later. */
const LINE_DELAY_MS = 300;
/** Where no sound was noticed, text is about what was heard this long ago. */
const RECOGNITION_MS = 1000;
/** Words that the caller may well have picked up from the agent: an answer like "white wine" to a question that offered it. */
const MIN_WORDS_AFTERWARDS = 3;
/** Voiced frames too loud for an echo, in the sound of a piece of text, that make it the caller's: 60 ms, as speech is recognised. */
const LOUD_FRAMES = 3;

export class EchoGuard {
  readonly #options: EchoGuardOptions;
  #source: WordSource | undefined;
  #quietAt: number | undefined;
  /** When the piece of text that is open was first told. */
  #pieceAt: number | undefined;
  /** When the last frames of a voice came that were too loud for an echo. */
  readonly #loudAt: number[] = [];

  constructor(options: EchoGuardOptions) {
    this.#options = options;
  }

  /** Somebody begins to speak. */
  speaking(source: WordSource): void {
    this.#source = source;
    this.#quietAt = undefined;
  }

  /** And has ended. */
  silent(): void {
    if (this.#source !== undefined) this.#quietAt ??= this.#options.clock.now();
  }

  /** The caller's line has a frame of a voice that is too loud for what it brings back of the agent. */
  heardLoud(): void {
    this.#loudAt.push(this.#options.clock.now());
    if (this.#loudAt.length > LOUD_FRAMES) this.#loudAt.shift();
  }

  /** True when the recogniser's text is what the agent says or has just said. `soundBeganAt` is on the clock. */
  isEcho(text: string, piece: { isFinal: boolean; soundBeganAt: number | undefined }): boolean {
    const { clock, playout, filler } = this.#options;
    const now = clock.now();
    const pieceAt = this.#pieceAt ?? now;
    this.#pieceAt = piece.isFinal ? undefined : pieceAt;
    const phrase = filler();
    if (phrase !== undefined && isEcho(text, phrase, 1)) return true;
    if (this.#source?.audible !== true) return false;
    const quietMs = this.#quietAt === undefined ? 0 : now - this.#quietAt;
    const beganAt = piece.soundBeganAt ?? now - RECOGNITION_MS;
    if (this.#quietAt !== undefined && beganAt > this.#quietAt + LINE_DELAY_MS) return false;
    if (quietMs >= MEMORY_MS) return false;
    const at = playout.playedMs;
    // A long piece of text is about all that was heard since its sound began, which we may have lost sight of since.
    const aboutMs = now - Math.min(beganAt, pieceAt - RECOGNITION_MS) + LINE_DELAY_MS;
    const memoryMs = Math.min(LONGEST_MS, Math.max(MEMORY_MS, aboutMs));
    const said = this.#source.saidBetween(at - memoryMs + quietMs, at + AHEAD_MS);
    const minWords = this.#quietAt !== undefined ? MIN_WORDS_AFTERWARDS : piece.isFinal ? 2 : 1;
    if (isEcho(text, said, minWords)) return true;
    // What only the recogniser has heard began later than the last sound that we know of.
    const since = Math.max(beganAt, pieceAt - RECOGNITION_MS - LINE_DELAY_MS);
    const beganOver = this.#quietAt === undefined || since < this.#quietAt;
    if (!beganOver || this.#wasLoudSince(since) || this.#isToldToStop(text, said)) return false;
    return isQuietEcho(text, said, minWords);
  }

  #isToldToStop(text: string, said: string): boolean {
    const own = wordsOf(said);
    return wordsOf(text).some((word) => this.#options.stopWords.has(word) && !own.includes(word));
  }

  #wasLoudSince(at: number): boolean {
    const [first] = this.#loudAt;
    return this.#loudAt.length === LOUD_FRAMES && first !== undefined && first >= at;
  }
}
