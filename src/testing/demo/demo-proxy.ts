// The load balancer of a demo: each request and each stream goes to the next server, or to the one after it where that is gone.
import { type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { readBody } from '../../base/request-body.js';
import { bind, createHttp } from '../../server/http.js';

const HOST = '127.0.0.1';
const MAX_BODY_BYTES = 1024 * 1024;

export interface DemoProxyOptions {
  readonly port: number;
  readonly host: string;
  /** Where servers are now, on this machine. */
  ports(): readonly number[];
}

export interface DemoProxy {
  /** Of the server that has the stream with this path; undefined where none is open. */
  portOf(path: string): number | undefined;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Resolves when it listens. @throws ConfigError when it cannot. */
export async function startProxy({ port, host, ports }: DemoProxyOptions): Promise<DemoProxy> {
  const streams = new Map<string, number>();
  const sockets = new Set<Duplex>();
  // Each kind has its own turn: a call with as many requests as there are servers would have every stream at the same one.
  const turns = { request: 0, stream: 0 };
  const inTurn = (kind: keyof typeof turns): number[] => {
    const all = ports();
    const first = turns[kind]++ % Math.max(1, all.length);
    return [...all.slice(first), ...all.slice(0, first)];
  };

  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request, response, MAX_BODY_BYTES);
    const { method, url: path, headers } = request;
    const attempt = ([next, ...rest]: readonly number[]): void => {
      if (next === undefined) {
        response.writeHead(502).end();
        return;
      }
      const onward = requestHttp(
        { host: HOST, port: next, method, path, headers, agent: false },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
          answer.on('error', () => response.destroy());
        },
      );
      const leave = () => void onward.destroy();
      response.once('close', leave);
      onward.on('error', () => {
        response.off('close', leave);
        if (response.headersSent || response.destroyed) response.destroy();
        else attempt(rest);
      });
      onward.end(body);
    };
    attempt(inTurn('request'));
  };

  const join = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const { method, url = '', rawHeaders } = request;
    const lines = [`${method} ${url} HTTP/1.1`];
    for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
    socket.on('error', () => {});
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    const attempt = ([next, ...rest]: readonly number[]): void => {
      if (next === undefined || socket.destroyed) {
        socket.destroy();
        return;
      }
      const onward = connect(next, HOST);
      const leave = () => void onward.destroy();
      let isThere = false;
      onward.once('connect', () => {
        isThere = true;
        streams.set(url, next);
        onward.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
        onward.write(head);
        onward.pipe(socket).pipe(onward);
      });
      onward.on('error', () => {});
      onward.once('close', () => {
        socket.off('close', leave);
        if (!isThere) {
          attempt(rest);
          return;
        }
        socket.destroy();
        streams.delete(url);
      });
      socket.once('close', leave);
    };
    attempt(inTurn('stream'));
  };

  const http = createHttp((request, response) => {
    pass(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else response.writeHead(400).end();
    });
  });
  http.on('upgrade', join);
  await bind(http, port, host);
  return {
    portOf: (path) => streams.get(path),
    async close() {
      const closed = new Promise((resolve) => http.close(resolve));
      for (const socket of sockets) socket.destroy();
      http.closeAllConnections();
      await closed;
    },
  };
}
