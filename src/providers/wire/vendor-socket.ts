// One WebSocket to a vendor: bounded in time and size, told about in our words, ended exactly once.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { type Clock, grace, type Timer } from '../../base/clock.js';
import { require } from '../../base/commonjs.js';
import { takeTextFrames, toMaskedFrame } from '../../base/text-frames.js';
import {
  connectionFailure,
  fatalFailure,
  refusalFailure,
  toShownCode,
  transientFailure,
  type WireFailure,
} from './failure.js';

export interface SocketTarget {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Response header that names the reason of a refusal. */
  readonly reasonHeader?: string;
}

export interface SocketEvents {
  opened(): void;
  /** A text frame, or a binary one with JSON in it. */
  text(text: string): void;
  /** A binary frame, where the vendor sends audio in such. @default taken as text */
  binary?(bytes: Uint8Array): void;
  /** The socket is over, and not because it was closed from here. Nothing follows. */
  ended(failure: WireFailure): void;
  /** A ping was answered. */
  pong?(): void;
}

export interface VendorSocketOptions {
  readonly target: SocketTarget;
  readonly clock: Clock;
  readonly events: SocketEvents;
  /** Longest wait for the connection, in milliseconds, at most 5000. @default 5000 */
  readonly handshakeTimeoutMs?: number;
  /** Time between two pings, in milliseconds; after three of them a peer without a sign of life is gone. @default 1000 */
  readonly pingMs?: number | undefined;
  /** What a close from the vendor means, where the code alone does not say it. */
  readonly readClose?: (close: SocketClose) => WireFailure | undefined;
}

export interface SocketClose {
  readonly code: number;
  readonly reason: string;
}

export interface VendorSocket {
  /** Bytes that wait here because the network does not take them. */
  readonly bufferedBytes: number;
  /** Does nothing unless the socket is open. */
  send(message: string | Uint8Array): void;
  /** One more ping, which nothing hangs on: whoever wants to know hears of its `pong`. */
  ping(): void;
  /** Ends the socket with 1000, after a last message if there is one. No event follows. Idempotent. */
  close(lastMessage?: string): void;
  /** Ends the socket without waiting for a peer that is gone. No event follows. Idempotent. */
  terminate(): void;
}

/** Opens a socket. Tests have another one. */
export type OpenVendorSocket = (options: VendorSocketOptions) => VendorSocket;

const HANDSHAKE_TIMEOUT_MS = 5000;
const MAX_PAYLOAD_BYTES = 16 * 1024 * 1024;

/**
 * A peer that leaves two pings in a row without any sign of life is gone, whatever the network says. A caller may be waiting for it: it has
 * to be found so soon that another connection can still be made.
 */
const PING_MS = 1000;
const MAX_UNANSWERED_PINGS = 2;

/** How long a peer may take to answer our close. */
const CLOSE_TIMEOUT_MS = 1000;

const NOT_HANDLED = 'said something that could not be handled';

/** The library costs tens of milliseconds to load, which nobody pays who makes no such call. */
let library: Promise<typeof import('ws')> | undefined;

async function loadLibrary(): Promise<typeof import('ws')> {
  return require('ws');
}

export const openVendorSocket: OpenVendorSocket = (options) => new WsVendorSocket(options);

class WsVendorSocket implements VendorSocket {
  readonly #options: VendorSocketOptions;
  #socket: WebSocket | undefined;
  /** What the socket writes to; undefined before it is open. */
  #network: Duplex | undefined;
  #timer: Timer | undefined;
  #unanswered = 0;
  #over = false;

