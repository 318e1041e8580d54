// Keeps the agent's own words, which the line brings back, from being taken for the caller's: by what the agent has said, by how loud
// the sound was, and by whether it rises and falls as the agent's did.
import type { Clock } from '../../../base/clock.js';
import { isEcho, isGarbledEcho, isQuietEcho } from './echo.js';
import type { HeardFrame } from './heard-frame.js';
import { wordsOf } from '../../languages/lexicon.js';
import type { LineSound } from './line-sound.js';
import { LoudFrames } from './loud-frames.js';
import type { MeteredPlayout } from './played-level.js';
import { SaidLately, type WordSource } from './said-lately.js';

export interface EchoGuardOptions {
  readonly clock: Clock;
  readonly playout: MeteredPlayout;
  readonly sound: LineSound;
  /** Words that stop the agent, however quiet, unless they are its own. */
  readonly stopWords: ReadonlySet<string>;
  /** A phrase that sounds beside the replies. */
  readonly filler: () => string | undefined;
}

/** A piece of text of the recognizer. */
export interface RecognizedPiece {
  readonly isFinal: boolean;
  /** When the sound began that was noticed last, on the clock. */
  readonly soundBeganAt: number | undefined;
}

/** Words come back within this time; recognizers take most of it. */
const MEMORY_MS = 2500;
/** More than the recognizer gives in one piece. */
const LONGEST_MS = 15_000;
/** Sound that begins this long after the agent's last is the caller's: a line brings nothing back later. */
const LINE_DELAY_MS = 300;
/** Where no sound was noticed, text is about what was heard this long ago. */
const RECOGNITION_MS = 1000;
/** Words that the caller may well have picked up from the agent: an answer like "white wine" to a question that offered it. */
const MIN_WORDS_AFTERWARDS = 3;
/** Lines bring a voice back at least this much lower; people speak louder. Source: echoes of telephones and their loudspeakers lie 20 dB down and more. */
const USUAL_LOSS_DB = 15;
/** A sound that is hardly quieter than the agent is no echo on any line. */
const LEAST_LOSS_DB = 3;
/** So many letters are no chance: loud sound that says what the agent says is the line's. */
const TELLING_LETTERS = 4;

/** The loudness of a voice and of its echo correlate at least this much. Two voices do so by chance in one of 50 one-second pieces. */
const ECHO_LIKENESS = 0.85;
/** Two different voices correlate at most this much. In between it is uncertain. */
const OTHER_LIKENESS = 0.5;
/** To tell two voices apart so many frames of them must be heard: 300 ms. */
const TELLING_FRAMES = 15;
/** An echo is known by its sound alone when so much of it was heard. */
const SOUND_MS = 1000;

/** How loud speech is beside the agent's: as an echo, too loud for one on this line, or on any line. */
type Loudness = 'quiet' | 'loud' | 'callers';

export class EchoGuard {
  readonly #options: EchoGuardOptions;
  readonly #lately: SaidLately;
  /** When the piece of text that is open was first told. */
  #pieceAt: number | undefined;
  /** What the line takes off the agent's voice, as far as is known. */
  #lossDb = USUAL_LOSS_DB;
  readonly #loud = new LoudFrames();
  readonly #callers = new LoudFrames();
  readonly #voiced = new LoudFrames(TELLING_FRAMES);

  constructor(options: EchoGuardOptions) {
    this.#options = options;
    this.#lately = new SaidLately(options);
  }

  /** Somebody begins to speak. */
  speaking(source: WordSource): void {
    this.#lately.speaking(source);
  }

  /** And has ended, or pauses. */
  silent(): void {
    this.#lately.silent();
  }

  /** Goes on behind a pause. */
  goesOn(): void {
    this.#lately.goesOn();
  }

