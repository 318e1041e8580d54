// What a realtime call needs before it has a stream. A session is recognizer and voice in one, and some are paid by the clock: it is opened
// when the call is answered, and not while a phone rings.
import type { Preparation, PreparationContext } from '../engine.js';
import { PreparedModel, type PreparedModelOptions } from './prepared-model.js';

export class RealtimePreparation implements Preparation {
  /** In the place of the model that it was made of. */
  readonly model: PreparedModel;
  readonly #context: PreparationContext;
  #isTaken = false;

  constructor(context: PreparationContext, options: Omit<PreparedModelOptions, 'context'>) {
    this.#context = context;
    this.model = new PreparedModel({ ...options, context });
  }

  answered(): void {
    if (!this.#isTaken) this.model.connect();
  }

  close(): void {
    if (this.#isTaken) return;
    this.model.abandon({ fact: (fact) => this.#context.spent?.(fact) });
  }

  /** An engine is made of it, which abandons the model if it never opens it. */
  handOver(): void {
    this.#isTaken = true;
  }
}
