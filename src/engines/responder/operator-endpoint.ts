// HTTP to an address that the operator has set: signed, never redirected, with bounds on time and size. Such an address may be
// private; one that a model has had a say in may not (`publicOnly`).
import { createHmac } from 'node:crypto';
import type { Agent, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Clock } from '../../base/clock.js';
import { readEnv } from '../../base/env.js';
import { KeptConnections, type Transport } from '../../base/kept-connections.js';
import { isPublicAddress, lookupPublic, PrivateAddressError } from '../../base/public-address.js';

export const SIGNATURE_HEADER = 'x-offhook-signature';
const SECRET_VARIABLE = 'OFFHOOK_WEBHOOK_SECRET';

/** Idle connections live this long: turns of a conversation are 5 to 15 s apart. */
const KEEP_ALIVE_MS = 60_000;

/** What a connection that the other side had given up already answers with. */
const STALE_CODES = new Set(['ECONNRESET', 'EPIPE']);

/** The address did not do what it should. Its sentence goes behind a name, and shows nothing of the answer. */
export class EndpointError extends Error {
  /** HTTP status of the answer, null when there was none. */
  readonly status: number | null;

  constructor(sentence: string, options: { status?: number; cause?: unknown } = {}) {
    super(sentence, options);
    this.status = options.status ?? null;
  }
}

export interface EndpointPost {
  readonly url: URL;
  /**
   * The model has had a say in whom this reaches: only addresses of the public internet are connected to, whatever the name leads to in
   * that moment, and nothing is signed, because a signature is for the operator's own servers. @default false
   */
  readonly publicOnly?: boolean;
  /** JSON. */
  readonly body: string;
  readonly accept: string;
  /** Closes the connection when it aborts; the request and the reading then reject. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Longest wait for the head of the answer, in milliseconds. */
  readonly timeoutMs: number;
}

export interface EndpointAnswer {
  /** Media type without parameters, in small letters. */
  readonly mediaType: string;
  /** @throws EndpointError when the connection breaks. Who stops reading closes it. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Closes the connection of an answer that nobody reads. */
  discard(): void;
}

const kept = new KeptConnections(KEEP_ALIVE_MS);

/** The way to the operator's addresses, for all calls: it knows nothing of any. */
export class OperatorEndpoint {
  readonly #keepAlive: boolean;

  /**
   * With `keepAlive` connections are kept, and a request over one that turns out to be dead is made once more. What may not be
   * done twice takes a new connection each time.
   */
  constructor(options: { keepAlive: boolean }) {
    this.#keepAlive = options.keepAlive;
  }

  /** The answer, when its status is 2xx. @throws EndpointError */
  async post(post: EndpointPost): Promise<EndpointAnswer> {
    if (post.publicOnly === true && isPrivateLiteral(post.url))
      throw toEndpointError(new PrivateAddressError());
    const { request, agent } = await kept.transport(post.url.protocol);
    const transport = { request, agent: this.#keepAlive && agent };
    let response: IncomingMessage;
    try {
      response = await attempt(post, transport);
    } catch (error) {
      if (!(error instanceof StaleConnection) || post.signal.aborted) throw error;
      response = await attempt(post, transport);
    }
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) {
      const mediaType = (response.headers['content-type'] ?? '').split(';')[0] ?? '';
      return {
        mediaType: mediaType.trim().toLowerCase(),
        chunks: readChunks(response),
        discard: () => void response.destroy(),
      };
    }
    response.destroy();
    const what =
      status >= 300 && status < 400 ? 'answered with a redirect, which is not followed' : 'answered';
    throw new EndpointError(`${what} (status ${status})`, { status });
  }
}

/** Collects a body. @throws EndpointError for one that is too long, unless the rest may be `cut`. */
export async function readBody(
  answer: EndpointAnswer,
  limit: { maxBytes: number; cut?: boolean },
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.chunks) {
    bytes += chunk.length;
    chunks.push(chunk);
    if (bytes <= limit.maxBytes) continue;
    if (limit.cut === true) break;
    throw new EndpointError('gave an answer that is too long');
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** Without an agent the connection is a new one, and closed after the answer. */
function attempt(
  post: EndpointPost,
  transport: Pick<Transport, 'request'> & { agent: Agent | false },
): Promise<IncomingMessage> {
  const { url, body, accept, signal, clock, timeoutMs } = post;
  return new Promise((resolve, reject) => {
    const outgoing = transport.request(url, {
      method: 'POST',
      agent: transport.agent,
      ...(post.publicOnly === true ? { lookup: lookupPublic } : {}),
      headers: {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        accept,
        'accept-encoding': 'identity',
        ...(post.publicOnly === true ? {} : signatureOf(body)),
      },
    });
    const abort = () => outgoing.destroy(new EndpointError('was canceled'));
    const timer = clock.after(timeoutMs, () => outgoing.destroy(new EndpointError('did not answer in time')));
    outgoing.on('response', (response) => {
      timer.cancel();
      response.once('close', () => signal.removeEventListener('abort', abort));
      resolve(response);
    });
    outgoing.on('error', (cause: NodeJS.ErrnoException) => {
      timer.cancel();
      signal.removeEventListener('abort', abort);
      const isStale = outgoing.reusedSocket && STALE_CODES.has(cause.code ?? '');
      reject(isStale ? new StaleConnection(cause) : toEndpointError(cause));
    });
    if (signal.aborted) abort();
    else {
      signal.addEventListener('abort', abort, { once: true });
      outgoing.end(body);
    }
  });
}

/** Lets the receiver know that it was us. Source of the scheme: HMAC-SHA256 of the raw body, as webhooks commonly have it. */
function signatureOf(body: string): Record<string, string> {
  const secret = readEnv(SECRET_VARIABLE);
  if (secret === undefined) return {};
  return { [SIGNATURE_HEADER]: `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` };
}

class StaleConnection extends EndpointError {
  constructor(cause: Error) {
    super('could not be reached', { cause });
  }
}

async function* readChunks(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response) yield chunk as Buffer;
  } catch (error) {
    throw toEndpointError(error);
  } finally {
    response.destroy();
  }
}

function toEndpointError(cause: unknown): EndpointError {
  if (cause instanceof EndpointError) return cause;
  if (cause instanceof PrivateAddressError) return new EndpointError('is not a public one', { cause });
  return new EndpointError('could not be reached', { cause });
}

/** An address in the place of a name is connected to without a look-up. */
function isPrivateLiteral({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) !== 0 && !isPublicAddress(host);
}
