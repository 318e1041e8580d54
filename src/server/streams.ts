// The door for media streams: limit, path, token, signature, then the WebSocket, which is handed to the call desk.
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { type Clock, type SharedTime, sharedNow } from '../base/clock.js';
import { require } from '../base/commonjs.js';
import { AuthError, LimitError, RequestError } from '../base/errors.js';
import { describeError, type Logger } from '../base/log.js';
import { takeTextFrames } from '../base/text-frames.js';
import type { CallDesk, StreamAdmission, StreamReceiver, StreamSocket } from '../calls/call-desk.js';
import type { SharedConnections } from '../calls/shared-places.js';
import { readStreamToken } from '../calls/streams/stream-token.js';
import type { Carrier } from '../carriers/carrier.js';
import type { Capacity } from './capacity.js';
import { type ConnectionLimit, clientAddress, isPrivateAddress, peerAddress } from './connection-limit.js';
import { toErrorAnswer } from './error-answer.js';
import { isPassed, type Neighbor } from './neighbor.js';
import { isOwnOrigin } from './own-origin.js';
import type { ProxyTrust } from './proxy-trust.js';
import { resolvePublicHost } from './public-host.js';
import { parseStreamTarget, type StreamTarget } from './stream-target.js';
import { toTextFrame } from './text-frame.js';
import { toWebhookRequest } from './webhook-request.js';

const { WebSocketServer } = require('ws') as typeof import('ws');

const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_CLOSE_REASON_BYTES = 123;

const CLOSE_INTERNAL_ERROR = 1011;
/** How long the other side may take to answer a close. A dead one never answers, and would keep counting against its address. */
const CLOSE_GRACE_MS = 2000;

/** What the stream door works with. */
export interface StreamDoorOptions {
  readonly carrier: Carrier;
  readonly desk: CallDesk;
  readonly limit: ConnectionLimit;
  /** The same limit, over this process and others. @default this one is alone */
  shared?(): SharedConnections | undefined;
  readonly trusts: ProxyTrust;
  publicHost(): string | undefined;
  /** Another public host, which leads to this process alone. @default none */
  readonly streamHost?: string | undefined;
  readonly capacity: Capacity;
  isDraining(): boolean;
  /** Undefined while this process is alone. */
  neighbor(): Neighbor | undefined;
  readonly logger: Logger;
  readonly clock: Clock;
  /** By which tokens are dated, where other processes invite streams, too. @default the clock's */
  sharedTime?(): SharedTime | undefined;
}

