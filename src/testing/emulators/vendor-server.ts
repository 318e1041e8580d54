// The frame that all vendors' emulators share: a loopback server for HTTP and WebSocket, with troubles on demand.
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type RawData, WebSocketServer } from 'ws';
import { type Clock, systemClock } from '../../base/clock.js';
import { segmentWrites } from './segmented-socket.js';
import { selfSignedCertificate } from './self-signed-certificate.js';
import { type SocketTrouble, troubleAnswer } from './socket-trouble.js';
import { runTimeline, type TimelineEntry } from './timeline.js';
import type { WireTroubles } from './troubled-wire.js';
import { type EmulatorRequest, type VendorPeer, WsPeer } from './vendor-peer.js';

export interface EmulatorOptions {
  /** The key that is accepted. @default 'test-key' */
  readonly apiKey?: string;
  /** What the emulator measures its own delays and limits by. @default the system's */
  readonly clock?: Clock;
  /** @default any free one */
  readonly port?: number;
  /** What happens to every socket, at a time after its start. */
  readonly timeline?: readonly TimelineEntry[];
  /** Serves https and wss alone, with a certificate that `openssl` makes and nobody has signed. @default false */
  readonly tls?: boolean;
}

export interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** What is noted in `violations`. */
  readonly violation?: string;
}

/** The answer to a request for what the vendor does not have at all. */
export function unknownAddress({ url }: EmulatorRequest): Refusal {
  return { status: 404, violation: `${url.pathname} is no address of the vendor` };
}

/** Language models have their list of models asked for only to warm a connection up. */
export function asksForModels({ url }: EmulatorRequest): boolean {
  return url.pathname.endsWith('/models');
}

/** What every emulator offers beside its own. */
export interface Emulator extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, with `tls` https: the `baseUrl` of the provider under test. */
  readonly url: string;
  /** With `tls` its certificate as PEM, for the `ca` of a client or, in a file, for NODE_EXTRA_CA_CERTS. */
  readonly certificate: string | undefined;
  readonly requests: readonly EmulatorRequest[];
  /** What the vendor would have complained about. Empty after a clean run. */
  readonly violations: readonly string[];
  /** Sockets that are open now. */
  readonly openSockets: number;
  /** TCP connections so far. */
  readonly connectionCount: number;
  troubles: WireTroubles;
  /**
   * Refuses the next handshakes or requests, behind those that are to be refused already; `times: 0` refuses no more. As with `resetNext`
   * and `ignoreNext`, requests that only warm a connection up are answered and not counted. What a provider sends again by itself is
   * counted, so that it comes through after one 429 or 5xx. @default once
   */
  refuseNext(refusal: (Refusal & { readonly times?: number }) | { readonly times: 0 }): void;
  /** Resets the connection of the next handshakes or requests without an answer, as a server does that gave an idle connection up; 0: of no more. @default 1 */
  resetNext(times?: number): void;
  /** Takes the connections of the next handshakes or requests, and answers nothing; 0: of no more. @default 1 */
  ignoreNext(times?: number): void;
  /** Breaks every open socket and every answer that is being streamed, or only the socket that was the `socket`th to be opened, from 0. */
  break(trouble: SocketTrouble, options?: { readonly socket?: number }): void;
  /** Sends a text to every open socket, as it is. */
  sendAll(text: string): void;
  /** Ends every open socket; 1006 cuts the connection. @default 1006 */
  disconnectAll(code?: number, reason?: string): void;
  /** Cuts the connections of requests that are being answered, and of idle ones. */
  cutRequests(): void;
  /** From now on open sockets neither read nor answer, answers that are being streamed stop, and none of them is closed. */
  freeze(): void;
  close(): Promise<void>;
}

export interface PeerHandler {
  text(text: string): void;
  binary(bytes: Buffer): void;
  closed(): void;
}

export interface VendorRules {
  /** Undefined accepts the handshake. */
  refuse(request: EmulatorRequest): Refusal | undefined;
  /** True for a request that a provider sends to have a connection ready, whenever it likes. */
  isWarmUp?(request: EmulatorRequest): boolean;
  connect?(peer: VendorPeer): PeerHandler;
  /** `bytes` is the body as it came. */
  http?(request: EmulatorRequest, body: string, response: ServerResponse, bytes: Buffer): void;
}