  constructor(options: VendorSocketOptions) {
    this.#options = options;
    const { clock, handshakeTimeoutMs = HANDSHAKE_TIMEOUT_MS } = options;
    this.#timer = clock.after(Math.min(handshakeTimeoutMs, HANDSHAKE_TIMEOUT_MS), () =>
      this.#end(transientFailure('did not answer in time')),
    );
    library ??= loadLibrary();
    void library.then(
      ({ WebSocket }) => this.#connect(WebSocket),
      (cause: unknown) => this.#end(fatalFailure('cannot be reached without the ws package', cause)),
    );
  }

  get bufferedBytes(): number {
    // The library keeps nothing back: nothing is compressed.
    return this.#network?.writableLength ?? 0;
  }

  send(message: string | Uint8Array): void {
    const socket = this.#socket;
    if (this.#over || socket === undefined || socket.readyState !== socket.OPEN) return;
    const frame = typeof message === 'string' ? toMaskedFrame(message) : undefined;
    if (frame === undefined || this.#network === undefined) socket.send(message, ignore);
    else this.#network.write(frame);
  }

  ping(): void {
    const socket = this.#socket;
    if (this.#over || socket === undefined || socket.readyState !== socket.OPEN) return;
    socket.ping(undefined, undefined, ignore);
  }

  close(lastMessage?: string): void {
    if (this.#over) return;
    if (lastMessage !== undefined) this.send(lastMessage);
    this.#over = true;
    this.#timer?.cancel();
    const socket = this.#socket;
    if (socket === undefined) return;
    if (socket.readyState === socket.CONNECTING) {
      socket.terminate();
      return;
    }
    socket.close(1000);
    const waiting = grace(this.#options.clock, CLOSE_TIMEOUT_MS, () => socket.terminate());
    socket.once('close', () => waiting.cancel());
  }

  terminate(): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer?.cancel();
    this.#socket?.terminate();
  }

  #connect(WebSocket: typeof import('ws').WebSocket): void {
    if (this.#over) return;
    const { target, events } = this.#options;
    let socket: WebSocket;
    try {
      socket = new WebSocket(target.url, {
        headers: target.headers,
        perMessageDeflate: false,
        maxPayload: MAX_PAYLOAD_BYTES,
      });
    } catch (cause) {
      this.#end(fatalFailure('cannot be reached with these settings', cause));
      return;
    }
    this.#socket = socket;
    let network: Duplex | undefined;
    socket.on('upgrade', (response) => {
      network = response.socket;
    });
    socket.on('open', () => {
      if (this.#over) return;
      this.#network = network;
      if (network !== undefined) takeTextFrames(network, { isMasked: false, take: this.#take });
      this.#timer?.cancel();
      this.#watch();
      this.#tell(() => events.opened());
    });
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('pong', () => {
      this.#unanswered = 0;
      if (!this.#over) this.#tell(() => events.pong?.());
    });
    socket.on('unexpected-response', (_request, response) => {
      this.#end(toRefusal(response, target.reasonHeader));
      response.destroy();
    });
    socket.on('error', (cause) => this.#end(connectionFailure(target.url, cause)));
    socket.on('close', (code, reason) => this.#closed({ code, reason: reason.toString('utf8') }));
  }

  #receive(data: RawData, isBinary: boolean): void {
    const { events } = this.#options;
    const bytes = toBuffer(data);
    if (isBinary && events.binary !== undefined) {
      this.#unanswered = 0;
      if (!this.#over) this.#tell(() => events.binary?.(bytes));
    } else this.#take(bytes.toString('utf8'));
  }

  readonly #take = (text: string): void => {
    if (this.#over) return;
    this.#unanswered = 0;
    try {
      this.#options.events.text(text);
    } catch (cause) {
      this.#end(fatalFailure(NOT_HANDLED, cause));
    }
  };

  /** What goes wrong in a listener ends this socket: thrown from here, it would end the process and every call in it. */
  #tell(event: () => void): void {
    try {
      event();
    } catch (cause) {
      this.#end(fatalFailure(NOT_HANDLED, cause));
    }
  }

  #closed(close: SocketClose): void {
    if (this.#over) return;
    this.#end(this.#options.readClose?.(close) ?? closeFailure(close));
  }

  #watch(): void {
    const { clock, pingMs = PING_MS } = this.#options;
    this.#timer = clock.after(pingMs, () => {
      if (this.#unanswered >= MAX_UNANSWERED_PINGS) {
        const lastedMs = (MAX_UNANSWERED_PINGS + 1) * pingMs;
        this.#end({ ...transientFailure('has gone silent'), lastedMs });
        return;
      }
      this.#unanswered += 1;
      this.ping();
      this.#watch();
    });
  }

  #end(failure: WireFailure): void {
    if (this.#over) return;
    this.terminate();
    this.#options.events.ended(failure);
  }
}

/** Codes that say that what we sent cannot be taken. */
const FATAL_CLOSES = new Set([1002, 1003, 1007, 1008]);

/** What a close means by its code. */
export function closeFailure({ code, reason }: SocketClose): WireFailure {
  const word = /^\s*([\w.-]+)/.exec(reason)?.[1];
  const shown = [String(code), ...toShownCode(word)].join(', ');
  const fatal = FATAL_CLOSES.has(code);
  const sentence = `closed the connection (${shown})`;
  return fatal ? fatalFailure(sentence) : transientFailure(sentence);
}

function toRefusal(response: IncomingMessage, reasonHeader: string | undefined): WireFailure {
  const header = (name: string) => {
    const value = response.headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  return refusalFailure({
    status: response.statusCode ?? 500,
    retryAfter: header('retry-after'),
    code: reasonHeader === undefined ? undefined : header(reasonHeader),
  });
}

function toBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

function ignore(): void {}
