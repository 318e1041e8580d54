// A load balancer: each request and each stream goes to the next of several servers, and to the one behind it where that is not there.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';

/** A request as it came, to be sent again. */
export interface TakenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly status: number;
  /** In milliseconds. */
  readonly tookMs: number;
}

export interface RoundRobinProxy extends AsyncDisposable {
  readonly url: string;
  readonly took: readonly TakenRequest[];
  /** What comes next goes to these ports of this machine, one after the other. */
  useAll(ports: readonly number[]): void;
  /** Whether the next stream goes to the port that the last request went to. @default wherever it is its turn */
  choose(
    pick: ((request: IncomingMessage, ports: readonly number[]) => number | undefined) | undefined,
  ): void;
  /** Until it is undone, nothing comes to this port, nor from it: the server there stands still. */
  still(port: number): () => void;
}

/** Passes on what comes, in order, whenever it may. */
function passOn(from: Duplex, to: Duplex, whenOpen: () => Promise<void> | undefined): void {
  let last: Promise<void> | undefined;
  const pass = (act: () => void) => {
    const waiting = whenOpen() ?? last;
    if (waiting === undefined) {
      act();
      return;
    }
    const passed = (last ?? Promise.resolve()).then(() => whenOpen()).then(act);
    last = passed;
    void passed.then(() => {
      if (last === passed) last = undefined;
    });
  };
  from.on('data', (chunk: Buffer) => pass(() => void to.write(chunk)));
  from.on('end', () => pass(() => void to.end()));
  from.on('close', () => pass(() => void to.destroy()));
}

export async function startRoundRobinProxy(): Promise<RoundRobinProxy> {
  let ports: readonly number[] = [];
  let next = 0;
  const took: TakenRequest[] = [];
  let pick: Parameters<RoundRobinProxy['choose']>[0];
  const sockets = new Set<Duplex>();
  const still = new Map<number, Promise<void>>();
  const order = (request: IncomingMessage): number[] => {
    const chosen = pick?.(request, ports);
    if (chosen !== undefined) return [chosen];
    const from = next % Math.max(1, ports.length);
    next += 1;
    return [...ports.slice(from), ...ports.slice(0, from)];
  };
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    const begun = performance.now();
    response.once('finish', () => {
      const { method = '', url: path = '', headers } = request;
      const tookMs = performance.now() - begun;
      took.push({ method, path, headers, body: Buffer.concat(chunks), status: response.statusCode, tookMs });
    });
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url: path, headers } = request;
      const attempt = ([port, ...rest]: number[]) => {
        if (port === undefined) {
          response.writeHead(502).end();
          return;
        }
        const options = { host: '127.0.0.1', port, method, path, headers, agent: false } as const;
        const onward = requestHttp(options, (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
          answer.on('error', () => response.destroy());
        });
        onward.on('error', () => (response.headersSent ? response.destroy() : attempt(rest)));
        onward.end(Buffer.concat(chunks));
      };
      attempt(order(request));
    });
  });
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { method, url, rawHeaders } = request;
    socket.on('error', () => {});
    const attempt = ([port, ...rest]: number[]) => {
      if (port === undefined) {
        socket.destroy();
        return;
      }
      const onward = connect(port, '127.0.0.1');
      let isUp = false;
      onward.on('connect', () => {
        isUp = true;
        const lines = [`${method} ${url} HTTP/1.1`];
        for (let index = 0; index < rawHeaders.length; index += 2)
          lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
        onward.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
        if (head.length > 0) onward.write(head);
        passOn(socket, onward, () => still.get(port));
        passOn(onward, socket, () => still.get(port));
      });
      onward.on('error', () => (isUp ? socket.destroy() : attempt(rest)));
      sockets.add(onward).add(socket);
    };
    attempt(order(request));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    took,
    useAll(all) {
      ports = all;
    },
    choose(chosen) {
      pick = chosen;
    },
    still(port) {
      let open = () => {};
      const isOpen = new Promise<void>((resolve) => {
        open = resolve;
      });
      still.set(port, isOpen);
      return () => {
        if (still.get(port) === isOpen) still.delete(port);
        open();
      };
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
}
