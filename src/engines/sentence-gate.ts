// Sentences between the language stage and the voice: they pass the guardrails one after the other, and leave in the order they came.
import type { Guardrails } from './guardrails.js';

export interface SentenceGateOptions {
  /** Without them everything passes at once. */
  readonly guardrails: Guardrails | undefined;
  /** A sentence may be spoken. */
  readonly pass: (sentence: string) => void;
}

/** One per reply. What does not pass was generated and is not heard: it is kept for the record. */
export class SentenceGate {
  readonly #options: SentenceGateOptions;
  readonly #abort = new AbortController();
  readonly #waiting: string[] = [];
  readonly #dropped: string[] = [];
  #last: Promise<void> = Promise.resolve();
  #isShut = false;

  constructor(options: SentenceGateOptions) {
    this.#options = options;
  }

  /** Sentences that are before the gate, the one that the guardrails look at included. */
  get waiting(): readonly string[] {
    return this.#waiting;
  }

  /** Sentences that the guardrails have dropped. */
  get dropped(): readonly string[] {
    return this.#dropped;
  }

  /** Where there are guardrails: resolves when they have let through, or dropped, all that came so far. */
  enter(sentences: readonly string[]): Promise<void> | undefined {
    const { guardrails, pass } = this.#options;
    if (this.#isShut) return undefined;
    if (guardrails === undefined) {
      for (const sentence of sentences) pass(sentence);
      return undefined;
    }
    for (const sentence of sentences) {
      this.#waiting.push(sentence);
      this.#last = this.#last.then(() => (this.#isShut ? undefined : this.#check(guardrails, sentence)));
    }
    return this.#last;
  }

  /** Nothing passes any more. What is before the gate stays there. Idempotent. */
  shut(): void {
    this.#isShut = true;
    this.#abort.abort();
  }

  async #check(guardrails: Guardrails, sentence: string): Promise<void> {
    const allowed = await guardrails.check(sentence, this.#abort.signal);
    if (this.#isShut) return;
    this.#waiting.shift();
    if (allowed.length === 0) this.#dropped.push(sentence);
    for (const each of allowed) this.#options.pass(each);
  }
}
