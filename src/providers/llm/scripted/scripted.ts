// A language model without a model: answers by rules, word by word, as fast as it is told to.
import { type Clock, systemClock } from '../../../base/clock.js';
import { pause } from '../../../base/pause.js';
import { FREE } from '../../../contract/price.js';
import type { LanguageModel, LanguageModelEvent, LanguageModelRequest } from '../../language-model.js';
import { scriptedAnswer } from './rules.js';

export interface ScriptedLanguageModelOptions {
  /** Time to the first word, in milliseconds. @default 120 */
  readonly firstWordMs?: number;
  /** Words streamed in a second, 1 to 1000. @default 40 */
  readonly wordsPerSecond?: number;
  readonly clock?: Clock;
}

const DEFAULT_FIRST_WORD_MS = 120;
const DEFAULT_WORDS_PER_SECOND = 40;

/** A usual rule of thumb for English. */
const CHARACTERS_PER_TOKEN = 4;

export class ScriptedLanguageModel implements LanguageModel {
  readonly kind = 'llm';
  readonly name = 'scripted';
  readonly price = FREE;
  readonly #clock: Clock;
  readonly #firstWordMs: number;
  readonly #wordMs: number;

  constructor(options: ScriptedLanguageModelOptions = {}) {
    const wordsPerSecond = options.wordsPerSecond ?? DEFAULT_WORDS_PER_SECOND;
    this.#clock = options.clock ?? systemClock;
    this.#firstWordMs = Math.max(0, options.firstWordMs ?? DEFAULT_FIRST_WORD_MS);
    this.#wordMs = 1000 / Math.min(1000, Math.max(1, wordsPerSecond));
  }

  async *respond({ messages, signal }: LanguageModelRequest): AsyncGenerator<LanguageModelEvent> {
    const answer = scriptedAnswer(messages);
    let delayMs = this.#firstWordMs;
    for (const word of answer.text.match(/(?<!\s)\s*\S+/g) ?? []) {
      await pause(this.#clock, delayMs, signal);
      if (signal.aborted) return;
      yield { type: 'text', delta: word };
      delayMs = this.#wordMs;
    }
    const asked = messages.reduce((sum, message) => sum + message.content.length, 0);
    yield {
      type: 'usage',
      usage: {
        inputTokens: Math.ceil(asked / CHARACTERS_PER_TOKEN),
        cachedTokens: 0,
        outputTokens: Math.ceil(answer.text.length / CHARACTERS_PER_TOKEN),
      },
    };
    if (answer.endCall) yield { type: 'end-call' };
  }
}
