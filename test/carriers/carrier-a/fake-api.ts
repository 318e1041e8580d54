// A REST API on loopback that answers as it is told, and can fail in every way that a network can.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRest } from '../../../src/carriers/carrier-a/rest.js';
import { createRestTiming } from '../../../src/carriers/rest-timing.js';
import type { CarrierRest } from '../../../src/carriers/carrier.js';

export const ACCOUNT = 'AC33333333333333333333333333333333';
export const TOKEN = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';

/** A request as it arrived. Repeated names of the form are kept in order. */
export interface SeenRequest {
  method: string | undefined;
  url: string | undefined;
  authorization: string | undefined;
  form: [string, string][];
}

/** `json` is written as JSON, `text` as it is. */
export interface FakeAnswer {
  status: number;
  json?: unknown;
  text?: string;
  headers?: Record<string, string>;
}

/** What happens to one request. */
export type FakeReply =
  | FakeAnswer
  /** The connection is reset after the request was read. */
  | 'cut'
  /** The answer begins and the connection is reset. */
  | 'cut-body'
  /** No answer. */
  | 'hang'
  /** An answer that begins and does not end. */
  | 'hang-body'
  /** An answer that goes on for ever. */
  | 'endless';

export interface FakeApi {
  readonly baseUrl: string;
  readonly rest: CarrierRest;
  readonly seen: SeenRequest[];
  /** Replies in order; the last one is repeated. */
  replies: FakeReply[];
  /** Pauses before repetitions, in milliseconds. None of them takes time. */
  readonly pauses: number[];
  /** Stops listening: from here on connections are refused. */
  close(): Promise<void>;
}

export async function startFakeApi(): Promise<FakeApi> {
  const seen: SeenRequest[] = [];
  const pauses: number[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const form = [...new URLSearchParams(await readBody(request))];
    seen.push({ method, url, authorization: headers.authorization, form });
    const reply = api.replies.length > 1 ? api.replies.shift() : api.replies[0];
    if (reply === undefined) throw new Error('the fake API was not told what to answer');
    send(request, response, reply);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rest = createRest({
    baseUrl,
    accountSid: ACCOUNT,
    authToken: TOKEN,
    timing: {
      ...createRestTiming(),
      pause: async (delayMs) => void pauses.push(delayMs),
    },
    timeoutMs: 20_000,
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const api: FakeApi = { baseUrl, rest, seen, replies: [], pauses, close };
  return api;
}

function send(request: IncomingMessage, response: ServerResponse, reply: FakeReply): void {
  switch (reply) {
    case 'cut':
      request.socket.destroy();
      return;
    case 'hang':
      return;
    case 'cut-body':
      response.writeHead(200, { 'Content-Length': '100' }).write('{"sid":');
      setImmediate(() => request.socket.destroy());
      return;
    case 'hang-body':
      response.writeHead(200).write('{"sid":');
      return;
    case 'endless':
      response.writeHead(200);
      pour(response);
      return;
    default: {
      const { status, json, text, headers } = reply;
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
      response.end(text ?? (json === undefined ? '' : JSON.stringify(json)));
    }
  }
}

/** Writes as fast as it is read, until the reader goes away. */
function pour(response: ServerResponse): void {
  while (!response.destroyed && response.write('x'.repeat(65_536)));
  response.once('drain', () => pour(response));
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
