// An application's onMessage in the place of the language model.
import type { Clock } from '../base/clock.js';
import { ProviderError } from '../base/errors.js';
import type { ChatMessage, LanguageModel, LanguageModelEvent } from '../providers/language-model.js';
import { guardedStream, guardedValue } from './guarded-stream.js';

/** What onMessage is given: one finished turn of the caller. */
export interface MessageData {
  readonly callId: string;
  /** What the caller said. */
  readonly text: string;
  readonly caller: string;
  readonly callee: string;
  /** The conversation before this turn, without the system prompt. `assistant` texts are what the caller heard. */
  readonly history: readonly ChatMessage[];
  /** Aborted when the caller interrupts or hangs up: the answer is then of no use any more. */
  readonly signal: AbortSignal;
}

/** Answers a turn: the whole text, or its pieces as they come. Empty text says nothing. Called once per turn, never twice at a time. */
export type OnMessage = (
  data: MessageData,
) => string | AsyncIterable<string> | Promise<string | AsyncIterable<string>>;

export interface ResponderOptions {
  readonly onMessage: OnMessage;
  readonly caller: string;
  readonly callee: string;
  readonly clock: Clock;
  /** Longest wait for the answer, and between two pieces of one. @default 30000 */
  readonly timeoutMs?: number;
}

/** Name of the stage in records. */
export const RESPONDER_NAME = 'onMessage';

const DEFAULT_TIMEOUT_MS = 30_000;

/** One call's onMessage as a language stage. A throw, a timeout and an answer that is no text are ProviderErrors. */
export function createResponder(options: ResponderOptions): LanguageModel {
  const { onMessage, caller, callee, clock } = options;
  const waitMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  return {
    name: RESPONDER_NAME,
    async *respond({ callId, messages, signal }): AsyncGenerator<LanguageModelEvent> {
      const guard = { clock, signal, source: RESPONDER_NAME, firstMs: waitMs, nextMs: waitMs };
      const history = messages.filter((message) => message.role !== 'system');
      const text = history.at(-1)?.content ?? '';
      try {
        const data = { callId, text, caller, callee, history: history.slice(0, -1), signal };
        const asked = Promise.resolve().then(() => onMessage(data));
        const answer = await guardedValue(asked, guard);
        if (signal.aborted) return;
        if (typeof answer === 'string') {
          yield { type: 'text', delta: answer };
          return;
        }
        if (!isStream(answer)) throw notText();
        for await (const delta of guardedStream(answer, guard)) {
          if (typeof delta !== 'string') throw notText();
          yield { type: 'text', delta };
        }
      } catch (cause) {
        if (signal.aborted) return;
        throw cause instanceof ProviderError
          ? cause
          : new ProviderError('onMessage failed', { status: null, retryable: false, cause });
      }
    },
  };
}

function isStream(answer: unknown): answer is AsyncIterable<unknown> {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
}

function notText(): ProviderError {
  return new ProviderError('onMessage must return a string or an async iterable of strings', {
    status: null,
    retryable: false,
  });
}
