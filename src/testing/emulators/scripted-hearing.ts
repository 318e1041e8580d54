// A recogniser's ear without a recogniser: hears that somebody speaks, and takes the words from a script.
import { isSound } from '../speech-spans.js';

export interface HeardSpeech {
  /** Words so far. */
  readonly words: readonly string[];
  /** Where the speech begins, in milliseconds of audio, and how far it was heard. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface HearingEvents {
  started(atMs: number): void;
  /** One more word. */
  grew(speech: HeardSpeech): void;
  /** The speech was followed by a pause. It has all its words. */
  ended(speech: HeardSpeech): void;
  /** So much silence in a row, told once per block. */
  silent(silenceMs: number): void;
}

export interface HearingOptions {
  readonly sampleRateHz: number;
  /** Silence that ends an utterance. */
  readonly pauseMs: number;
  /** The next utterance of the script; '' when it is at its end. */
  readonly next: () => string;
  readonly events: HearingEvents;
}

const BLOCK_MS = 10;
/** So much sound in a row is speech. */
const START_MS = 60;
/** A word takes this much sound. */
export const WORD_MS = 250;

export class ScriptedHearing {
  readonly #options: HearingOptions;
  readonly #block: Int16Array;
  #filled = 0;
  #atMs = 0;
  #soundMs = 0;
  #silenceMs = 0;
  #spokenMs = 0;
  #speech: { words: string[]; fromMs: number; given: number } | undefined;

  constructor(options: HearingOptions) {
    this.#options = options;
    this.#block = new Int16Array((options.sampleRateHz * BLOCK_MS) / 1000);
  }

  /** Audio that was heard, in milliseconds. */
  get atMs(): number {
    return this.#atMs;
  }

  get silenceMs(): number {
    return this.#silenceMs;
  }

  push(pcm: Int16Array): void {
    for (let from = 0; from < pcm.length; ) {
      const piece = pcm.subarray(from, from + this.#block.length - this.#filled);
      this.#block.set(piece, this.#filled);
      this.#filled += piece.length;
      from += piece.length;
      if (this.#filled < this.#block.length) return;
      this.#filled = 0;
      this.#hear(isSound(this.#block));
    }
  }

  /** Gives out what was heard so far and forgets it; all words when a pause has begun. Undefined when nobody speaks. */
  take(): HeardSpeech | undefined {
    const speech = this.#speech;
    if (speech === undefined) return undefined;
    const whole = this.#silenceMs >= START_MS;
    const given = whole ? speech.words.length : Math.max(1, speech.given);
    const heard = { words: speech.words.slice(0, given), fromMs: speech.fromMs, toMs: this.#atMs };
    const left = speech.words.slice(given);
    this.#speech = undefined;
    this.#soundMs = 0;
    this.#spokenMs = 0;
    if (!whole && left.length > 0) this.#speech = { words: left, fromMs: this.#atMs, given: 0 };
    return heard;
  }

  /** The text of a speech that has not ended; '' when nobody speaks. */
  get unfinished(): string {
    return this.#speech?.words.join(' ') ?? '';
  }

  #hear(sound: boolean): void {
    const { events, pauseMs, next } = this.#options;
    this.#atMs += BLOCK_MS;
    this.#soundMs = sound ? this.#soundMs + BLOCK_MS : 0;
    this.#silenceMs = sound ? 0 : this.#silenceMs + BLOCK_MS;
    if (this.#speech === undefined && this.#soundMs >= START_MS) {
      const words = next().split(/\s+/).filter(Boolean);
      this.#speech = { words, fromMs: this.#atMs - this.#soundMs, given: 0 };
      events.started(this.#speech.fromMs);
    }
    if (this.#speech === undefined) {
      events.silent(this.#silenceMs);
      return;
    }
    if (sound) this.#grow(this.#speech);
    else if (this.#silenceMs >= pauseMs) {
      const speech = this.take();
      if (speech !== undefined) events.ended(speech);
    }
  }

  #grow(speech: { words: string[]; fromMs: number; given: number }): void {
    this.#spokenMs += BLOCK_MS;
    const due = Math.min(speech.words.length, Math.floor(this.#spokenMs / WORD_MS) + 1);
    if (due <= speech.given) return;
    speech.given = due;
    this.#options.events.grew({
      words: speech.words.slice(0, due),
      fromMs: speech.fromMs,
      toMs: this.#atMs,
    });
  }
}
