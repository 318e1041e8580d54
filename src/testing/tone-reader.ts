// Reads a tone voice back, word by word, out of whatever became of it on the way.
import { SampleBlocks } from './sample-blocks.js';
import { findTones, MS_PER_CHARACTER, symbolOf, type ToneOptions } from './tone-voice.js';

/** A word that was heard, or as much of it as was. Times are milliseconds of audio. */
export interface HeardWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

const BLOCK_MS = 10;
/** Silence that parts two words: half of a blank. */
const GAP_SHARE = 0.5;
/** The middle of a character is looked at: its beginning is only known to a block. */
const EDGE_SHARE = 0.25;

/** Takes audio in pieces of any size and gives words as they end. */
export class ToneReader {
  readonly #rateHz: number;
  readonly #slot: number;
  readonly #gapBlocks: number;
  readonly #onWord: (word: HeardWord) => void;
  readonly #incoming: SampleBlocks;
  readonly #blockSamples: number;
  #blocks = 0;
  /** Blocks of the word that is being heard, and how many without a tone are at its end. */
  #word: Int16Array[] = [];
  #quiet = 0;

  constructor(options: ToneOptions & { readonly onWord: (word: HeardWord) => void }) {
    const { sampleRateHz, msPerCharacter = MS_PER_CHARACTER } = options;
    this.#rateHz = sampleRateHz;
    this.#slot = (sampleRateHz * msPerCharacter) / 1000;
    this.#gapBlocks = Math.max(1, Math.round((msPerCharacter * GAP_SHARE) / BLOCK_MS));
    this.#onWord = options.onWord;
    this.#blockSamples = (sampleRateHz * BLOCK_MS) / 1000;
    this.#incoming = new SampleBlocks(this.#blockSamples, (block) => this.#hear(block));
  }

  push(pcm: Int16Array): void {
    this.#incoming.push(pcm);
  }

  /** Ends the word that is being heard. */
  flush(): void {
    if (this.#word.length === 0) return;
    const blocks = this.#word.slice(0, this.#word.length - this.#quiet);
    const startMs = (this.#blocks - this.#word.length) * BLOCK_MS;
    this.#word = [];
    this.#quiet = 0;
    const text = this.#read(blocks);
    if (text !== '') this.#onWord({ text, startMs, endMs: startMs + blocks.length * BLOCK_MS });
  }

  #hear(block: Int16Array): void {
    const isTone = findTones(block, this.#rateHz) !== undefined;
    this.#blocks += 1;
    if (!isTone && this.#word.length === 0) return;
    this.#word.push(block.slice());
    this.#quiet = isTone ? 0 : this.#quiet + 1;
    if (this.#quiet >= this.#gapBlocks) this.flush();
  }

  #read(blocks: readonly Int16Array[]): string {
    const samples = new Int16Array(blocks.length * this.#blockSamples);
    for (const [index, block] of blocks.entries()) samples.set(block, index * block.length);
    let text = '';
    for (let at = 0; at + this.#slot * (1 - EDGE_SHARE) <= samples.length; at += this.#slot) {
      const middle = samples.subarray(
        Math.round(at + this.#slot * EDGE_SHARE),
        Math.round(at + this.#slot * (1 - EDGE_SHARE)),
      );
      text += symbolOf(middle, this.#rateHz) ?? '';
    }
    return text;
  }
}

/** All words of a recording. */
export function readTones(samples: Int16Array, options: ToneOptions): HeardWord[] {
  const words: HeardWord[] = [];
  const reader = new ToneReader({ ...options, onWord: (word) => words.push(word) });
  reader.push(samples);
  reader.flush();
  return words;
}