/** Takes every upgrade request of the server. */
export class StreamDoor {
  readonly #options: StreamDoorOptions;
  readonly #server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
  });
  #hasWarned = false;

  constructor(options: StreamDoorOptions) {
    this.#options = options;
  }

  /** Opens the stream or answers with an error. Never throws. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (socket.destroyed) return;
    // The peer may vanish at any moment; its socket then closes by itself.
    socket.on('error', () => {});
    try {
      this.#count(request, socket);
      const admission = this.#identify(request);
      const neighbor = this.#options.neighbor();
      const { desk } = this.#options;
      const { callId } = admission;
      // What was invited here, or has ended here, is nobody else's.
      const isHere = neighbor?.takesNew === false && (desk.holdsPlace(callId) || desk.hasEnded(callId));
      if (neighbor === undefined || isHere) this.#take(request, socket, head, admission);
      else void this.#place(neighbor, { request, socket, head, admission });
    } catch (error) {
      this.#refuse(socket, error);
    }
  }

  /** The call may be at the neighbor, or is on its way there. */
  async #place(
    neighbor: Neighbor,
    upgrade: { request: IncomingMessage; socket: Duplex; head: Buffer; admission: StreamAdmission },
  ): Promise<void> {
    const { request, socket, head, admission } = upgrade;
    try {
      const { callId, carrierCallId, number } = admission;
      const place = await neighbor.place(callId, { carrierCallId, isPassed: isPassed(request), number });
      const address = clientAddress(request, this.#options.trusts);
      if (place === 'there' && (await neighbor.passUpgrade?.(request, socket, head, address))) return;
      this.#demandBeginning(admission);
      this.#take(request, socket, head, admission);
    } catch (error) {
      this.#refuse(socket, error);
    }
  }

  /** A call that another process has is not begun here a second time. @throws RequestError for a further stream of a call that is not here. */
  #demandBeginning({ callId, number = 1 }: StreamAdmission): void {
    const { desk } = this.#options;
    if (number === 1 || desk.isLive(callId) || desk.holdsPlace(callId)) return;
    throw new RequestError('REQUEST_CONFLICT', 'The call is at another process.');
  }

  #take(request: IncomingMessage, socket: Duplex, head: Buffer, admission: StreamAdmission): void {
    if (socket.destroyed) return;
    this.#demandExpected(admission);
    const shared = this.#options.shared?.();
    const isTaken = this.#options.capacity.takesStream(admission.callId);
    const upgrade = (hasRoom: boolean) => {
      if (!hasRoom) throw new LimitError('No capacity for another call.');
      this.#server.handleUpgrade(request, socket, head, (webSocket) =>
        this.#admit(webSocket, socket, admission),
      );
    };
    if (shared === undefined && typeof isTaken === 'boolean') upgrade(isTaken);
    else
      Promise.all([isTaken, shared && this.#countShared(shared, { request, socket, admission })])
        .then(([hasRoom]) => {
          if (socket.destroyed) return;
          // Much may have happened meanwhile.
          this.#demandExpected(admission);
          upgrade(hasRoom);
        })
        .catch((error: unknown) => this.#refuse(socket, error));
  }

  /** As `#count`, over all processes that share the limit. Rejects with LimitError. */
  async #countShared(
    shared: SharedConnections,
    { request, socket, admission }: { request: IncomingMessage; socket: Duplex; admission: StreamAdmission },
  ): Promise<void> {
    const release = await shared.acquire(clientAddress(request, this.#options.trusts), admission.callId);
    if (release === undefined) throw this.#tooMany(request);
    if (socket.destroyed) release();
    else socket.once('close', release);
  }

  #refuse(socket: Duplex, error: unknown): void {
    const { status } = toErrorAnswer(error);
    const level = status >= 500 ? 'error' : 'info';
    this.#options.logger[level]({ status, ...describeError(error) }, 'stream refused');
    refuse(socket, error);
  }

  /** Starts the closing handshake on every stream. */
  closeAll(code: number, reason: string): void {
    for (const webSocket of this.#server.clients) webSocket.close(code, reason);
  }

  /** Cuts every stream that is still open. */
  terminateAll(): void {
    for (const webSocket of this.#server.clients) webSocket.terminate();
  }

  /** Counts the connection until its socket closes, whatever becomes of it. @throws LimitError before anything else is looked at. */
  #count(request: IncomingMessage, socket: Duplex): void {
    const release = this.#options.limit.acquire(clientAddress(request, this.#options.trusts));
    if (release === undefined) throw this.#tooMany(request);
    socket.once('close', release);
  }

  /** The first time, the log says why it may not be the carrier's doing. */
  #tooMany(request: IncomingMessage): LimitError {
    if (!this.#hasWarned && isPrivateAddress(peerAddress(request))) {
      this.#hasWarned = true;
      this.#options.logger.warn(
        {},
        'too many streams from one private address: behind a proxy all callers share it. Set trustProxy, or raise maxStreamsPerIp',
      );
    }
    return new LimitError('Too many streams from this address.');
  }

  /** What is known of the call, once everything is right that the request alone shows. */
  #identify(request: IncomingMessage): StreamAdmission {
    const target = parseStreamTarget(request.url ?? '');
    if (request.method !== 'GET') throw new RequestError('REQUEST_INVALID', 'Open streams with GET.');
    this.#refuseForeignPage(request);
    const admission = this.#readToken(target);
    this.#verifySignature(request);
    return admission;
  }

  /** @throws RequestError for a stream that is not to be taken. */
  #demandExpected(admission: StreamAdmission): void {
    const { carrier, desk } = this.#options;
    if (this.#options.isDraining())
      throw new RequestError('REQUEST_CONFLICT', 'The server is shutting down.');
    // A token is good for one call: what is over is not opened again. Without tokens an id may be used anew.
    const isOver = desk.hasEnded(admission.callId);
    if (isOver && carrier.streamTokenKey !== undefined) {
      throw new RequestError('REQUEST_CONFLICT', 'The call is over.');
    }
    if (!isOver && !desk.expectsStream(admission.callId, admission.number)) {
      throw new RequestError('REQUEST_CONFLICT', 'The call already has a stream.');
    }
  }

  /** The token's facts outrank the query. Without a secret there is no token, and the query is all there is. */
  #readToken(target: StreamTarget): StreamAdmission {
    const key = this.#options.carrier.streamTokenKey;
    if (key === undefined) {
      const { callId, caller, callee } = target;
      return { callId, carrierCallId: null, caller, callee, direction: null };
    }
    const former = this.#options.sharedTime?.()?.formerNow();
    const times = [sharedNow(this.#options), ...(former === undefined ? [] : [former])];
    const [facts] = times.flatMap((nowMs) => readStreamToken(key, target.token ?? '', nowMs) ?? []);
    if (facts === undefined || ![facts.callId, facts.carrierCallId].includes(target.callId)) {
      throw new AuthError('AUTH_REQUIRED', 'The stream token is missing, wrong or stale.');
    }
    return facts;
  }

  /** Without tokens a page in any browser that reaches us could talk to the agent. Carriers send no Origin. */
  #refuseForeignPage(request: IncomingMessage): void {
    const { carrier, publicHost } = this.#options;
    const { origin, host } = request.headers;
    if (carrier.streamTokenKey !== undefined || isOwnOrigin(origin, { host, publicHost: publicHost() }))
      return;
    throw new AuthError('AUTH_FORBIDDEN', 'Pages of other origins cannot open streams.');
  }

  #verifySignature(request: IncomingMessage): void {
    const { carrier, publicHost, streamHost } = this.#options;
    const upgrade = toWebhookRequest(request, new Uint8Array());
    const host = resolvePublicHost(publicHost(), request.headers.host);
    // A proxy may have changed the Host header: what was signed shows which one was dialed.
    try {
      carrier.verifyUpgrade(upgrade, host);
    } catch (error) {
      if (streamHost === undefined) throw error;
      carrier.verifyUpgrade(upgrade, streamHost);
    }
  }

  #admit(webSocket: WebSocket, network: Duplex, admission: StreamAdmission): void {
    const { desk, logger, clock } = this.#options;
    const socket = new CarrierSocket(webSocket, network, clock);
    try {
      const receiver = desk.admit(admission, socket);
      connect(webSocket, network, receiver, (error) => {
        logger.error({ callId: admission.callId, ...describeError(error) }, 'stream receiver failed');
        socket.close(CLOSE_INTERNAL_ERROR, 'Internal error');
      });
    } catch (error) {
      logger.error({ callId: admission.callId, ...describeError(error) }, 'stream not admitted');
      webSocket.on('error', () => {});
      socket.close(CLOSE_INTERNAL_ERROR, 'Internal error');
    }
  }
}

