// Keeps the agent's own words, which the line brings back, from being taken for the caller's.
import type { Clock } from '../base/clock.js';
import { isEcho, isGarbledEcho, isQuietEcho } from './echo.js';
import { wordsOf } from './lexicon.js';
import { LoudFrames } from './loud-frames.js';
import { ECHO_LOSS_DB, type MeteredPlayout } from './played-level.js';

/** What says words: a reply. */
export interface WordSource {
  readonly audible: boolean;
  saidBetween(fromMs: number, toMs: number): string;
}

export interface EchoGuardOptions {
  readonly clock: Clock;
  readonly playout: MeteredPlayout;
  /** Words that stop the agent, however quiet, unless they are its own. */
  readonly stopWords: ReadonlySet<string>;
  /** A phrase that sounds beside the replies. */
  readonly filler: () => string | undefined;
}

/** A piece of text of the recogniser. */
export interface RecognisedPiece {
  readonly isFinal: boolean;
  /** When the sound began that was noticed last, on the clock. */
  readonly soundBeganAt: number | undefined;
}

/** Words come back within this time; recognisers take most of it. */
const MEMORY_MS = 2500;
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
/** A sound that is hardly quieter than the agent is no echo on any line. */
const LEAST_LOSS_DB = 3;
/** So many letters are no chance: loud sound that says what the agent says is the line's. */
const TELLING_LETTERS = 4;

/** What is said now, or was a moment ago. */
interface Said {
  readonly source: WordSource;
  /** Where the playout was stopped in it, or had come to its end. */
  endMs: number;
}

export class EchoGuard {
  readonly #options: EchoGuardOptions;
  #said: Said | undefined;
  #before: Said | undefined;
  /** When the last of what could be heard came to its end; undefined before that. */
  #quietAt: number | undefined;
  /** When the piece of text that is open was first told. */
  #pieceAt: number | undefined;
  /** What the line takes off the agent's voice, as far as is known. */
  #lossDb = ECHO_LOSS_DB;
  /** Too loud for an echo on this line, and on any. */
  readonly #loud = new LoudFrames();
  readonly #loudest = new LoudFrames();

  constructor(options: EchoGuardOptions) {
    this.#options = options;
  }

  /** Somebody begins to speak. */
  speaking(source: WordSource): void {
    if (this.#said?.source.audible === true) this.#before = this.#said;
    this.#said = { source, endMs: Number.POSITIVE_INFINITY };
  }

  /** And has ended. */
  silent(): void {
    const said = this.#said;
    if (said?.source.audible !== true || said.endMs !== Number.POSITIVE_INFINITY) return;
    said.endMs = this.#options.playout.playedMs;
    this.#quietAt = this.#options.clock.now();
  }

  /** True when this frame of the caller's line is so quiet that the line may have brought it back. */
  mayEcho(frame: Int16Array, { voiced }: { voiced: boolean }): boolean {
    const { clock, playout } = this.#options;
    const mayEcho = playout.mayEcho(frame, this.#lossDb);
    if (voiced && !mayEcho) this.#loud.add(clock.now());
    if (voiced && !playout.mayEcho(frame, LEAST_LOSS_DB)) this.#loudest.add(clock.now());
    return mayEcho;
  }

  /** True when the recogniser's text is what the agent says or has just said. */
  isEcho(text: string, piece: RecognisedPiece): boolean {
    const { clock, filler } = this.#options;
    const now = clock.now();
    const pieceAt = this.#pieceAt ?? now;
    this.#pieceAt = piece.isFinal ? undefined : pieceAt;
    const phrase = filler();
    if (phrase !== undefined && isEcho(text, phrase, 1)) return true;
    const { isSounding } = this;
    const quietAt = isSounding ? undefined : this.#quietAt;
    if (!isSounding && quietAt === undefined) return false;
    const quietMs = quietAt === undefined ? 0 : now - quietAt;
    if (quietMs >= MEMORY_MS || this.#hasAnswered(quietAt, piece)) return false;
    const beganAt = piece.soundBeganAt ?? now - RECOGNITION_MS;
    // A long piece of text is about all that was heard since its sound began, which we may have lost sight of since.
    const aboutMs = now - Math.min(beganAt, pieceAt - RECOGNITION_MS) + LINE_DELAY_MS;
    const said = this.#saidWithin(Math.min(LONGEST_MS, Math.max(MEMORY_MS, aboutMs)) - quietMs);
    // What only the recogniser has heard began later than the last sound that we know of.
    const since = Math.max(beganAt, pieceAt - RECOGNITION_MS - LINE_DELAY_MS);
    const isCallersLevel = this.#loudest.isSpeechSince(since);
    const isLoud = this.#loud.isSpeechSince(since);
    const minWords = fewestWords({ isSounding, isFinal: piece.isFinal, isCallersLevel, isLoud });
    const isOwn = isEcho(text, said, minWords);
    if (!isOwn && this.#isToldToStop(text, said)) return false;
    if (isOwn || (!isCallersLevel && isGarbledEcho(text, said, minWords))) {
      if (isLoud && !isCallersLevel) this.#learnLoudEcho(text);
      return true;
    }
    const beganOver = quietAt === undefined || since < quietAt;
    return beganOver && !isLoud && (isSoundLabel(text) || isQuietEcho(text, said, minWords));
  }

  /** True while the agent can be heard. */
  get isSounding(): boolean {
    return this.#said?.source.audible === true && this.#said.endMs === Number.POSITIVE_INFINITY;
  }

  /** Sound came, or went on too loud for the line, when the line had nothing to bring back any more. */
  #hasAnswered(quietAt: number | undefined, { soundBeganAt }: RecognisedPiece): boolean {
    if (quietAt === undefined) return false;
    const lineQuietAt = quietAt + LINE_DELAY_MS;
    return (soundBeganAt ?? 0) > lineQuietAt || this.#loud.isSpeechSince(lineQuietAt);
  }

  #saidWithin(ms: number): string {
    const { playedMs } = this.#options.playout;
    return [this.#before, this.#said]
      .map((said) => said?.source.saidBetween(playedMs - ms, Math.min(playedMs, said.endMs) + AHEAD_MS) ?? '')
      .join(' ');
  }

  /** From here on such sounds do not interrupt by their length, and are no proof of a caller. */
  #learnLoudEcho(text: string): void {
    if (wordsOf(text).join('').length < TELLING_LETTERS) return;
    this.#lossDb = LEAST_LOSS_DB;
    this.#loud.forget();
  }

  #isToldToStop(text: string, said: string): boolean {
    const own = wordsOf(said);
    return wordsOf(text).some((word) => this.#options.stopWords.has(word) && !own.includes(word));
  }
}

/** Recognisers put a label like "[speech]" in the place of a sound whose words they do not have. */
function isSoundLabel(text: string): boolean {
  return /^\s*\[[^[\]]*\]\s*$/.test(text);
}

/** How many of the agent's words must come back to be its echo: one, unless the caller may have taken them up. */
function fewestWords(heard: {
  readonly isSounding: boolean;
  readonly isFinal: boolean;
  readonly isCallersLevel: boolean;
  readonly isLoud: boolean;
}): number {
  if (heard.isCallersLevel && !heard.isSounding) return MIN_WORDS_AFTERWARDS;
  return heard.isLoud && heard.isFinal ? 2 : 1;
}
