// The language stage of one call: asked turn by turn, and kept warm in between.
import type { Clock } from '../base/clock.js';
import type { LanguageModel } from '../providers/language-model.js';
import type { ReplySource } from './reply.js';
import type { ToolBox } from './tools/tool-box.js';
import type { TurnBook } from './turn-book.js';

export interface LanguageStageOptions {
  readonly callId: string;
  readonly clock: Clock;
  readonly model: LanguageModel;
  /** What the model may call; undefined for one that gives text alone. */
  readonly tools: ToolBox | undefined;
  readonly turns: TurnBook;
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

  /** Answers the caller, or goes on behind `rounds`. The history is that of this moment. */
  readonly answer: ReplySource = (signal, rounds) => {
    const { callId, clock, model, tools, turns } = this.#options;
    this.#usedAt = clock.now();
    const messages = turns.asking(rounds);
    return model.respond({ callId, messages, tools: tools?.definitions, signal });
  };
}
