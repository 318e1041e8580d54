// How requests to an MCP server are made: over connections of their own, which nobody keeps, with a bound on what is read.
import type { ClientRequest, IncomingMessage } from 'node:http';
import { McpFailure } from './failure.js';

/** Longest answer to one request, in bytes: reading it must not hold up the audio of other calls. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Statuses that have no body. Source: Fetch standard, "null body status". */
const NO_BODY: readonly number[] = [204, 205, 304];

/** Errors of a connection that never was: nothing was asked for then. */
const UNCONNECTED: ReadonlySet<string> = new Set([
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
]);

export interface McpFetchOptions {
  /** The stream of answers to the request `id` is over, and whatever it brought was read. */
  streamEnded(id: unknown, failure: McpFailure): void;
}

/**
 * A `fetch` for the client of the SDK. It opens no stream of notifications (GET): nothing is done with them, and each would be a socket that
 * stays. What was asked is never asked again by itself: a tool may do something in the world.
 */
export function createMcpFetch(
  options: McpFetchOptions,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  /** Requests of which the answer is still to come, by the ids of JSON-RPC. */
  const unanswered = new Map<unknown, ClientRequest>();
  return async (url, init = {}) => {
    if (init.method === 'GET') return new Response(null, { status: 405 });
    const address = new URL(url);
    const { request } =
      address.protocol === 'https:' ? await import('node:https') : await import('node:http');
    const outgoing = request(address, {
      method: init.method ?? 'POST',
      agent: false,
      headers: { ...Object.fromEntries(new Headers(init.headers)), 'accept-encoding': 'identity' },
    });
    const message = toMessage(init.body);
    // The SDK says that it waits no more, and leaves the connection.
    if (message.method === 'notifications/cancelled')
      unanswered.get(message.params?.requestId)?.destroy(new McpFailure('ended'));
    if (message.id !== undefined) {
      unanswered.set(message.id, outgoing);
      outgoing.once('close', () => unanswered.delete(message.id));
    }
    const response = await answerOf(outgoing, init);
    const status = response.statusCode ?? 0;
    const headers = new Headers();
    for (const [name, value] of Object.entries(response.headers)) headers.set(name, String(value));
    if (status < 200 || status > 599) {
      response.destroy();
      throw new McpFailure('unreadable', { status });
    }
    if (NO_BODY.includes(status)) response.resume();
    const isStream = /^text\/event-stream\b/i.test(response.headers['content-type'] ?? '');
    const ended = isStream ? streamEnd(message, options) : () => {};
    const body = NO_BODY.includes(status) ? null : readBounded(response, ended);
    return new Response(body, { status, headers });
  };
}

/** What is read of a message of the SDK's. */
interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly requestId?: unknown };
}

function toMessage(body: unknown): Message {
  return JSON.parse(typeof body === 'string' ? body : '{}') as Message;
}

function answerOf(outgoing: ClientRequest, { body, signal }: RequestInit): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const abort = () => outgoing.destroy(new McpFailure('ended'));
    outgoing.on('close', () => signal?.removeEventListener('abort', abort));
    outgoing.on('error', (cause: NodeJS.ErrnoException) => {
      const trouble = UNCONNECTED.has(cause.code ?? '') ? 'unreachable' : 'ended';
      reject(cause instanceof McpFailure ? cause : new McpFailure(trouble, { cause }));
    });
    outgoing.on('response', resolve);
    if (signal?.aborted === true) abort();
    else {
      signal?.addEventListener('abort', abort, { once: true });
      outgoing.end(typeof body === 'string' ? body : undefined);
    }
  });
}

/** Tells the end of a stream once whatever it brought has been handed on. */
function streamEnd({ id }: Message, { streamEnded }: McpFetchOptions): (failure: McpFailure) => void {
  return (failure) => {
    if (id !== undefined) setImmediate(() => streamEnded(id, failure));
  };
}

function readBounded(
  response: IncomingMessage,
  ended: (failure: McpFailure) => void,
): ReadableStream<Uint8Array> {
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await chunks.next();
        if (done === true) {
          controller.close();
          ended(new McpFailure('ended'));
          return;
        }
        bytes += value.length;
        if (bytes > MAX_MESSAGE_BYTES) throw new McpFailure('too-large');
        controller.enqueue(new Uint8Array(value));
      } catch (cause) {
        response.destroy();
        const failure = cause instanceof McpFailure ? cause : new McpFailure('ended', { cause });
        controller.error(failure);
        ended(failure);
      }
    },
    cancel() {
      response.destroy();
    },
  });
}
