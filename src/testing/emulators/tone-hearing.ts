// A recognizer's ear that understands a tone voice: the words are those that are in the sound, however quiet or broken they come.
import { SampleBlocks } from '../sample-blocks.js';
import { isSound } from '../speech-spans.js';
import { type HeardWord, ToneReader } from '../tone-reader.js';
import {
  BLOCK_MS,
  type Hearing,
  type HearingOptions,
  type HeardSpeech,
  START_MS,
} from './scripted-hearing.js';

export class ToneHearing implements Hearing {
  /** There is no script that could be unfinished. */
  readonly unfinished = '';
  readonly #options: HearingOptions;
  readonly #blocks: SampleBlocks;
  readonly #reader: ToneReader;
  #atMs = 0;
  #soundMs = 0;
  #silenceMs = 0;
  #speech: { words: string[]; fromMs: number } | undefined;

  constructor(options: HearingOptions) {
    const { sampleRateHz } = options;
    this.#options = options;
    this.#reader = new ToneReader({ sampleRateHz, onWord: (word) => this.#word(word) });
    this.#blocks = new SampleBlocks((sampleRateHz * BLOCK_MS) / 1000, (block) => this.#hear(block));
  }

  get atMs(): number {
    return this.#atMs;
  }

  push(pcm: Int16Array): void {
    this.#blocks.push(pcm);
  }

  take(): HeardSpeech | undefined {
    this.#reader.flush();
    const speech = this.#speech;
    if (speech === undefined) return undefined;
    this.#speech = undefined;
    this.#soundMs = 0;
    return { ...speech, ...this.#reach() };
  }

  #hear(block: Int16Array): void {
    const { events, pauseMs } = this.#options;
    const sound = isSound(block);
    this.#atMs += BLOCK_MS;
    this.#soundMs = sound ? this.#soundMs + BLOCK_MS : 0;
    this.#silenceMs = sound ? 0 : this.#silenceMs + BLOCK_MS;
    if (this.#soundMs >= START_MS) this.#begin(this.#atMs - this.#soundMs);
    this.#reader.push(block);
    if (this.#speech === undefined) events.silent(this.#silenceMs);
    else if (this.#silenceMs >= pauseMs) {
      const speech = this.take();
      if (speech !== undefined) events.ended(speech);
    }
  }

  #word({ text, startMs }: HeardWord): void {
    const speech = this.#begin(startMs);
    speech.words.push(text);
    this.#options.events.grew({ ...speech, words: [...speech.words], ...this.#reach() });
  }

  /** How far the sound was heard. */
  #reach(): Pick<HeardSpeech, 'toMs' | 'wordsToMs'> {
    return { toMs: this.#atMs, wordsToMs: this.#atMs - this.#silenceMs };
  }

  #begin(fromMs: number): { words: string[]; fromMs: number } {
    if (this.#speech !== undefined) return this.#speech;
    this.#speech = { words: [], fromMs };
    this.#options.events.started(fromMs);
    return this.#speech;
  }
}
