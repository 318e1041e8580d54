// The language stage of one call: asked turn by turn, and kept warm in between.
import type { Clock } from '../base/clock.js';
import type { LanguageModel, LanguageModelEvent } from '../providers/language-model.js';
import type { Conversation } from './conversation.js';

export interface LanguageStageOptions {
  readonly callId: string;
  readonly clock: Clock;
  readonly model: LanguageModel;
  readonly conversation: Conversation;
}

/** A connection that was idle for longer may have to be made anew. */
const WARM_MS = 30_000;

export class LanguageStage {
  readonly #options: LanguageStageOptions;
  #usedAt = Number.NEGATIVE_INFINITY;

  constructor(options: LanguageStageOptions) {
    this.#options = options;
  }

  /** Readies the connection, unless it was used just now. @throws what the model throws */
  warmUp(): void {
    const { clock, model } = this.#options;
    if (clock.now() - this.#usedAt <= WARM_MS) return;
    this.#usedAt = clock.now();
    model.warmUp?.();
  }

  /** What answers `userText`. The history is that of this moment. */
  answerTo(userText: string): (signal: AbortSignal) => AsyncIterable<LanguageModelEvent> {
    const { callId, clock, model, conversation } = this.#options;
    const messages = conversation.asking(userText);
    this.#usedAt = clock.now();
    return (signal) => model.respond({ callId, messages, signal });
  }
}
