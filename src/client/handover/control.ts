// The control socket of a server: what the command line and the process after this one may ask.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { controlSocket } from '../../base/control-socket.js';
import { NotFoundError, RequestError } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { readBody } from '../../base/request-body.js';
import { createHttp } from '../../server/http.js';
import { PASSED_HEADER } from '../../server/peer.js';
import { openPrivateSocket, type PrivateSocket } from '../../server/private-socket.js';
import { answerError, jsonAnswer, sendAnswer } from '../../server/routes.js';
import type { PhoneServer } from '../../server/server.js';

const MAX_BODY_BYTES = 16 * 1024 * 1024;
const ADVICE = {
  inUse: 'Another server listens on {path}: stop it first',
  elsewhere: 'give dataDir a folder of this machine that only you can open',
};

/** What is answered. `body`: as JSON came; undefined for none. Rejects with an OffhookError for what cannot be done. */
export type ControlHandler = (
  body: Readonly<Record<string, unknown>>,
  call: { readonly callId: string; readonly response: ServerResponse },
) => Promise<object | 'open'>;

/** By method and path, `{callId}` for any call. */
export type ControlHandlers = Readonly<Record<string, ControlHandler>>;

export interface ControlOptions {
  readonly dataDir: string;
  readonly nodeId: string;
  readonly handlers: ControlHandlers;
  /** Answers what another process has passed on. */
  readonly server: Pick<PhoneServer, 'answerPassed' | 'upgradePassed'>;
  readonly logger: Logger;
}

/** @throws ConfigError when no socket can be had. */
export async function openControl(options: ControlOptions): Promise<PrivateSocket> {
  const { dataDir, nodeId, server, logger } = options;
  const isPassed = ({ headers }: IncomingMessage) => headers[PASSED_HEADER] !== undefined;
  /** Connections that bring what others have sent: nothing on them is an order. */
  const passing = new WeakSet<Duplex>();
  const http = createHttp((request, response) => {
    if (isPassed(request)) {
      passing.add(request.socket);
      server.answerPassed(request, response);
    } else if (passing.has(request.socket)) request.socket.destroy();
    else
      handle(options, request, response).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else sendAnswer(response, answerError(error, request, logger));
      });
  });
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (isPassed(request)) server.upgradePassed(request, socket, head);
    else socket.destroy();
  });
  return openPrivateSocket(controlSocket(dataDir, nodeId), http, ADVICE);
}

const CALL_PATH = /^\/calls\/([^/]+)(\/.*)?$/;

async function handle(
  { handlers }: ControlOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = '', url = '' } = request;
  const [, callId = '', rest = ''] = CALL_PATH.exec(url) ?? [];
  const handler = handlers[`${method} ${callId === '' ? url : `/calls/{callId}${rest}`}`];
  if (handler === undefined) throw new NotFoundError('No such path.');
  const text = (await readBody(request, response, MAX_BODY_BYTES)).toString('utf8');
  const answer = await handler(text === '' ? {} : parse(text), {
    callId: decodeURIComponent(callId),
    response,
  });
  if (answer !== 'open') sendAnswer(response, jsonAnswer(200, answer));
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>;
  } catch {}
  throw new RequestError('REQUEST_INVALID', 'The body must be a JSON object.');
}
