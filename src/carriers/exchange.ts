// One HTTP exchange with a carrier's REST API: sent once, never redirected, read up to a limit.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { KeptConnections } from '../base/kept-connections.js';

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Of this exchange alone. Cuts it: it then rejects with its reason. */
  readonly signal: AbortSignal;
}

export interface Exchanged {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Undefined for a body that is too long or breaks off. */
  readonly text: string | undefined;
}

/** Longest answer that is read. The longest that we ask for, a page of numbers, is a tenth of it. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Shorter than any server keeps them: a command that is lost on a dead connection may not be repeated. */
const KEEP_ALIVE_MS = 4000;

const kept = new KeptConnections(KEEP_ALIVE_MS);

/** @throws what the socket throws, and the reason of the signal */
export async function exchange(url: string, request: ExchangeRequest): Promise<Exchanged> {
  const { signal, body, method, headers } = request;
  const target = new URL(url);
  const transport = await kept.transport(target.protocol);
  signal.throwIfAborted();
  return new Promise<Exchanged>((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const outgoing = transport.request(target, {
      method,
      agent: transport.agent,
      headers: { ...headers, ...length },
    });
    signal.addEventListener('abort', () => outgoing.destroy(signal.reason as Error), { once: true });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      readText(response).then(
        (text) => resolve({ status, headers, text }),
        () => (signal.aborted ? reject(signal.reason) : resolve({ status, headers, text: undefined })),
      );
    });
    outgoing.end(body);
  });
}

/** The body in UTF-8; undefined when it is too long, and the connection is given up then. @throws what reading throws. */
async function readText(response: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
