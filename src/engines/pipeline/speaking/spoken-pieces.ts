// Joins sentences that may be spoken into pieces for the voice, which needs some words to find its tone.
import type { Dropped } from './dropped-text.js';
import { MAX_CHARS, MIN_CHARS, weightOf } from './sentence-splitter.js';

/** Text for the voice, and what was dropped before and in it. */
export interface SpokenPiece {
  readonly text: string;
  readonly dropped: readonly Dropped[];
}

export class SpokenPieces {
  #text = '';
  #dropped: Dropped[] = [];

  /** What waits for its successor, and what was dropped since the last piece. */
  get held(): SpokenPiece {
    return { text: this.#text, dropped: this.#dropped };
  }

  /** The pieces that a sentence completes. */
  add(sentence: string): SpokenPiece[] {
    const isFull = this.#text.length + 1 + sentence.length > MAX_CHARS;
    const before = isFull ? this.flush() : [];
    this.#text = `${this.#text} ${sentence}`.trim();
    return weightOf(this.#text) < MIN_CHARS ? before : [...before, ...this.flush()];
  }

  /** A sentence that is not spoken. */
  drop(sentence: string): void {
    this.#dropped.push({ offset: this.#text.length, text: sentence });
  }

  /** What is held, where that is anything to speak. */
  flush(): SpokenPiece[] {
    if (this.#text === '') return [];
    const piece = this.held;
    this.#text = '';
    this.#dropped = [];
    return [piece];
  }
}
