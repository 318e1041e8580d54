// onMessage as an address: every turn is posted there, and the answer is spoken as it comes.
import type { Clock } from '../../base/clock.js';
import { ProviderError } from '../../base/errors.js';
import { SseReader } from '../../base/sse.js';
import { LIMITS } from '../../conversation/limits.js';
import { type EndpointAnswer, EndpointError, OperatorEndpoint, readBody } from './operator-endpoint.js';
import type { MessageData, OnMessage } from './responder.js';

/** An answer is a few sentences: whoever sends more than this means something else. */
const MAX_BODY_BYTES = 256 * 1024;
const MAX_STREAM_BYTES = 1024 * 1024;

const ACCEPT = 'text/event-stream, application/json, text/plain';

/** For all calls: a connection knows nothing of any, and the next turn does not wait for a new one. */
const endpoint = new OperatorEndpoint({ keepAlive: true });

/** Answers `application/json` `{ "text" }`, `text/plain`, or `text/event-stream` of `{ "delta" }`. Throws ProviderErrors. */
export function createHttpOnMessage(url: URL, clock: Clock): OnMessage {
  const timeoutMs = LIMITS.application.answerMs;
  return async function* ({ signal, ...data }: MessageData): AsyncGenerator<string> {
    try {
      const body = JSON.stringify(data);
      const answer = await endpoint.post({ url, body, accept: ACCEPT, signal, clock, timeoutMs });
      yield* readAnswer(answer);
    } catch (error) {
      if (!(error instanceof EndpointError)) throw error;
      const { status } = error;
      const isRetryable = status === null || status >= 500;
      throw new ProviderError(`onMessage at ${url.host} ${error.message}`, {
        status,
        retryable: isRetryable,
        cause: error,
      });
    }
  };
}

function readAnswer(answer: EndpointAnswer): AsyncIterable<string> {
  if (answer.mediaType === 'text/event-stream') return readEvents(answer);
  if (answer.mediaType === 'text/plain') return readText(answer);
  return readJson(answer);
}

async function* readJson(answer: EndpointAnswer): AsyncGenerator<string> {
  const body = await readBody(answer, { maxBytes: MAX_BODY_BYTES });
  // An answer without a body says nothing.
  if (body === '' && answer.mediaType === '') return;
  if (answer.mediaType !== 'application/json')
    throw new EndpointError('answered with neither JSON, plain text nor an event stream');
  yield textOf(body, 'text');
}

async function* readText(answer: EndpointAnswer): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of boundedChunks(answer)) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

async function* readEvents(answer: EndpointAnswer): AsyncGenerator<string> {
  const reader = new SseReader();
  for await (const chunk of boundedChunks(answer)) {
    for (const { data } of reader.push(chunk)) {
      if (data === '[DONE]') return;
      yield textOf(data, 'delta');
    }
  }
  for (const { data } of reader.end()) if (data !== '[DONE]') yield textOf(data, 'delta');
}

async function* boundedChunks(answer: EndpointAnswer): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of answer.chunks) {
    bytes += chunk.length;
    if (bytes > MAX_STREAM_BYTES) throw new EndpointError('gave an answer that is too long');
    yield chunk;
  }
}

/** @throws EndpointError when there is no text of that name. */
function textOf(json: string, name: 'text' | 'delta'): string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new EndpointError('did not answer with valid JSON');
  }
  const text: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  if (typeof text === 'string') return text;
  throw new EndpointError(`gave an answer without "${name}"`);
}