/** Hands what arrives to the receiver. `onFailure` hears what a receiver throws although it must not. */
function connect(
  webSocket: WebSocket,
  network: Duplex,
  receiver: StreamReceiver,
  onFailure: (error: unknown) => void,
): void {
  const guarded = (task: () => void) => {
    try {
      task();
    } catch (error) {
      onFailure(error);
    }
  };
  // For every frame: without a closure.
  const take = (text: string) => {
    try {
      receiver.receiveText(text);
    } catch (error) {
      onFailure(error);
    }
  };
  takeTextFrames(network, { isMasked: true, take });
  webSocket.on('message', (data, isBinary) => {
    if (isBinary) guarded(() => receiver.receiveUnexpected('binary message'));
    else take(toText(data));
  });
  // The library answers with the right close code by itself; here it is only counted.
  webSocket.on('error', (error) => guarded(() => receiver.receiveUnexpected(toReason(error))));
  webSocket.on('close', (code) => guarded(() => receiver.socketClosed(code)));
}

/** The socket as a call has it. `network` is what `webSocket` writes to. */
class CarrierSocket implements StreamSocket {
  readonly #webSocket: WebSocket;
  readonly #network: Duplex;
  readonly #clock: Clock;

  constructor(webSocket: WebSocket, network: Duplex, clock: Clock) {
    this.#webSocket = webSocket;
    this.#network = network;
    this.#clock = clock;
  }

  send(text: string): void {
    const webSocket = this.#webSocket;
    if (webSocket.readyState !== webSocket.OPEN) return;
    const frame = toTextFrame(text);
    if (frame === undefined) webSocket.send(text, ignore);
    else this.#network.write(frame, 'latin1');
  }

  close(code: number, reason: string): void {
    const webSocket = this.#webSocket;
    if (webSocket.readyState === webSocket.CLOSED) return;
    const timer = this.#clock.after(CLOSE_GRACE_MS, () => webSocket.terminate());
    webSocket.once('close', () => timer.cancel());
    webSocket.close(code, cutReason(reason));
  }

  /** The library keeps nothing back: nothing is compressed. */
  get bufferedBytes(): number {
    return this.#network.writableLength;
  }
}

function ignore(): void {}

/** A close frame has room for 123 bytes. Cut between characters. */
function cutReason(reason: string): string {
  let cut = reason.slice(0, MAX_CLOSE_REASON_BYTES);
  while (Buffer.byteLength(cut) > MAX_CLOSE_REASON_BYTES) cut = cut.slice(0, -1);
  return cut;
}

function toText(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return data instanceof ArrayBuffer ? Buffer.from(data).toString('utf8') : data.toString('utf8');
}

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['WS_ERR_UNSUPPORTED_MESSAGE_LENGTH', 'message too big'],
  ['WS_ERR_INVALID_UTF8', 'message is not UTF-8'],
]);

function toReason(error: Error): string {
  return REASONS.get((error as { code?: unknown }).code) ?? 'malformed WebSocket frame';
}

/** Answers an upgrade with a whole HTTP response, and lets go of the connection. */
function refuse(socket: Duplex, error: unknown): void {
  const { status, headers, body } = toErrorAnswer(error);
  writeAnswer(socket, status, headers, JSON.stringify(body));
}

/** Writes a complete HTTP response to a bare socket and closes it. */
export function writeAnswer(
  socket: Duplex,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const lines = Object.entries({
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`);
}
