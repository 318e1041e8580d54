// A process on this machine, by its control socket: asks it, and passes on to it what came to a port of this one.
import { Agent, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebhookRequest } from '../carriers/carrier.js';
import { readBody } from '../base/request-body.js';
import { NOT_HERE } from './neighbor.js';
import type { WholeAnswer } from './routes.js';

/** Says that something was passed on. Counts only on a socket that nobody else can reach. */
export const PASSED_HEADER = 'x-offhook-passed';
/** Names the client for whom. */
const CLIENT_HEADER = 'x-forwarded-for';
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Of one connection. Source: RFC 9110, section 7.6.1. */
const HOP_BY_HOP =
  /^(?:connection|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|expect)$/i;
/** Longest body of a request that is passed on, in bytes. */
const MAX_BODY_BYTES = 1024 * 1024;

export interface PeerAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export class Peer {
  readonly #path: string;
  readonly #agent = new Agent({ keepAlive: true });
  /** What others have sent shares no connection with what this process asks. */
  readonly #passAgent = new Agent({ keepAlive: true });
  /** Connections of streams that are passed on. */
  readonly #piped = new Set<Duplex>();

  /** `path`: of its control socket. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Streams that are passed on now. */
  get pipedCount(): number {
    return this.#piped.size;
  }

  /** Asks, and waits for the whole answer. Rejects with an error of the network, and after `timeoutMs`. */
  async ask(
    path: string,
    { method = 'POST', body = '', timeoutMs }: { method?: string; body?: string; timeoutMs: number },
  ): Promise<PeerAnswer> {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    return this.#exchange({ method, path, headers, signal: AbortSignal.timeout(timeoutMs) }, body);
  }

  /** Resolves with the beginning of an answer that goes on, which `signal` cuts. Rejects with an error of the network, and when `signal` aborts. */
  open(path: string, body: string, { signal }: { signal?: AbortSignal } = {}): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const options = { socketPath: this.#path, method: 'POST', path, headers, signal };
      const request = requestHttp(options, resolve);
      request.on('error', reject);
      request.end(body);
    });
  }

  /** Undefined where it is about no call of that process. Rejects like `ask`. */
  async answer(
    { method, target, headers, rawBody }: WebhookRequest,
    { timeoutMs }: { timeoutMs: number },
  ): Promise<WholeAnswer | undefined> {
    const passed = { ...passedFor(headers), 'content-length': String(rawBody.length) };
    const options = { method, path: target, headers: passed, signal: AbortSignal.timeout(timeoutMs) };
    const { status, headers: given, body } = await this.#exchange(options, rawBody, this.#passAgent);
    if (status === NOT_HERE.status && given[NOT_HERE.header] !== undefined) return undefined;
    return { status, headers: toPlain(given), body };
  }

  /** Has it answer, whatever that is and however long it takes. The body goes on as a whole: what a client has framed itself could be read as a request of ours. */
  async pass(request: IncomingMessage, response: ServerResponse, address: string): Promise<void> {
    const { method, url: path, headers } = request;
    const body = await readBody(request, response, MAX_BODY_BYTES);
    const passed = { ...passedFor(headers, address), 'content-length': String(body.length) };
    const options = { socketPath: this.#path, method, path, headers: passed, agent: this.#passAgent };
    const onward = requestHttp(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, withoutHops(answer.headers));
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    onward.on('error', () => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
    response.on('close', () => onward.destroy());
    onward.end(body);
  }

  /** Passes a stream on for as long as it lasts. Resolves to false where the process is not reached: the socket is as it was. */
  passUpgrade(
    { method, url, httpVersion, rawHeaders }: IncomingMessage,
    { socket, head, address }: { socket: Duplex; head: Buffer; address: string },
  ): Promise<boolean> {
    return new Promise((resolve) => {
      const onward = connect(this.#path);
      onward.once('error', () => resolve(false));
      onward.once('connect', () => {
        const lines = [
          `${method} ${url} HTTP/${httpVersion}`,
          `${PASSED_HEADER}: true`,
          `${CLIENT_HEADER}: ${address}`,
        ];
        for (let index = 0; index < rawHeaders.length; index += 2)
          if (rawHeaders[index]?.toLowerCase() !== CLIENT_HEADER)
            lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
        onward.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
        if (head.length > 0) onward.write(head);
        if (socket.destroyed) onward.destroy();
        else this.#join(socket, onward);
        resolve(true);
      });
    });
  }

  /** Idempotent. What is passed on goes on. */
  close(): void {
    this.#agent.destroy();
    this.#passAgent.destroy();
  }

  #join(socket: Duplex, onward: Duplex): void {
    this.#piped.add(onward);
    onward.once('close', () => {
      this.#piped.delete(onward);
      socket.destroy();
    });
    socket.once('close', () => onward.destroy());
    for (const side of [socket, onward]) side.on('error', () => {});
    socket.pipe(onward);
    onward.pipe(socket);
  }

  #exchange(
    options: { method: string; path: string; headers: Record<string, unknown>; signal: AbortSignal },
    body: string | Uint8Array,
    agent = this.#agent,
  ): Promise<PeerAnswer> {
    return new Promise((resolve, reject) => {
      const { headers, ...rest } = options;
      const whole = {
        ...rest,
        headers: headers as Record<string, string>,
        agent,
        socketPath: this.#path,
      };
      const request = requestHttp(whole, (answer) => {
        const { statusCode: status = 0, headers: given } = answer;
        readText(answer).then((text) => resolve({ status, headers: given, body: text }), reject);
      });
      request.on('error', reject);
      request.end(body);
    });
  }
}

async function readText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('The answer is too long.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function withoutHops<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.test(name)));
}

/** `address`: of the client, where it matters. */
function passedFor<Value>(
  headers: Readonly<Record<string, Value>>,
  address?: string,
): Record<string, Value | string> {
  const client = address === undefined ? {} : { [CLIENT_HEADER]: address };
  return { ...withoutHops(headers), [PASSED_HEADER]: 'true', ...client };
}

function toPlain(headers: IncomingMessage['headers']): Record<string, string> {
  const plain = Object.entries(withoutHops(headers)).filter(
    ([name]) => !/^(?:date|content-length)$/i.test(name),
  );
  return Object.fromEntries(plain.map(([name, value]) => [name, String(value)]));
}