  /** True when this voiced frame of the caller's line is so quiet that the line may have brought it back. */
  mayEcho({ dbfs }: Pick<HeardFrame, 'dbfs'>): boolean {
    const { clock, playout } = this.#options;
    const lossDb = playout.loudestDbfs - dbfs;
    const now = clock.now();
    this.#voiced.add(now);
    if (lossDb < this.#lossDb) this.#loud.add(now);
    if (lossDb < LEAST_LOSS_DB) this.#callers.add(now);
    return lossDb >= this.#lossDb;
  }

  /** True when what is heard now is the agent, by its sound alone. */
  get isOwnSound(): boolean {
    return (this.#options.sound.likeness(SOUND_MS) ?? 0) >= ECHO_LIKENESS;
  }

  /** True when the recognizer's text is what the agent says or has just said. */
  isEcho(text: string, piece: RecognizedPiece): boolean {
    const { clock, filler } = this.#options;
    const now = clock.now();
    const pieceAt = this.#pieceAt ?? now;
    this.#pieceAt = piece.isFinal ? undefined : pieceAt;
    const phrase = filler();
    if (phrase !== undefined && isEcho(text, phrase, 1)) return true;
    const { quietAt, isSounding } = this.#lately;
    if (now - quietAt >= MEMORY_MS || this.#hasAnswered(quietAt, piece)) return false;
    const beganAt = piece.soundBeganAt ?? now - RECOGNITION_MS;
    // A long piece of text is about all that was heard since its sound began, which we may have lost sight of since.
    const aboutMs = now - Math.min(beganAt, pieceAt - RECOGNITION_MS) + LINE_DELAY_MS;
    const quietMs = Math.max(0, now - quietAt);
    const said = this.#lately.wordsWithin(Math.min(LONGEST_MS, Math.max(MEMORY_MS, aboutMs)) - quietMs);
    // What only the recognizer has heard began later than the last sound that we know of.
    const since = Math.max(beganAt, pieceAt - RECOGNITION_MS - LINE_DELAY_MS);
    const loudness = this.#loudnessSince(since);
    const minWords = fewestWords(loudness, { isSounding, isFinal: piece.isFinal });
    // What was heard right before it is known as well: an echo has begun when the agent has.
    const likeness = this.#options.sound.likeness(now - since + LINE_DELAY_MS);
    if ((likeness ?? 1) < OTHER_LIKENESS && this.#voiced.isSpeechSince(since)) return false;
    const isOwn = isEcho(text, said, minWords);
    if (!isOwn && this.#isToldToStop(text, said)) return false;
    if (loudness === 'callers') return isOwn;
    const isLines = isOwn || isGarbledEcho(text, said, minWords);
    const isOwnSound = (likeness ?? 0) >= ECHO_LIKENESS;
    if (loudness === 'loud') {
      if (isLines && isOwnSound) this.#learnLoudEcho(text);
      return isLines;
    }
    if (isLines) return true;
    // So few of its words prove nothing by themselves.
    return isOwnSound && since < quietAt && (isSoundLabel(text) || isQuietEcho(text, said, minWords));
  }

  /** Sound came, or went on too loud for the line, when the line had nothing to bring back any more. */
  #hasAnswered(quietAt: number, { soundBeganAt = 0 }: RecognizedPiece): boolean {
    const lineQuietAt = quietAt + LINE_DELAY_MS;
    return soundBeganAt > lineQuietAt || this.#loud.isSpeechSince(lineQuietAt);
  }

  #loudnessSince(at: number): Loudness {
    if (this.#callers.isSpeechSince(at)) return 'callers';
    return this.#loud.isSpeechSince(at) ? 'loud' : 'quiet';
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

/** Recognizers put a label like "[speech]" in the place of a sound whose words they do not have. */
function isSoundLabel(text: string): boolean {
  return /^\s*\[[^[\]]*\]\s*$/.test(text);
}

/** How many of the agent's words must come back to be its echo: one, unless the caller may have taken them up. */
function fewestWords(loudness: Loudness, heard: { isSounding: boolean; isFinal: boolean }): number {
  if (loudness === 'callers' && !heard.isSounding) return MIN_WORDS_AFTERWARDS;
  return loudness !== 'quiet' && heard.isFinal ? 2 : 1;
}
