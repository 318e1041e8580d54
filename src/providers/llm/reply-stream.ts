// Reads the body of a streamed reply, with the deadlines of a telephone call.
import type { Clock, Timer } from '../../base/clock.js';
import { pause } from '../../base/pause.js';
import type { LanguageModelEvent } from '../language-model.js';
import { fatalFailure, transientFailure, WireError, type WireFailure } from '../wire/failure.js';
import type { HttpAnswer } from '../wire/http-channel.js';
import { SseReader } from '../../base/sse.js';

/** What the events of one stream add up to. */
export interface StreamedReply {
  /** True once there is text or a tool call: from here on nothing may be tried again. */
  readonly started: boolean;
  /** The model is done; only usage may still come. */
  readonly finished: boolean;
  /** Nothing more will come. */
  readonly done: boolean;
  /** An error that came inside the stream. */
  readonly failure: WireFailure | undefined;
  /** Takes the data of one event and returns the text in it, which may be empty. Never throws. */
  take(data: string): string;
  /** What follows the text: tool calls, usage, end. That is `interrupted` after an abort, and where the model has not said that it is done. */
  conclude(options: { aborted: boolean }): LanguageModelEvent[];
}

export interface ReplyStreamOptions {
  readonly clock: Clock;
  /** Times of the clock: the first word must be there by one, everything by the other. */
  readonly firstWordBy: number;
  readonly allBy: number;
}

/** Longest silence between two pieces of a reply, and after its end for the usage. */
export const NEXT_MS = 4000;
const USAGE_MS = 1000;

/** What is behind the last event mostly came with it. A request that follows at once then finds the connection free. */
const DRAIN_MS = 10;

/** The text of a reply as it comes, empty where a tool call grows; what else is in it is gathered in `reply`. @throws WireError when it breaks before its end. */
export async function* readReplyStream(
  answer: HttpAnswer,
  reply: StreamedReply,
  options: ReplyStreamOptions,
): AsyncGenerator<string> {
  const { clock } = options;
  const type = answer.header('content-type');
  if (type !== undefined && !type.includes('text/event-stream')) {
    answer.discard();
    throw new WireError(fatalFailure('did not answer with a stream of events'));
  }
  const sse = new SseReader();
  const chunks = answer.chunks[Symbol.asyncIterator]();
  let drained = false;
  try {
    while (!reply.done && !sse.overflowed) {
      const timer = clock.after(waitMs(reply, options), () =>
        answer.discard(new WireError(transientFailure('did not go on in time'))),
      );
      const chunk = await next(chunks, timer, reply);
      const events = chunk === undefined ? sse.end() : sse.push(chunk);
      for (const { data } of events) {
        const text = reply.take(data);
        if (text !== '' || (reply.started && !reply.finished)) yield text;
      }
      if (chunk !== undefined) continue;
      drained = true;
      break;
    }
    // What goes wrong after the model was done takes nothing from the reply.
    if (reply.failure !== undefined && !reply.finished) throw new WireError(reply.failure);
    if (sse.overflowed && !reply.finished)
      throw new WireError(fatalFailure('sent an event that is too long'));
    if (!drained && !sse.overflowed) {
      drained = true;
      await Promise.race([drain(chunks, answer, clock), pause(clock, DRAIN_MS)]);
    }
  } finally {
    if (!drained) answer.discard();
  }
}

function waitMs(reply: StreamedReply, { clock, firstWordBy, allBy }: ReplyStreamOptions): number {
  const now = clock.now();
  if (reply.finished) return USAGE_MS;
  return reply.started ? Math.min(NEXT_MS, allBy - now) : firstWordBy - now;
}

/** The next bytes, undefined at the end. What breaks after the model was done takes nothing from the reply. */
async function next(
  chunks: AsyncIterator<Uint8Array>,
  timer: Timer,
  reply: StreamedReply,
): Promise<Uint8Array | undefined> {
  try {
    const { done, value } = await chunks.next();
    return done === true ? undefined : value;
  } catch (error) {
    if (reply.finished) return undefined;
    throw error;
  } finally {
    timer.cancel();
  }
}

/** Reads what is left behind the last event, so that the connection can be used again. */
async function drain(chunks: AsyncIterator<Uint8Array>, answer: HttpAnswer, clock: Clock): Promise<void> {
  const timer = clock.after(USAGE_MS, () => answer.discard());
  try {
    while ((await chunks.next()).done !== true);
  } catch {
    // The connection is gone, and the reply was complete.
  } finally {
    timer.cancel();
  }
}
