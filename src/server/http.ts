// What all our HTTP servers have in common: its time limits, how it binds, what it says to garbage.
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { Duplex } from 'node:stream';
import { ConfigError, RequestError } from '../base/errors.js';
import { answerEarly } from '../base/request-body.js';
import { toErrorAnswer } from './error-answer.js';
import { writeAnswer } from './streams.js';

/**
 * A client has ten seconds for its headers, and thirty for its whole request. An idle connection is kept longer than common proxies
 * keep it, so that they never send into one that closes.
 */
const HTTP_TIMEOUTS: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 65_000,
};

/** A server that does not listen yet. Who asks whether a body may come (`Expect: 100-continue`) is told by whoever reads it. */
export function createHttp(listener: RequestListener): Server {
  const answer = answerEarly(listener);
  const http = createServer(HTTP_TIMEOUTS, answer);
  http.on('checkContinue', answer);
  http.on('clientError', answerClientError);
  return http;
}

/** Resolves when it listens. @throws ConfigError for a port or host that cannot be had. */
export function bind(http: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(toListenError(error, port, host));
    http.once('error', fail);
    http.listen(port, host, () => {
      http.off('error', fail);
      resolve();
    });
  });
}

function toListenError(cause: NodeJS.ErrnoException, port: number, host: string): Error {
  if (cause.code === 'EADDRINUSE') {
    return new ConfigError(
      'CONFIG_PORT_IN_USE',
      `Port ${port} is in use: stop the program that listens there, or choose another port (the option port; on a command line --port).`,
      { cause },
    );
  }
  return new ConfigError(
    'CONFIG_INVALID',
    `The server cannot listen on ${host} port ${port} (${cause.code}).`,
    {
      cause,
    },
  );
}

/** What is no HTTP, or comes too slowly: one answer, and the connection is over. */
function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { body } = toErrorAnswer(
    new RequestError('REQUEST_INVALID', 'The request is malformed or arrived too slowly.'),
  );
  const statuses: Readonly<Record<string, number>> = {
    HPE_HEADER_OVERFLOW: 431,
    ERR_HTTP_REQUEST_TIMEOUT: 408,
  };
  writeAnswer(socket, statuses[error.code ?? ''] ?? 400, {}, JSON.stringify(body));
}
