// The application's last word on what the agent says: every sentence is shown to it before it is spoken.
import type { Clock } from '../../../base/clock.js';
import { type Logger, logThrown } from '../../../base/log.js';
import type { CallContext } from '../../../contract/call-context.js';
import { LIMITS } from '../../../conversation/limits.js';
import { guardedValue } from '../../guarded-stream.js';
import { singleSentences } from './sentence-splitter.js';

/**
 * Looks at a sentence before it is spoken, whoever wrote it: the greeting, fillers and the apology for a failure are shown like what
 * the language stage says. True lets it pass, false drops it, a text is said in its place. Anything else, a throw, and no answer
 * within a second drop it, too. What is dropped of an answer stands in the turn's `agentTextUnheard`. A sentence of more than 300
 * characters comes in parts.
 */
export type Guardrail = (sentence: string, call: CallContext) => boolean | string | Promise<boolean | string>;

export interface GuardrailsOptions {
  readonly guardrails: readonly Guardrail[];
  readonly call: CallContext;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class Guardrails {
  readonly #options: GuardrailsOptions;
  /** Answers by sentence that `check` has still to give. */
  readonly #ahead = new Map<string, Promise<readonly string[]>>();

  constructor(options: GuardrailsOptions) {
    this.#options = options;
  }

  /** What may be spoken of a sentence, ready for the voice. Each guardrail sees what the one before made of it. Never rejects. */
  check(sentence: string, signal: AbortSignal): Promise<readonly string[]> {
    const known = this.#ahead.get(sentence);
    this.#ahead.delete(sentence);
    return known ?? this.#ask(sentence, signal);
  }

  /** The same before its time. The next `check` of the sentence gives this answer: guardrails are asked once for what is said once. */
  checkAhead(sentence: string, signal: AbortSignal): Promise<readonly string[]> {
    const answer = this.#ask(sentence, signal);
    this.#ahead.set(sentence, answer);
    return answer;
  }

  /** The same for a text of some sentences, each of which is checked by itself. */
  async checkText(text: string, signal: AbortSignal): Promise<string> {
    const allowed: string[] = [];
    for (const sentence of singleSentences(text)) allowed.push(...(await this.check(sentence, signal)));
    return allowed.join(' ');
  }

  async #ask(sentence: string, signal: AbortSignal): Promise<readonly string[]> {
    let text = sentence;
    for (const guardrail of this.#options.guardrails) {
      const verdict = await this.#verdict(guardrail, text, signal);
      if (verdict === false) return [];
      if (typeof verdict === 'string') text = verdict;
    }
    return text === sentence ? [sentence] : singleSentences(text);
  }

  async #verdict(guardrail: Guardrail, text: string, signal: AbortSignal): Promise<boolean | string> {
    const { call, clock, logger } = this.#options;
    const { callId } = call;
    try {
      const asked = Promise.resolve().then(() => guardrail(text, call));
      const guard = {
        clock,
        signal,
        source: 'a guardrail',
        firstMs: LIMITS.application.guardrailMs,
        nextMs: LIMITS.application.guardrailMs,
      };
      const verdict: unknown = await guardedValue(asked, guard);
      if (typeof verdict === 'boolean' || typeof verdict === 'string') return verdict;
      if (!signal.aborted) logger.warn({ callId }, 'a guardrail gave no valid result: sentence dropped');
    } catch (thrown) {
      logThrown({ logger, thrown }, { callId }, 'a guardrail failed: the sentence is not spoken');
    }
    return false;
  }
}
