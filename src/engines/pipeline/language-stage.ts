// The language stage of one call: asked turn by turn, and kept warm in between.
import type { Clock } from '../../base/clock.js';
import type { LanguageModel, LanguageModelEvent } from '../../providers/language-model.js';
import { gaveNothing, owesWords, saysSomething } from '../../base/owed-words.js';
import type { ReplySource, ThinkingTimeouts } from './speaking/reply.js';
import type { ToolBox } from '../tools/tool-box.js';
import type { TurnBook } from '../turn-book.js';

export interface LanguageStageOptions {
  readonly callId: string;
  readonly clock: Clock;
  readonly model: LanguageModel;
  /** An application may say nothing. */
  readonly timeouts: ThinkingTimeouts;
  /** What the model may call; undefined for one that gives text alone. */
  readonly tools?: ToolBox | undefined;
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
    const { callId, clock, model, timeouts, tools, turns } = this.#options;
    this.#usedAt = clock.now();
    const messages = turns.asking(rounds);
    const reply = model.respond({ callId, messages, tools: tools?.definitions, signal });
    // What is no stream whoever reads it says.
    const isStream = Symbol.asyncIterator in Object(reply);
    return timeouts.isApplication === true || !isStream || !owesWords(messages)
      ? reply
      : wordsOf(reply, signal);
  };
}

/** The reply, of which the caller is to hear something. @throws ProviderError when it ends without a word and without a call */
async function* wordsOf(
  reply: AsyncIterable<LanguageModelEvent>,
  signal: AbortSignal,
): AsyncGenerator<LanguageModelEvent> {
  let said = '';
  let hasCall = false;
  const assertWords = () => {
    if (!hasCall && !saysSomething(said) && !signal.aborted)
      throw gaveNothing('The language model ended its answer without a word');
  };
  for await (const event of reply) {
    if (event?.type === 'text' && typeof event.delta === 'string') said += event.delta;
    // Who goes on for another model does not go on with its thoughts.
    if (event?.type === 'replaced' && !saysSomething(said)) said = '';
    hasCall ||= event?.type === 'tool-call' || event?.type === 'end-call';
    if (event?.type === 'end' && event.reason !== 'interrupted') assertWords();
    yield event;
  }
  assertWords();
}
