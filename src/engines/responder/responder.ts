// An application's onMessage in the place of the language model.
import type { Clock } from '../../base/clock.js';
import { ProviderError } from '../../base/errors.js';
import { type Logger, logThrown } from '../../base/log.js';
import type { CallContext } from '../../contract/call-context.js';
import { LIMITS } from '../../conversation/limits.js';
import type { ChatMessage, LanguageModel, LanguageModelEvent } from '../../providers/language-model.js';
import { guardedStream, guardedValue } from '../guarded-stream.js';

/** What onMessage is given: one finished turn of the caller. */
export interface MessageData extends CallContext {
  /** What the caller said. */
  readonly text: string;
  /**
   * The rest of the conversation, without the system prompt. `assistant` texts are what the caller heard; `system` ones are those that
   * `phone.inform` has told.
   */
  readonly history: readonly ChatMessage[];
  /** Aborted when the caller interrupts or hangs up: the answer is then of no use any more. */
  readonly signal: AbortSignal;
}

/** Answers a turn: the whole text, or its pieces as they come. Empty text says nothing. Called once per turn, never twice at a time. */
export type OnMessage = (
  data: MessageData,
) => string | AsyncIterable<string> | Promise<string | AsyncIterable<string>>;

/** What one call's onMessage is made of: the function itself, or the way to an address. */
export interface MessageRoute {
  readonly onMessage: OnMessage;
  warmUp?(): void;
  close?(): void;
}

export interface ResponderOptions extends MessageRoute {
  readonly call: CallContext;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Name of the stage in records. */
export const RESPONDER_NAME = 'onMessage';

/** A stream that gives nothing but empty pieces is no answer, and keeps everybody else waiting. */
const MAX_EMPTY_PIECES = 1000;

/** So many turns in a row may go without an answer: with the last of them the call is over. */
const MAX_FAILURES = 3;

/** onMessage gave no answer in this turn. */
export class MessageError extends ProviderError {
  /** It failed in the turns before, too: it will not come back. */
  readonly isLast: boolean;

  constructor(
    { message, status, retryable, cause }: ProviderError,
    { isLast }: { readonly isLast: boolean },
  ) {
    super(message, { status, retryable, cause });
    this.isLast = isLast;
  }
}

/** One call's onMessage as a language stage. A throw, a timeout and an answer that is not text are MessageErrors. */
export function createResponder(options: ResponderOptions): LanguageModel {
  const { onMessage, call, clock, logger } = options;
  const { callId } = call;
  const { answerMs } = LIMITS.application;
  let failures = 0;
  return {
    name: RESPONDER_NAME,
    warmUp: () => options.warmUp?.(),
    async *respond({ messages, signal }): AsyncGenerator<LanguageModelEvent> {
      const guard = { clock, signal, source: RESPONDER_NAME, firstMs: answerMs, nextMs: answerMs };
      const told = messages.filter((message) => message.role !== 'system' || message.isNote === true);
      const place = told.findLastIndex(({ role }) => role === 'user');
      const text = told[place]?.content ?? '';
      const history = told.filter((_, index) => index !== place);
      const abort = linkedAbort(signal);
      let isFinished = false;
      let isSilent = true;
      try {
        const data = { ...call, text, history, signal: abort.signal };
        const asked = Promise.resolve().then(() => onMessage(data));
        const answer = await guardedValue(asked, guard);
        if (signal.aborted) return;
        for await (const delta of guardedStream(toPieces(answer), guard)) {
          isSilent &&= delta.trim() === '';
          yield { type: 'text', delta };
        }
        isFinished = !signal.aborted;
        if (isFinished) failures = 0;
        if (isFinished && isSilent) logger.info({ callId }, 'onMessage gave no answer');
      } catch (cause) {
        if (signal.aborted) return;
        failures += 1;
        throw new MessageError(toProviderError(cause, { callId, logger }), {
          isLast: failures >= MAX_FAILURES,
        });
      } finally {
        // Who is still at it has no listener any more.
        abort.release({ abort: !isFinished });
      }
    },
  };
}

/** What the application itself has thrown is its own affair: it is told where. */
function toProviderError(
  cause: unknown,
  { callId, logger }: { callId: string; logger: Logger },
): ProviderError {
  if (cause instanceof ProviderError) return cause;
  logThrown({ logger, thrown: cause }, { callId }, 'onMessage failed');
  return new ProviderError('onMessage failed', { status: null, retryable: false, cause });
}

/** A signal that follows `signal`, and can be aborted on its own. */
function linkedAbort(signal: AbortSignal) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    release(options: { abort: boolean }) {
      signal.removeEventListener('abort', abort);
      if (options.abort) abort();
    },
  };
}

/** @throws ProviderError for what is not text. */
async function* toPieces(answer: unknown): AsyncGenerator<string> {
  if (typeof answer === 'string') {
    yield answer;
    return;
  }
  if (!isStream(answer)) throw notText();
  let empty = 0;
  for await (const delta of answer) {
    if (typeof delta !== 'string') throw notText();
    empty = delta === '' ? empty + 1 : 0;
    if (empty > MAX_EMPTY_PIECES)
      throw new ProviderError('onMessage yielded only empty strings', { status: null, retryable: false });
    if (delta !== '') yield delta;
  }
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
