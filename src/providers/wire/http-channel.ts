// HTTP to a vendor over connections that stay open between the turns of a call, with deadlines that suit a telephone.
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../base/clock.js';
import { KeptConnections, type Transport } from '../../base/kept-connections.js';
import { connectionFailure, transientFailure, WireError } from './failure.js';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Closes the connection when it aborts; the request and the reading then reject. */
  readonly signal?: AbortSignal | undefined;
  readonly clock: Clock;
  /** Longest wait for a new connection, its encryption included, in milliseconds. @default 2000 */
  readonly connectTimeoutMs?: number;
  /** Longest wait for the head of the answer, in milliseconds. */
  readonly answerTimeoutMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  /** The body as it comes. @throws WireError when the connection breaks or `discard` was given a failure. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Closes the connection. */
  discard(failure?: WireError): void;
}

const CONNECT_TIMEOUT_MS = 2000;

/** Idle connections live this long: turns of a conversation are 5 to 15 s apart. */
const KEEP_ALIVE_MS = 60_000;

/** What a connection that the other side had given up already answers with. */
const STALE_CODES = new Set(['ECONNRESET', 'EPIPE']);

const kept = new KeptConnections(KEEP_ALIVE_MS);

/** The way to one vendor, for all calls: it knows nothing of any. */
export class HttpChannel {
  #usedAt = Number.NEGATIVE_INFINITY;

  /** Milliseconds since an answer began, on the request's clock. */
  idleMs(clock: Clock): number {
    return clock.now() - this.#usedAt;
  }

  /**
   * Resolves with the head of the answer, whatever its status. A kept connection that turns out to be dead is replaced at once, one
   * time, as long as nothing of an answer came. @throws WireError
   */
  async request(request: HttpRequest): Promise<HttpAnswer> {
    const transport = await kept.transport(request.url.protocol);
    try {
      return await this.#attempt(request, transport);
    } catch (error) {
      if (!(error instanceof StaleConnection) || request.signal?.aborted === true) throw error;
      return this.#attempt(request, transport);
    }
  }

  #attempt(request: HttpRequest, transport: Transport): Promise<HttpAnswer> {
    const { url, method, headers, body, signal, clock } = request;
    const { connectTimeoutMs = CONNECT_TIMEOUT_MS, answerTimeoutMs } = request;
    const secure = url.protocol === 'https:';
    return new Promise<HttpAnswer>((resolve, reject) => {
      const outgoing = transport.request(url, {
        method,
        agent: transport.agent,
        headers: {
          ...headers,
          ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
        },
      });
      const fail = (reason: string) => outgoing.destroy(new WireError(transientFailure(reason)));
      const connecting = clock.after(connectTimeoutMs, () =>
        fail(`could not be reached in time (${url.host})`),
      );
      const answering = clock.after(answerTimeoutMs, () => fail('did not answer in time'));
      const abort = () => outgoing.destroy(new WireError(transientFailure('was canceled')));
      const settle = () => {
        connecting.cancel();
        answering.cancel();
      };
      outgoing.on('socket', (socket) => {
        if (socket.connecting) socket.once(secure ? 'secureConnect' : 'connect', () => connecting.cancel());
        else connecting.cancel();
      });
      outgoing.on('response', (response) => {
        settle();
        this.#usedAt = clock.now();
        response.once('close', () => signal?.removeEventListener('abort', abort));
        resolve(toAnswer(response, { url, destroy: () => outgoing.destroy() }));
      });
      outgoing.on('error', (cause: NodeJS.ErrnoException) => {
        settle();
        signal?.removeEventListener('abort', abort);
        const stale = outgoing.reusedSocket && STALE_CODES.has(cause.code ?? '');
        reject(stale ? new StaleConnection(connectionFailure(url, cause)) : toWireError(url, cause));
      });
      if (signal?.aborted === true) abort();
      else {
        signal?.addEventListener('abort', abort, { once: true });
        outgoing.end(body);
      }
    });
  }
}

class StaleConnection extends WireError {}

function toAnswer(
  response: IncomingMessage,
  { url, destroy }: { url: URL; destroy: () => void },
): HttpAnswer {
  return {
    status: response.statusCode ?? 0,
    header(name) {
      const value = response.headers[name];
      return typeof value === 'string' ? value : undefined;
    },
    chunks: readChunks(response, url),
    discard(failure) {
      response.destroy(failure);
      destroy();
    },
  };
}

async function* readChunks(response: IncomingMessage, url: URL): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response) yield chunk as Buffer;
  } catch (error) {
    throw toWireError(url, error);
  }
}

function toWireError(url: URL, cause: unknown): WireError {
  return cause instanceof WireError ? cause : new WireError(connectionFailure(url, cause));
}
