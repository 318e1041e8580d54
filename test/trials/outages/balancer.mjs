// A load balancer: what comes goes to one server after the other, and to the next one where that does not answer. It knows which stream is whose, and
// when a server sent audio on it.
import { once } from 'node:events';
import { createServer, request as requestHttp } from 'node:http';
import { connect } from 'node:net';

/** A server that has not begun to answer by then is passed over. */
const ANSWER_MS = 2500;
const HEALTH_EVERY_MS = 500;
const HEALTH_MS = 1000;
const STREAM = /^\/ws\/stream\/([^/?]+)/;

/** @typedef {{ readonly port: number, isHealthy: boolean }} Backend */
/** @typedef {{ readonly callId: string, readonly port: number, readonly openedAt: number, closedAt: number, readonly sentAt: number[] }} Carried `closedAt`: infinity while it is open. `sentAt`: when each piece came from the server, by `Date.now()`. */

export class Balancer {
  /** Every stream that was passed on. @type {Carried[]} */
  streams = [];
  /** What servers have said to streams that they did not take. @type {{ callId: string, answer: string, at: number }[]} */
  refused = [];
  /** @type {Backend[]} */
  #backends = [];
  #next = 0;
  /** @type {Set<import('node:stream').Duplex>} */
  #sockets = new Set();
  #http;
  #port = 0;
  #watch;

  static async open() {
    const balancer = new Balancer();
    balancer.#http.listen(0, '127.0.0.1');
    await once(balancer.#http, 'listening');
    const address = balancer.#http.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    balancer.#port = address.port;
    return balancer;
  }

  /** @private */
  constructor() {
    this.#http = createServer((request, response) => this.#pass(request, response));
    this.#http.on('upgrade', (request, socket, head) => this.#join(request, socket, head));
    this.#watch = setInterval(() => {
      for (const backend of this.#backends) void this.#look(backend);
    }, HEALTH_EVERY_MS);
  }

  get url() {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** @param {number} port */
  add(port) {
    this.#backends.push({ port, isHealthy: true });
  }

  /** @param {number} port */
  remove(port) {
    this.#backends = this.#backends.filter((backend) => backend.port !== port);
  }

  /** Calls of which a stream is open now. */
  get open() {
    return new Set(
      this.streams
        .filter(({ closedAt }) => closedAt === Number.POSITIVE_INFINITY)
        .map(({ callId }) => callId),
    );
  }

  /** The newest stream of a call. @param {string} callId */
  lastOf(callId) {
    return this.streams.findLast((stream) => stream.callId === callId);
  }

  async close() {
    clearInterval(this.#watch);
    for (const socket of this.#sockets) socket.destroy();
    this.#http.closeAllConnections();
    this.#http.close();
    await once(this.#http, 'close');
  }

  /** Whose turn it is, and who follows. @returns {Backend[]} */
  #order() {
    const all = this.#backends;
    const from = this.#next % Math.max(1, all.length);
    this.#next += 1;
    const inTurn = [...all.slice(from), ...all.slice(0, from)];
    return [...inTurn.filter(({ isHealthy }) => isHealthy), ...inTurn.filter(({ isHealthy }) => !isHealthy)];
  }

  /** @param {Backend} backend */
  async #look(backend) {
    const url = `http://127.0.0.1:${backend.port}/health`;
    backend.isHealthy = await fetch(url, { signal: AbortSignal.timeout(HEALTH_MS) }).then(
      (response) => response.ok,
      () => false,
    );
  }

  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  async #pass(request, response) {
    /** @type {Buffer[]} */
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method, url: path, headers } = request;
    const attempt = (/** @type {Backend[]} */ [backend, ...rest]) => {
      if (backend === undefined) {
        response.writeHead(502).end();
        return;
      }
      const options = { host: '127.0.0.1', port: backend.port, method, path, headers, agent: false };
      const onward = requestHttp(options, (answer) => {
        clearTimeout(timer);
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
        answer.on('error', () => response.destroy());
      });
      const timer = setTimeout(() => onward.destroy(new Error('no answer')), ANSWER_MS);
      onward.on('error', () => {
        clearTimeout(timer);
        if (response.headersSent) response.destroy();
        else attempt(rest);
      });
      onward.end(body);
    };
    attempt(this.#order());
  }

  /** @param {import('node:http').IncomingMessage} request @param {import('node:stream').Duplex} socket @param {Buffer} head */
  #join(request, socket, head) {
    const { method, url = '', rawHeaders } = request;
    const lines = [`${method} ${url} HTTP/1.1`];
    for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
    const opening = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]);
    socket.on('error', () => {});
    this.#sockets.add(socket);
    const attempt = (/** @type {Backend[]} */ [backend, ...rest]) => {
      if (backend === undefined || socket.destroyed) {
        socket.destroy();
        return;
      }
      const onward = connect(backend.port, '127.0.0.1', () => onward.write(opening));
      this.#sockets.add(onward);
      let hasAnswered = false;
      const timer = setTimeout(() => onward.destroy(), ANSWER_MS);
      onward.on('error', () => {});
      onward.on('close', () => {
        clearTimeout(timer);
        this.#sockets.delete(onward);
        if (hasAnswered) socket.destroy();
        else attempt(rest);
      });
      onward.once('data', (first) => {
        clearTimeout(timer);
        hasAnswered = true;
        const callId = decodeURIComponent(STREAM.exec(url)?.[1] ?? '');
        const at = Date.now();
        /** @type {Carried} */
        const stream = {
          callId,
          port: backend.port,
          openedAt: at,
          closedAt: Number.POSITIVE_INFINITY,
          sentAt: [],
        };
        const answer = first.toString('utf8');
        if (/^HTTP\/1\.1 101/.test(answer)) this.streams.push(stream);
        else this.refused.push({ callId, answer, at });
        socket.once('close', () => {
          stream.closedAt = Date.now();
        });
        socket.write(first);
        onward.on('data', () => void stream.sentAt.push(Date.now()));
        onward.pipe(socket).pipe(onward);
      });
      socket.once('close', () => {
        hasAnswered = true;
        this.#sockets.delete(socket);
        onward.destroy();
      });
    };
    attempt(this.#order());
  }
}
