// A recognizer's ear without a recognizer: hears that somebody speaks, and takes the words from a script.
import { SampleBlocks } from '../sample-blocks.js';
import { isSound } from '../speech-spans.js';

export interface HeardSpeech {
  /** Words so far. */
  readonly words: readonly string[];
  /** Where the speech begins, in milliseconds of audio, and how far it was heard. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Where the last of the words ends: before `toMs` when a pause has begun. */
  readonly wordsToMs: number;
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

/** An ear of a recognizer. */
export interface Hearing {
  /** Audio that was heard, in milliseconds. */
  readonly atMs: number;
  /** Text of the script that was begun and not finished; '' when there is none. */
  readonly unfinished: string;
  push(pcm: Int16Array): void;
  /** Gives out what was heard so far and forgets it; all words when a pause has begun. Undefined when nobody speaks. */
  take(): HeardSpeech | undefined;
}

export interface HearingOptions {
  readonly sampleRateHz: number;
  /** Silence that ends an utterance. */
  readonly pauseMs: number;
  readonly events: HearingEvents;
}

export const BLOCK_MS = 10;
/** So much sound in a row is speech. */
export const START_MS = 60;
/** A word takes this much sound. */
export const WORD_MS = 250;

export class ScriptedHearing implements Hearing {
  readonly #options: HearingOptions;
  readonly #next: () => string;
  readonly #blocks: SampleBlocks;
  #atMs = 0;
  #soundMs = 0;
  #silenceMs = 0;
  #spokenMs = 0;
  #speech: { words: string[]; fromMs: number; given: number } | undefined;

  /** `next` gives the next utterance of the script; '' when it is at its end. */
  constructor(options: HearingOptions, next: () => string) {
    this.#options = options;
    this.#next = next;
    this.#blocks = new SampleBlocks((options.sampleRateHz * BLOCK_MS) / 1000, (block) =>
      this.#hear(isSound(block)),
    );
  }

  get atMs(): number {
    return this.#atMs;
  }

  push(pcm: Int16Array): void {
    this.#blocks.push(pcm);
  }

  take(): HeardSpeech | undefined {
    const speech = this.#speech;
    if (speech === undefined) return undefined;
    const whole = this.#silenceMs >= START_MS;
    const given = whole ? speech.words.length : Math.max(1, speech.given);
    const heard = {
      words: speech.words.slice(0, given),
      fromMs: speech.fromMs,
      toMs: this.#atMs,
      wordsToMs: this.#atMs - this.#silenceMs,
    };
    const left = speech.words.slice(given);
    this.#speech = undefined;
    this.#soundMs = 0;
    this.#spokenMs = 0;
    if (!whole && left.length > 0) this.#speech = { words: left, fromMs: this.#atMs, given: 0 };
    return heard;
  }

  get unfinished(): string {
    return this.#speech?.words.join(' ') ?? '';
  }

  #hear(sound: boolean): void {
    const { events, pauseMs } = this.#options;
    this.#atMs += BLOCK_MS;
    this.#soundMs = sound ? this.#soundMs + BLOCK_MS : 0;
    this.#silenceMs = sound ? 0 : this.#silenceMs + BLOCK_MS;
    if (this.#speech === undefined && this.#soundMs >= START_MS) {
      const words = this.#next().split(/\s+/).filter(Boolean);
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
      wordsToMs: this.#atMs,
    });
  }
}
