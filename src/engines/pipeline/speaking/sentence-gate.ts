// Sentences between the language stage and the voice: they pass the guardrails one after the other, and leave in the order they came.
import { type Dropped, unheardPart } from './dropped-text.js';
import type { Guardrails } from './guardrails.js';
import { singleSentences } from './sentence-splitter.js';
import { type SpokenPiece, SpokenPieces } from './spoken-pieces.js';

export interface SentenceGateOptions {
  /** Without them everything passes at once. */
  readonly guardrails: Guardrails | undefined;
  /** A piece for the voice, and what the guardrails have dropped before and in it. */
  readonly pass: (piece: string, dropped: readonly Dropped[]) => void;
}

/** One per reply. What does not pass was generated and is not heard: it is kept for the record. */
export class SentenceGate {
  readonly #options: SentenceGateOptions;
  readonly #abort = new AbortController();
  readonly #waiting: string[] = [];
  readonly #pieces = new SpokenPieces();
  #last: Promise<void> = Promise.resolve();
  #isShut = false;

  constructor(options: SentenceGateOptions) {
    this.#options = options;
  }

  /** What may still be spoken: what is allowed and waits for its successor, then what the guardrails have not let through. */
  get waiting(): readonly string[] {
    return [this.#pieces.held.text, ...this.#waiting];
  }

  /** The same with what was dropped since the last piece, in the order of the answer. */
  get unheard(): readonly string[] {
    const { text, dropped } = this.#pieces.held;
    return [unheardPart(text, dropped), ...this.#waiting];
  }

  /** Where there are guardrails: resolves when they have let through, or dropped, all that came so far. */
  enter(pieces: readonly string[]): Promise<void> | undefined {
    const { guardrails, pass } = this.#options;
    if (this.#isShut) return undefined;
    if (guardrails === undefined) {
      for (const piece of pieces) pass(piece, []);
      return undefined;
    }
    for (const sentence of pieces.flatMap(singleSentences)) {
      this.#waiting.push(sentence);
      this.#queue(() => this.#check(guardrails, sentence));
    }
    return this.#last;
  }

  /** The same with the last pieces for now: what is allowed waits for no successor. */
  finish(pieces: readonly string[]): Promise<void> | undefined {
    if (this.enter(pieces) === undefined) return undefined;
    return this.#queue(() => this.#pass(this.#pieces.flush()));
  }

  /** Nothing passes any more. What is before the gate stays there. Idempotent. */
  shut(): void {
    this.#isShut = true;
    this.#abort.abort();
  }

  #queue(task: () => void | Promise<void>): Promise<void> {
    this.#last = this.#last.then(() => (this.#isShut ? undefined : task()));
    return this.#last;
  }

  async #check(guardrails: Guardrails, sentence: string): Promise<void> {
    const allowed = await guardrails.check(sentence, this.#abort.signal);
    if (this.#isShut) return;
    this.#waiting.shift();
    if (allowed.length === 0) this.#pieces.drop(sentence);
    for (const each of allowed) this.#pass(this.#pieces.add(each));
  }

  #pass(pieces: readonly SpokenPiece[]): void {
    for (const { text, dropped } of pieces) this.#options.pass(text, dropped);
  }
}
