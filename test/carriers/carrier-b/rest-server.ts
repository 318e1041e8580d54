// A REST API on loopback that answers as it is told to, and a client whose time stands still.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RestTiming } from '../../../src/carriers/rest-timing.js';

export interface Seen {
  method: string | undefined;
  path: string | undefined;
  authorization: string | undefined;
  body: Record<string, unknown>;
}

/** `cut`: the connection ends unanswered. `hang`: nothing ever comes. A text is the whole body. */
export type Reply = 'cut' | 'hang' | { status: number; body: unknown; headers?: Record<string, string> };

export const OK: Reply = { status: 200, body: { data: { result: 'ok' } } };

/** A refusal in the words of the API. */
export function refusal(status: number, code: string, headers: Record<string, string> = {}): Reply {
  return { status, body: { errors: [{ code, title: 'No', detail: 'secret detail' }] }, headers };
}

export interface RestServer {
  readonly url: string;
  readonly seen: Seen[];
  /** Answers in the order of the requests; then there are none but 500. */
  replies: Reply[];
  close(): void;
}

export async function startRestServer(): Promise<RestServer> {
  const state = { seen: [] as Seen[], replies: [] as Reply[] };
  const server = createServer(async (request, response) => {
    const { method, url: path, headers } = request;
    const text = await readBody(request);
    state.seen.push({
      method,
      path,
      authorization: headers.authorization,
      body: text === '' ? {} : JSON.parse(text),
    });
    const reply = state.replies.shift() ?? { status: 500, body: {} };
    if (reply === 'cut') request.socket.destroy();
    else if (reply !== 'hang') {
      const body = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body);
      response.writeHead(reply.status, { 'Content-Type': 'application/json', ...reply.headers }).end(body);
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return Object.assign(state, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close });
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

/** Time of a client under test: pauses pass at once, and a request waits until its limit is reached by hand. */
export class HandTiming implements RestTiming {
  readonly pauses: number[] = [];
  readonly limits: number[] = [];
  #controller = new AbortController();

  async pause(ms: number): Promise<void> {
    this.pauses.push(ms);
  }

  within<T>(ms: number, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.limits.push(ms);
    this.#controller = new AbortController();
    return task(this.#controller.signal);
  }

  /** The time of the latest request is up. */
  expire(): void {
    this.#controller.abort(new DOMException('The time is up.', 'TimeoutError'));
  }
}