const DEFAULT_KEY = 'test-key';
const UNAUTHORIZED = 401;
const MAX_BODY_BYTES = 4 * 1024 * 1024;

export class VendorServer implements Emulator {
  readonly requests: EmulatorRequest[] = [];
  readonly violations: string[] = [];
  readonly clock: Clock;
  readonly apiKey: string;
  troubles: WireTroubles = {};
  url = '';
  certificate: string | undefined;
  connectionCount = 0;
  readonly #rules: VendorRules;
  readonly #server: Server | TlsServer;
  readonly #sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  readonly #peers = new Set<WsPeer>();
  readonly #numbers = new WeakMap<WsPeer, number>();
  readonly #connections = new Set<Socket>();
  readonly #refusals: Refusal[] = [];
  readonly #timeline: readonly TimelineEntry[];
  readonly #responses = new Set<ServerResponse>();
  readonly #frozen = new WeakSet<ServerResponse>();
  #resets = 0;
  #ignored = 0;
  #peerCount = 0;

  constructor(options: EmulatorOptions, createRules: (server: VendorServer) => VendorRules) {
    this.clock = options.clock ?? systemClock;
    this.apiKey = options.apiKey ?? DEFAULT_KEY;
    this.#timeline = options.timeline ?? [];
    this.#rules = createRules(this);
    const answer = (request: IncomingMessage, response: ServerResponse) =>
      void this.#answer(request, response);
    this.#server = options.tls === true ? createTlsServer(answer) : createServer(answer);
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
    this.#server.on('connection', (socket) => {
      this.connectionCount += 1;
      this.#connections.add(socket);
      socket.on('close', () => this.#connections.delete(socket));
    });
    // What is written to the connection below an encrypted one does not pass through its JavaScript.
    this.#server.on(options.tls === true ? 'secureConnection' : 'connection', (socket: Socket) =>
      segmentWrites(socket, () => this.troubles, this.clock),
    );
  }

  async listen(port = 0): Promise<this> {
    const tls = 'setSecureContext' in this.#server ? this.#server : undefined;
    if (tls !== undefined) {
      const made = await selfSignedCertificate();
      tls.setSecureContext(made);
      this.certificate = made.cert;
    }
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', resolve);
    });
    this.url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  get openSockets(): number {
    return this.#peers.size;
  }

  /** Notes something that a well-behaved client does not do. */
  complain(sentence: string): void {
    if (this.violations.length < 100) this.violations.push(sentence);
  }

  refuseNext(order: (Refusal & { readonly times?: number }) | { readonly times: 0 }): void {
    if (!('status' in order) || order.times === 0) {
      this.#refusals.length = 0;
      return;
    }
    const { times = 1, ...refusal } = order;
    for (let count = 0; count < times; count += 1) this.#refusals.push(refusal);
  }

  resetNext(times = 1): void {
    this.#resets = times === 0 ? 0 : this.#resets + times;
  }

  ignoreNext(times = 1): void {
    this.#ignored = times === 0 ? 0 : this.#ignored + times;
  }

  break(trouble: SocketTrouble, { socket }: { readonly socket?: number } = {}): void {
    for (const peer of [...this.#peers])
      if (socket === undefined || this.#numbers.get(peer) === socket) peer.break(trouble);
    if (socket !== undefined) return;
    for (const response of [...this.#responses]) {
      // Of an answer that was ended here nothing more is to be written either.
      if (trouble === 'freeze' || typeof trouble === 'number') this.#frozen.add(response);
      if (trouble !== 'freeze') troubleAnswer(response, trouble);
    }
  }

  sendAll(text: string): void {
    for (const peer of this.#peers) peer.send(text);
  }

  disconnectAll(code = 1006, reason = ''): void {
    for (const peer of [...this.#peers]) peer.close(code, reason);
  }

  cutRequests(): void {
    this.#server.closeAllConnections();
  }

  freeze(): void {
    for (const peer of this.#peers) peer.freeze();
    for (const response of this.#responses) this.#frozen.add(response);
  }

  /** True when nothing more may be written to an answer. */
  isFrozen(response: ServerResponse): boolean {
    return this.#frozen.has(response);
  }

  async close(): Promise<void> {
    for (const peer of this.#peers) peer.close(1006, '');
    for (const socket of this.#connections) socket.destroy();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #read(request: IncomingMessage): EmulatorRequest {
    // Joined, not resolved: a path that begins with two slashes is no host.
    const url = new URL(`${this.url}${request.url ?? '/'}`);
    return { method: request.method ?? 'GET', url, headers: request.headers };
  }

  /** True when the next handshake or request is left alone, or its connection reset. */
  #isDropped(request: IncomingMessage): boolean {
    if (this.#resets > 0) {
      this.#resets -= 1;
      this.#connectionOf(request)?.resetAndDestroy();
      return true;
    }
    if (this.#ignored === 0) return false;
    this.#ignored -= 1;
    return true;
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A client that goes while it is not answered is nobody's error.
    socket.on('error', () => {});
    if (this.#isDropped(request)) return;
    const noted = this.#read(request);
    this.requests.push(noted);
    const refusal = this.#refusals.shift() ?? this.#refusalOf(noted) ?? this.#noSockets();
    if (refusal !== undefined) {
      const { status, headers = {}, body = '' } = refusal;
      const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body) });
      const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      socket.end(
        `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nconnection: close\r\n${head}\r\n${body}`,
      );
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (ws) => {
      const wire = { request: noted, clock: this.clock, troubles: () => this.troubles };
      const peer = new WsPeer(ws, socket, wire);
      this.#peers.add(peer);
      this.#numbers.set(peer, this.#peerCount);
      this.#peerCount += 1;
      const handler = this.#rules.connect?.(peer);
      const stopTimeline = runTimeline(this.#timeline, peer, this);
      ws.on('message', (data, isBinary) => {
        if (peer.frozen || !peer.isOpen) return;
        const bytes = toBuffer(data);
        this.#guarded(
          () => (isBinary ? handler?.binary(bytes) : handler?.text(bytes.toString('utf8'))),
          () => peer.close(1011, ''),
        );
      });
      ws.on('error', () => {});
      ws.on('close', () => {
        this.#peers.delete(peer);
        stopTimeline();
        handler?.closed();
      });
    });
  }

  /** That the key is wrong is said in `violations` as well: an application shows it as a provider that failed, and no more. */
  #refusalOf(request: EmulatorRequest): Refusal | undefined {
    const refusal = this.#rules.refuse(request);
    if (refusal?.violation !== undefined) this.complain(refusal.violation);
    if (refusal?.status === UNAUTHORIZED) {
      this.complain(`the API key was refused: the emulator takes its apiKey, by default ${DEFAULT_KEY}`);
    }
    return refusal;
  }

  #noSockets(): Refusal | undefined {
    return this.#rules.connect === undefined ? { status: 404 } : undefined;
  }

  /** The TCP connection, which an encrypted one hides. */
  #connectionOf({ socket: { remotePort } }: IncomingMessage): Socket | undefined {
    return [...this.#connections].find((socket) => socket.remotePort === remotePort);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const noted = this.#read(request);
    const isWarmUp = this.#rules.isWarmUp?.(noted) === true;
    if (!isWarmUp && this.#isDropped(request)) return;
    this.requests.push(noted);
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of request) {
        size += (chunk as Buffer).length;
        if (size <= MAX_BODY_BYTES) chunks.push(chunk as Buffer);
      }
    } catch {
      return;
    }
    const demanded = isWarmUp ? undefined : this.#refusals.shift();
    const refusal = demanded ?? this.#refusalOf(noted);
    if (refusal !== undefined || this.#rules.http === undefined) {
      const { status, headers = {}, body = '' } = refusal ?? { status: 404 };
      response.writeHead(status, headers).end(body);
      return;
    }
    this.#responses.add(response);
    response.on('close', () => this.#responses.delete(response));
    const bytes = Buffer.concat(chunks);
    this.#guarded(
      () => this.#rules.http?.(noted, bytes.toString('utf8'), response, bytes),
      () => (response.headersSent ? response.destroy() : response.writeHead(500).end()),
    );
  }

  /** What a script gets wrong, like a function of replies that throws, is a failing vendor, and said in `violations`. */
  #guarded(task: () => void, fail: () => void): void {
    try {
      task();
    } catch (error) {
      this.complain(
        `the script of the emulator failed: ${error instanceof Error ? error.message : 'it threw'}`,
      );
      fail();
    }
  }
}

function toBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
