// The server's own routes: found by method and path, each answered as a whole. All other paths are left to others.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { describeError, type Logger } from '../base/log.js';
import { toErrorAnswer } from './error-answer.js';

/** An answer that is there as a whole. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Answers a request. What it throws becomes the answer, as `toErrorAnswer` has it. */
export type Route = (
  request: IncomingMessage,
  response: ServerResponse,
) => WholeAnswer | Promise<WholeAnswer>;

/** By method and path, as in `GET /health`. Both count to the letter; who asks with HEAD is answered like GET. */
export type Routes = ReadonlyMap<string, Route>;

export interface RoutesOptions {
  readonly routes: Routes;
  /** Answers what none of the routes does. */
  readonly others: RequestListener;
  /** True while connections are to end with their answers. */
  isDraining(): boolean;
  readonly logger: Logger;
}

export function answerRoutes({ routes, others, isDraining, logger }: RoutesOptions): RequestListener {
  const answer = async (route: Route, request: IncomingMessage, response: ServerResponse) => {
    let given: WholeAnswer;
    try {
      given = await route(request, response);
    } catch (error) {
      given = answerError(error, request, logger);
    }
    if (isDraining()) response.setHeader('Connection', 'close');
    sendAnswer(response, given);
  };
  return (request, response) => {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Referrer-Policy', 'no-referrer');
    const route = routes.get(routeKey(request));
    if (route === undefined) others(request, response);
    else answer(route, request, response).catch(() => response.destroy());
  };
}

/** The one path that goes on behind its route: with a call and a number. */
const RESUME = /^(\/webhooks\/[^/]+\/resume)\/[^/]+\/[^/]+$/;

/** What a request is looked up by. */
export function routeKey({ method = '', url = '' }: IncomingMessage): string {
  const path = pathOf(url);
  return `${method === 'HEAD' ? 'GET' : method} ${RESUME.exec(path)?.[1] ?? path}`;
}

export function jsonAnswer(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): WholeAnswer {
  const text = JSON.stringify(body);
  const type = 'application/json; charset=utf-8';
  const length = String(Buffer.byteLength(text));
  return { status, headers: { ...headers, 'Content-Type': type, 'Content-Length': length }, body: text };
}

/** The answer for whatever a route threw. What is our own fault is logged. */
export function answerError(error: unknown, { method }: IncomingMessage, logger: Logger): WholeAnswer {
  const { status, headers, body } = toErrorAnswer(error);
  if (status >= 500) logger.error({ method, ...describeError(error) }, 'request failed');
  return jsonAnswer(status, body, headers);
}

export function sendAnswer(response: ServerResponse, { status, headers, body }: WholeAnswer): void {
  response.statusCode = status;
  for (const name in headers) response.setHeader(name, headers[name] ?? '');
  response.end(body);
}

/** A target may name the whole URL. Source: RFC 9112, section 3.2.2. */
const PATH = /^(?:[a-z][a-z\d+.-]*:\/\/[^/?#]*)?([^?#]*)/i;

/** Of a request's target, without the query. */
export function pathOf(target: string): string {
  return PATH.exec(target)?.[1] ?? '';
}
