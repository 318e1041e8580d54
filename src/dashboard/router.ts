// Binds the dashboard to Express. The only file of this room that knows it.
import { MAX_TEXT_CHARS } from '../base/text-for-call.js';
import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import type { Clock } from '../base/clock.js';
import { NotFoundError, RequestError } from '../base/errors.js';
import { describeError, type Logger, withFields } from '../base/log.js';
import { readBody } from '../base/request-body.js';
import type { CallControls, ForgetOutcome } from '../contract/call-command.js';
import type { CallReader } from '../stores/call-store.js';
import { type Answer, errorBody, type LongAnswer, refuseMethod, toErrorAnswer } from './answer.js';
import type { Gatekeeper, RequestFacts } from './auth.js';
import { writeInSlices } from './breather.js';
import { answerRange, begun, openCallAudio, type RecordingSource } from './call-audio.js';
import { ENDPOINTS, type OperationId } from './endpoints.js';
import { openExport } from './export.js';
import { createHandlers, type JsonOperation } from './handlers.js';
import { INGEST_PATH, type IngestEndpoint } from './ingest-endpoint.js';
import { EVENTS_PARAMETERS, type QueryParameters, readParameters } from './parameters.js';
import { formatMetrics, METRICS_TYPE } from './metrics.js';
import type { Page } from './page.js';
import type { LiveAudio } from './live-audio.js';
import type { EventFeed } from './sse.js';

/** Answers change with every fact; none is to be kept, guessed at, or shown in the page of another site. */
const API_HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
/** Who sends these wants something done. */
const COMMANDS: readonly string[] = ['POST', 'DELETE'];
/** Commands carry a telephone number at most. */
const MAX_BODY_BYTES = 4096;
/** Of one with a text, which JSON may write in six bytes a character. */
const MAX_TEXT_BODY_BYTES = 6 * MAX_TEXT_CHARS + MAX_BODY_BYTES;

export interface RouterParts {
  gatekeeper: Gatekeeper;
  feed: EventFeed;
  store: CallReader;
  /** Null where the page is turned off. */
  page: Page | null;
  /** Takes the commands; null where this process owns no calls. */
  controls: CallControls | null;
  /** Null where no call can be deleted. */
  forget: ((callId: string) => Promise<ForgetOutcome>) | null;
  /** Null where no call is recorded. */
  recordings: RecordingSource | null;
  liveAudio: LiveAudio;
  /** What `/metrics` tells beside the dashboard's own. */
  metrics(): string;
  /** Null where this process knows no cluster. */
  serverMetrics: (() => Promise<string>) | null;
  /** Takes the calls of other processes; null where there is none. */
  ingest: IngestEndpoint | null;
  clock: Clock;
  logger: Logger;
}

/** The dashboard as Express mounts it, in the words of Node: who mounts nothing need not have Express's declarations. */
export type DashboardHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

type Method = (typeof ENDPOINTS)[number]['method'];
type Endpoint = (request: Request, response: Response) => Promise<void> | void;

