// The text of one answer as it streams, in pieces for the voice: whole sentences where they come faster than they are spoken, and the
// words that there are where the caller would hear nothing meanwhile.
import type { Clock, Timer } from '../../../base/clock.js';
import { LIMITS } from '../../../conversation/limits.js';
import { SentenceSplitter, weightOf } from './sentence-splitter.js';

export interface AnswerTextOptions {
  readonly clock: Clock;
  /** Sentences stay whole, however long they take: somebody looks at each. */
  readonly single: boolean;
  /** In how many milliseconds the caller has heard all that the voice was given; undefined while it has more to give. */
  readonly dryInMs: () => number | undefined;
  /** Pieces that come before their sentence is complete. */
  readonly early: (pieces: readonly string[]) => void;
}

const { hurryMs: HURRY_MS, wordsMs: WORDS_MS, longestMs: LONGEST_MS, leadMs: LEAD_MS } = LIMITS.text;

/** Speech has about fifteen letters in a second. */
const SLOW_LETTERS_PER_MS = 0.03;

/** Fewer words are not worth a piece, and hardly any when nothing else comes for a while. */
const SOME_WORDS = 3;
const SOME_LETTERS = 12;
const FEWEST_WORDS = 2;

const LOOK_AGAIN_MS = 100;

/** One per reply. */
export class AnswerText {
  readonly #options: AnswerTextOptions;
  readonly #splitter: SentenceSplitter;
  #timer: Timer | undefined;
  #hasBegun = false;
  /** Since when there are words that are no piece yet. */
  #since: number | undefined;

  constructor(options: AnswerTextOptions) {
    this.#options = options;
    this.#splitter = new SentenceSplitter({ single: options.single });
  }

  /** The pieces that `delta` has made complete. */
  push(delta: string): string[] {
    const pieces = this.#given(this.#splitter.push(delta));
    this.#watch();
    return pieces;
  }

  /** Somebody else goes on with the text. */
  breakOff(): void {
    this.#splitter.breakOff();
  }

  /** The words that are whole, however few. */
  takeWords(): string[] {
    return this.#given(this.#splitter.takeWords());
  }

  /** What is left when the text has ended. */
  flush(): string[] {
    this.stop();
    return this.#given(this.#splitter.flush());
  }

  /** Nothing comes early any more. Idempotent. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #given(pieces: string[]): string[] {
    this.#hasBegun ||= pieces.length > 0;
    const { isWaiting } = this.#splitter;
    if (pieces.length > 0 || !isWaiting) this.#since = undefined;
    if (isWaiting) this.#since ??= this.#options.clock.now();
    return pieces;
  }

  #watch(): void {
    if (this.#timer !== undefined || this.#since === undefined || this.#options.single) return;
    this.#timer = this.#options.clock.after(this.#hasBegun ? LOOK_AGAIN_MS : HURRY_MS, () => {
      this.#timer = undefined;
      const pieces = this.#given(this.#due());
      this.#watch();
      if (pieces.length > 0) this.#options.early(pieces);
    });
  }

  /** What cannot wait for the end of its sentence. */
  #due(): string[] {
    if (this.#since === undefined) return [];
    const waitedMs = this.#options.clock.now() - this.#since;
    if (!this.#hasBegun) {
      const clauses = this.#splitter.hurry();
      if (clauses.length > 0 || waitedMs < WORDS_MS) return clauses;
      const isSlow = weightOf(this.#splitter.waiting) < waitedMs * SLOW_LETTERS_PER_MS;
      return this.#wordsIf(waitedMs >= LONGEST_MS ? 'few' : isSlow ? 'some' : 'none');
    }
    const dryInMs = this.#options.dryInMs();
    if (dryInMs === undefined || dryInMs > LEAD_MS) return [];
    return this.#wordsIf(waitedMs >= WORDS_MS ? 'few' : 'some');
  }

  /** The words that are whole, if there are so many. */
  #wordsIf(least: 'few' | 'some' | 'none'): string[] {
    const { words } = this.#splitter;
    const count = words.trim().split(/\s+/).length;
    const isSome = count >= SOME_WORDS || weightOf(words) >= SOME_LETTERS;
    const isEnough = least === 'few' ? isSome || count >= FEWEST_WORDS : least === 'some' && isSome;
    return isEnough ? this.#splitter.takeWords() : [];
  }
}
