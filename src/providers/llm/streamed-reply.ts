// One reply that a language model streams over HTTP, from the request to its end: deadlines, the one retry, the abort. Knows no dialect.
import type { Clock } from '../../base/clock.js';
import type { LanguageModelEvent, LanguageModelRequest, ReplyEnd } from '../language-model.js';
import type { VendorNames } from '../wire/access.js';
import { toProviderError, transientFailure, WireError, type WireFailure } from '../wire/failure.js';
import type { HttpAnswer } from '../wire/http-channel.js';
import { pause } from '../../base/pause.js';
import { LONGEST_RETRY_AFTER_MS } from '../wire/retry-plan.js';
import { readReplyStream, type StreamedReply } from './reply-stream.js';

export interface ReplySource {
  /** For the sentences of errors. */
  readonly names: VendorNames;
  readonly clock: Clock;
  readonly createReply: () => StreamedReply;
  /** The answer to the request, once the server has accepted it. @throws WireError */
  readonly open: (options: { answerTimeoutMs: number; signal: AbortSignal }) => Promise<HttpAnswer>;
}

/** Longest wait for the first word, and for all of a reply, in milliseconds. */
export const FIRST_WORD_MS = 6000;
export const TOTAL_MS = 60_000;

const RETRY_PAUSE_MS = 100;

/**
 * One retry, and only before the first word: a timeout, a conflict, a busy or broken server, a connection that is lost, and one that is
 * closed in good order before the model has said that it is done. @throws ProviderError
 */
export async function* streamReply(
  source: ReplySource,
  signal: AbortSignal,
): AsyncGenerator<LanguageModelEvent> {
  const { clock, names } = source;
  const startedAt = clock.now();
  const deadlines = { firstWordBy: startedAt + FIRST_WORD_MS, allBy: startedAt + TOTAL_MS };
  const retry = new RetryNote(clock);
  for (let retried = false; !signal.aborted; retried = true) {
    const reply = source.createReply();
    let accepted = false;
    let hasText = false;
    try {
      const answerTimeoutMs = Math.max(1, deadlines.firstWordBy - clock.now());
      const answer = await source.open({ answerTimeoutMs, signal });
      accepted = true;
      for await (const delta of readReplyStream(answer, reply, { clock, ...deadlines })) {
        if (signal.aborted) break;
        yield* retry.worked();
        hasText ||= delta !== '';
        yield delta === '' ? WORKING : { type: 'text', delta };
      }
      if (signal.aborted) return yield* reply.conclude({ aborted: true });
      const end = toEnd(reply, { hasText });
      yield* retry.worked();
      yield* end;
      return;
    } catch (error) {
      if (signal.aborted) {
        // What the server had accepted will be paid for.
        yield* accepted ? reply.conclude({ aborted: true }) : [INTERRUPTED];
        return;
      }
      if (accepted) yield* costOfFailed(reply);
      const failure = toFailure(error);
      const pauseMs = retried || reply.started ? null : retryPause(failure);
      if (pauseMs === null || clock.now() + pauseMs >= deadlines.firstWordBy)
        throw toProviderError(names, failure);
      await pause(clock, pauseMs, signal);
      retry.sent();
    }
  }
  yield INTERRUPTED;
}

/**
 * What follows the text of a reply whose stream is over. @throws WireError when it was over before the reply was, and for a model that
 * has used all the tokens that it may for its thoughts, or for a call that it could not finish: its caller would hear nothing.
 */
export function toEnd(
  reply: Pick<StreamedReply, 'started' | 'conclude'>,
  { hasText }: { readonly hasText: boolean },
): LanguageModelEvent[] {
  const events = reply.conclude({ aborted: false });
  const ends = (reason: ReplyEnd) => events.some((event) => event.type === 'end' && event.reason === reason);
  if (ends('interrupted'))
    throw new WireError(
      transientFailure(reply.started ? 'broke off its answer before its end' : 'gave an empty answer'),
    );
  if (ends('length') && !hasText)
    throw new WireError(transientFailure('gave no answer within its limit of tokens'));
  return events;
}

/** What a request has cost that was accepted and failed then: nothing only where the server said so before anything came of it. */
export function costOfFailed(
  reply: Pick<StreamedReply, 'started' | 'failure' | 'conclude'>,
): LanguageModelEvent[] {
  if (reply.failure !== undefined && !reply.started) return [];
  return reply.conclude({ aborted: true }).filter(({ type }) => type === 'usage');
}

/** Tells of a request that was sent again, once it is answered. Made when the request is sent. */
export class RetryNote {
  readonly #clock: Clock;
  readonly #startedAt: number;
  #gapMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  /** It is sent again. */
  sent(): void {
    this.#gapMs = this.#clock.now() - this.#startedAt;
  }

  /** It is answered. */
  *worked(): Generator<LanguageModelEvent> {
    if (this.#gapMs !== undefined) yield { type: 'recovered', gapMs: this.#gapMs };
    this.#gapMs = undefined;
  }
}

/** How long to wait before the one retry, null when there is to be none. */
export function retryPause({ kind, retryAfterMs }: WireFailure): number | null {
  if (kind === 'fatal' || (retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS) return null;
  return Math.max(RETRY_PAUSE_MS, retryAfterMs ?? 0);
}

/** Length of what is sent, for an estimate where the vendor tells no usage. */
export function countCharacters({ messages, tools = [] }: LanguageModelRequest): number {
  const toolsLength = tools.length === 0 ? 0 : JSON.stringify(tools).length;
  return messages.reduce((sum, message) => sum + message.content.length, toolsLength);
}

export const WORKING: LanguageModelEvent = { type: 'working' };

export const INTERRUPTED: LanguageModelEvent = { type: 'end', reason: 'interrupted' };

function toFailure(error: unknown): WireFailure {
  if (error instanceof WireError) return error.failure;
  return { kind: 'fatal', status: null, retryAfterMs: null, reason: 'could not be asked', cause: error };
}