/** Routes `/`, `/dashboard`, `/metrics` and everything under `/api`. */
export function createRouter(parts: RouterParts): DashboardHandler {
  const { gatekeeper, feed, store, page, liveAudio, clock, logger } = parts;
  const handlers = createHandlers(parts);
  const router = express.Router({ caseSensitive: true });

  const showPage: Endpoint = (request, response) => {
    if (page === null) throw new NotFoundError('The dashboard page is turned off.');
    const facts = factsOf(request);
    try {
      gatekeeper.admitReader(facts);
    } catch (error) {
      // The page holds no data: a browser gets it with its sign-in form.
      const answer = toErrorAnswer(error, logger);
      const wantsPage = answer.status === 401 && facts.header('accept')?.includes('text/html') === true;
      if (!wantsPage) return sendAnswer(response, answer);
      response.status(401).set({ ...page.headers, ...answer.headers });
      response.send(page.html);
      return;
    }
    const session = gatekeeper.sessionHeader(facts);
    if (session !== undefined) response.append('Set-Cookie', session);
    response.set(page.headers).send(page.html);
  };

  const streamEvents: Endpoint = (request, response) => {
    feed.checkRoom();
    demandConnection(response);
    beginStream(response, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    const lastEventId =
      request.get('last-event-id') ?? readParameters(queryOf(request), EVENTS_PARAMETERS).lastEventId ?? null;
    const facts = factsOf(request);
    const controls = parts.controls !== null && gatekeeper.mayCommand(facts);
    const isSignedIn = gatekeeper.hasSession(facts);
    response.on('error', () => response.destroy());
    response.on('close', feed.open(response, { lastEventId, controls, isSignedIn }));
  };

  const exportCalls: Endpoint = async (request, response) => {
    const file = await openExport({ store, query: queryOf(request), now: clock.wallNow() });
    response.set(file.headers);
    await sendPieces(request, response, { pieces: file.chunks });
  };

  /** The text goes out as fast as it is taken, and no faster than the calls that are up allow. */
  async function sendPieces(
    request: Request,
    response: Response,
    { pieces, log = logger }: Pick<LongAnswer, 'pieces'> & { log?: Logger },
  ) {
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    try {
      await writeInSlices(response, pieces, clock);
    } catch (error) {
      // The headers are out: a torn connection is the only honest answer left.
      log.error(describeError(error), 'dashboard answer failed');
      response.destroy();
    }
  }

  const playCall: Endpoint = async (request, response) => {
    const { callId: id } = request.params;
    const { callId, file } = await openCallAudio(typeof id === 'string' ? id : '', parts);
    const log = withFields(logger, { callId });
    try {
      const isHead = request.method === 'HEAD';
      // Only GET has parts.
      const range = isHead ? undefined : request.get('range');
      const asked = { range, ifRange: request.get('if-range') };
      const { status, headers, start, end } = answerRange(asked, { callId, size: file.size });
      if (status === 416) {
        const body = errorBody('REQUEST_INVALID', 'The recording ends before the part that was asked for.');
        sendAnswer(response, { status, headers, body });
        return;
      }
      const pieces = isHead ? [] : await begun(file.read(start, end));
      response.status(status).set({ ...headers, 'Content-Length': String(end - start) });
      await sendPieces(request, response, { pieces, log });
    } catch (error) {
      sendAnswer(response, toErrorAnswer(error, log));
    } finally {
      await file.close();
    }
  };

  const listenToCall: Endpoint = async (request, response) => {
    const { callId: id } = request.params;
    const record = await liveAudio.find(typeof id === 'string' ? id : '');
    // Who has left meanwhile is not told of again.
    if (response.closed) return;
    demandConnection(response);
    const begin = (delayMs: number) =>
      beginStream(response, { 'Content-Type': 'audio/wav', 'X-Offhook-Delay-Ms': String(delayMs) });
    if (request.method === 'HEAD') {
      begin((await liveAudio.probe(record, response)).delayMs);
      response.end();
      return;
    }
    const { delayMs, leave } = await liveAudio.open(record, response);
    if (response.closed) return leave();
    response.on('error', () => response.destroy());
    response.on('close', leave);
    begin(delayMs);
  };

  const showMetrics: Endpoint = async (_request, response) => {
    const own = formatMetrics(await store.aggregates(), feed.load);
    response.type(METRICS_TYPE).send(own + parts.metrics());
  };

  const showServerMetrics: Endpoint = async (_request, response) => {
    const { serverMetrics } = parts;
    if (serverMetrics === null)
      throw new NotFoundError('This server is in no cluster: GET /metrics has what it measures.');
    response
      .type(METRICS_TYPE)
      .send(formatMetrics(await store.aggregates(), feed.load) + (await serverMetrics()));
  };

  function runHandler(operation: JsonOperation): Endpoint {
    return async (request, response) => {
      const handler = handlers[operation];
      const { callId } = request.params;
      const answer = await handler({
        callId: typeof callId === 'string' ? callId : '',
        query: queryOf(request),
        body: request.body as unknown,
      });
      if ('body' in answer) return sendAnswer(response, answer);
      response.status(answer.status).type('application/json; charset=utf-8');
      return sendPieces(request, response, answer);
    };
  }

  function endpointOf(operation: OperationId): Endpoint {
    if (operation === 'streamEvents') return streamEvents;
    if (operation === 'exportCalls') return exportCalls;
    if (operation === 'getCallAudio') return playCall;
    if (operation === 'listenToCall') return listenToCall;
    if (operation === 'getServerMetrics') return showServerMetrics;
    return operation === 'getMetrics' ? showMetrics : runHandler(operation);
  }

  const allowOnly =
    (allowed: string): Endpoint =>
    (request, response) =>
      sendAnswer(response, refuseMethod(request.method, allowed));

  // A trailing slash would lead the page's relative addresses astray.
  router.get('/dashboard/', (request, response, next) => {
    if (request.path.endsWith('/')) response.redirect(308, '../dashboard');
    else next();
  });
  const signOut: Endpoint = (request, response) => {
    const facts = factsOf(request);
    gatekeeper.admitCommand(facts);
    const ended = gatekeeper.endHeader(facts);
    if (ended !== undefined) response.append('Set-Cookie', ended);
    response.status(204).end();
  };
  router.delete('/dashboard', signOut);
  router.route('/').get(showPage).all(allowOnly('GET, HEAD, OPTIONS'));
  router.route('/dashboard').get(showPage).all(allowOnly('GET, HEAD, DELETE, OPTIONS'));

  const { ingest } = parts;
  if (ingest !== null) {
    router.post(INGEST_PATH, (request, response) => {
      gatekeeper.admitSender(factsOf(request));
      ingest(request, response);
    });
  }
  router.use(['/api', '/metrics'], (request, response, next) => {
    response.set(API_HEADERS);
    if (COMMANDS.includes(request.method)) gatekeeper.admitCommand(factsOf(request));
    else gatekeeper.admitReader(factsOf(request));
    next();
  });
  for (const endpoint of ENDPOINTS) {
    const { operationId, method, path } = endpoint;
    const parameters: QueryParameters = 'parameters' in endpoint ? endpoint.parameters : {};
    const route = router.route(path.replace('{callId}', ':callId'));
    const checkQuery: RequestHandler = (request, _response, next) => {
      readParameters(queryOf(request), parameters);
      next();
    };
    const needsToken = 'needsToken' in endpoint;
    const demandToken: RequestHandler = (_request, _response, next) => {
      if (needsToken) gatekeeper.demandToken();
      next();
    };
    const read = readJson(needsToken ? MAX_TEXT_BODY_BYTES : MAX_BODY_BYTES);
    if (method === 'post') route.post(checkQuery, demandToken, demandJson, read, endpointOf(operationId));
    else if (method === 'delete') route.delete(checkQuery, demandToken, endpointOf(operationId));
    else if (path.startsWith('/api/')) route.get(checkQuery, endpointOf(operationId));
    else route.get(endpointOf(operationId));
    const methods: Method[] = ENDPOINTS.flatMap((other) => (other.path === path ? [other.method] : []));
    if (method === methods.at(-1)) route.all(allowOnly(methods.map(toAllowed).join(', ')));
  }
  router.use('/api', () => {
    throw new NotFoundError('No such path.');
  });

  router.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    if (response.headersSent) response.destroy();
    else sendAnswer(response, toErrorAnswer(toOwnError(error), logger));
  });
  // What mounts it hands over requests of Express, which are those of Node with more.
  return router as unknown as DashboardHandler;
}

function toAllowed(method: Method, index: number, { length }: readonly unknown[]): string {
  const names = method === 'get' ? 'GET, HEAD' : method.toUpperCase();
  return index === length - 1 ? `${names}, OPTIONS` : names;
}

/** Behind an unfinished answer a stream would not hear of its connection's end, and stay for ever. @throws RequestError */
function demandConnection(response: Response): void {
  if (response.socket !== null) return;
  throw new RequestError('REQUEST_INVALID', 'A stream needs its own connection: do not pipeline it.');
}

function beginStream(response: Response, headers: { readonly [name: string]: string }): void {
  response.set({
    ...headers,
    'Cache-Control': 'no-store, no-transform',
    // A stream ends with its connection, so that a server that shuts down need not wait for it.
    Connection: 'close',
    'X-Accel-Buffering': 'no',
  });
  response.flushHeaders();
  response.socket?.setNoDelay(true);
}

function sendAnswer(response: Response, answer: Answer): void {
  response.status(answer.status).set(answer.headers ?? {});
  if (answer.body === undefined) response.end();
  else response.type('application/json; charset=utf-8').send(JSON.stringify(answer.body));
}

/** A form of another site can send plain text, but not JSON. */
function demandJson(request: Request, response: Response, next: NextFunction): void {
  const [type] = (request.get('content-type') ?? '').toLowerCase().split(';');
  if (type?.trim() === 'application/json') {
    next();
    return;
  }
  const message = 'The body must be JSON, with Content-Type: application/json.';
  sendAnswer(response, { status: 415, body: errorBody('REQUEST_INVALID', message) });
}

/** An empty body counts as none. */
const readJson =
  (maxBytes: number): RequestHandler =>
  async (request, response, next) => {
    const text = (await readBody(request, response, maxBytes)).toString('utf8');
    try {
      request.body = text === '' ? undefined : JSON.parse(text);
    } catch {
      throw new RequestError('REQUEST_INVALID', 'The body is not JSON.');
    }
    next();
  };

/** Errors of Express in our words. */
function toOwnError(error: unknown): unknown {
  const status = (error as { status?: unknown } | null)?.status;
  if (typeof status !== 'number' || status < 400 || status >= 500) return error;
  return new RequestError('REQUEST_INVALID', 'The request is invalid.');
}

function queryOf(request: Request): URLSearchParams {
  const start = request.url.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : request.url.slice(start + 1));
}

function factsOf(request: Request): RequestFacts {
  return {
    header: (name) => request.get(name),
    query: queryOf(request),
    address: request.ip ?? '',
    peerAddress: request.socket.remoteAddress ?? '',
    publicHost: request.host ?? '',
    secure: request.secure,
  };
}
