// The network side: assembles routes and streams, listens, and closes in order. Decides nothing about calls.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, SharedTime } from '../base/clock.js';
import { ConfigError } from '../base/errors.js';
import { describeError, type Logger } from '../base/log.js';
import type { Meters } from '../base/meters.js';
import type { CallDesk } from '../calls/call-desk.js';
import type { SharedLimits } from '../calls/shared-places.js';
import type { Carrier, WebhookDoor } from '../carriers/carrier.js';
import { pause, within } from '../base/pause.js';
import { answerEarly } from '../base/request-body.js';
import { type AttachableServer, standBefore } from './attachment.js';
import { Capacity, type Want } from './capacity.js';
import { clientAddress, ConnectionLimit } from './connection-limit.js';
import { declineUpgrade, isDeclinable } from './declined-upgrade.js';
import { createHealthRoute, createReadyRoute, type Readiness } from './health.js';
import { bind, createHttp } from './http.js';
import type { FindRoom } from './incoming-calls.js';
import { isPassed, type Neighbor, notePassed } from './neighbor.js';
import { createPage } from './page.js';
import type { DashboardMount } from './page-app.js';
import { toProxyTrust, type TrustProxy } from './proxy-trust.js';
import { answerError, answerRoutes, pathOf, routeKey, type Routes, sendAnswer } from './routes.js';
import { StreamDoor } from './streams.js';
import { createWebhookRoutes, type WebhookDoors } from './webhooks.js';

const CLOSE_GOING_AWAY = 1001;
const SHUTDOWN_REASON = 'Server shutting down';
const STREAM_PATH = '/ws/stream/';
const METRICS_PATH = '/metrics';

/** How often a drain looks whether a call is left, in milliseconds. */
const DRAIN_LOOK_MS = 50;
/** What the carrier has at least to confirm that the calls are hung up, in milliseconds. */
const SHORTEST_HANG_UP_MS = 1000;

/** What a server is made of. */
export interface PhoneServerOptions {
  readonly carrier: Carrier;
  /** Webhook doors of the carriers that are not configured. */
  readonly otherDoors: readonly WebhookDoor[];
  readonly desk: CallDesk;
  readonly dashboard?: DashboardMount;
  /** The host under which the carrier reaches us, with a port if it has one; undefined to go by the Host header. */
  publicHost(): string | undefined;
  readonly trustProxy: TrustProxy;
  readonly maxStreamsPerIp: number;
  /** Calls at a time; undefined for no limit. */
  readonly maxCalls: number | undefined;
  /** How long a shutdown may take, in seconds. */
  readonly drainSeconds: number;
  /** What else is answered, by method and path. @default nothing */
  readonly routes?: Routes | undefined;
  /** Another process on the same calls; undefined while this one is alone. @default always alone */
  neighbor?(): Neighbor | undefined;
  /** Limits that other processes have a part of; undefined while this one is alone. @default always alone */
  sharedLimits?(): SharedLimits | undefined;
  /** Time of processes that invite streams together; undefined while this one is alone. @default always alone */
  sharedTime?(): SharedTime | undefined;
  /** Undefined without a cluster; else whether its broker answers. @default no cluster */
  isBrokerThere?(): boolean | undefined;
  /** False for a node of a cluster that has yet to hear of the others. @default it has */
  knowsOthers?(): boolean;
  /** Public host that leads to this process alone; undefined without one. */
  readonly streamHost?: string | undefined;
  /** As `FindRoom`. @default there are no others */
  findRoom?: FindRoom | undefined;
  /** True while a call is on its way to another process or from one, of which nobody is known to have it. @default never */
  isMoving?(): boolean;
  readonly logger: Logger;
  readonly meters: Meters;
  readonly clock: Clock;
}

export interface PhoneServer {
  /** Resolves with the port when connections are accepted. @throws ConfigError for a port or host that cannot be had. */
  listen(port: number, host: string): Promise<number>;
  /** Answers what is its own on a server of the application's, which it never closes. @throws ConfigError */
  attach(server: AttachableServer): Promise<void>;
  /** As in `DashboardMount`. */
  announceBroker(isThere: boolean): void;
  /**
   * Takes no new call from now on. Calls that are up go on, and may open further streams. Resolves when none is left, or after `timeoutMs`, or
   * when the server is closed: with the number of calls that are left. One that is on its way to another process may come back. Never rejects.
   */
  drain(timeoutMs: number): Promise<number>;
  /** Why no further call is taken here; undefined while one would be. */
  readonly want: Want | undefined;
  /** As in `Capacity`. */
  takesCall(callId: string): boolean | Promise<boolean>;
  /** As in `WebhookDoors`. */
  answerWebhook: WebhookDoors['answerHere'];
  /** Answers what a neighbor has passed on: what came to a port of its. */
  answerPassed(request: IncomingMessage, response: ServerResponse): void;
  upgradePassed(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Shuts down in order, within `drainSeconds`, or a second that the carrier has to hang up. Idempotent, never rejects. */
  close(): Promise<void>;
}

/** A server that does not listen yet. @throws ConfigError for a `trustProxy` that makes no sense. */
export function createPhoneServer(options: PhoneServerOptions): PhoneServer {
  return new HttpPhoneServer(options);
}

class HttpPhoneServer implements PhoneServer {
  readonly #options: PhoneServerOptions;
  /** Answers what is ours, and with 404 whatever else comes. */
  readonly #listener: RequestListener;
  readonly #ownRoutes: Routes;
  readonly #webhooks: WebhookDoors;
  /** Stops taking connections; resolves when none is left. */
  #leave: () => Promise<void> = async () => {};
  /** Leaves the server of the application. */
  #giveBack: () => void = () => {};
  /** Ends connections that wait for a request. */
  #dropIdle: () => void = () => {};
  readonly #streams: StreamDoor;
  readonly #capacity: Capacity;
  /** What is under way on a server of the application's. */
  readonly #held = new Map<
    ServerResponse | Duplex,
    { readonly socket: Duplex; readonly isOver: Promise<void> }
  >();
  /** Every connection of our own server, upgraded ones too. */
  readonly #sockets = new Set<Socket>();
  /** Aborted when no connection is to be kept any more. */
  readonly #leaving = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(options: PhoneServerOptions) {
    this.#options = options;
    const { carrier, desk, dashboard, maxCalls, logger, clock } = options;
    const trusts = toProxyTrust(options.trustProxy);
    const neighbor = () => options.neighbor?.();
    const isDraining = () => this.#isClosing;
    const shared = () => options.sharedLimits?.();
    this.#capacity = new Capacity({ carrier, desk, maxCalls, isDraining, shared: () => shared()?.calls });
    this.#streams = new StreamDoor({
      carrier,
      desk,
      logger,
      clock,
      trusts,
      limit: new ConnectionLimit(options.maxStreamsPerIp),
      shared: () => shared()?.streams,
      sharedTime: () => options.sharedTime?.(),
      publicHost: () => options.publicHost(),
      streamHost: options.streamHost,
      capacity: this.#capacity,
      isDraining,
      neighbor,
    });
    const page = createPage({ dashboard, trusts, logger });
    const others: RequestListener = (request, response) => {
      this.#watchDrain(response);
      const other = isPassed(request) ? undefined : neighbor();
      // What a process measures is its own.
      const pass = other?.takesNew === true ? other.passRequest?.bind(other) : undefined;
      if (pass === undefined || pathOf(request.url ?? '') === METRICS_PATH) page(request, response);
      else
        pass(request, response, clientAddress(request, trusts)).catch((error: unknown) =>
          sendAnswer(response, answerError(error, request, logger)),
        );
    };
    this.#webhooks = createWebhookRoutes({
      ...options,
      publicHost: () => options.publicHost(),
      capacity: this.#capacity,
      neighbor,
    });
    this.#ownRoutes = this.#routes(neighbor);
    this.#listener = answerRoutes({ routes: this.#ownRoutes, others, isDraining, logger });
  }

  async listen(port: number, host: string): Promise<number> {
    await this.#prepare();
    const http = this.#createHttp();
    await bind(http, port, host);
    this.#leave = () => new Promise((resolve) => http.close(() => resolve()));
    this.#dropIdle = () => http.closeIdleConnections();
    if (this.#isClosing) {
      http.close();
      throw closedEarly();
    }
    http.on('error', (error) => this.#options.logger.error(describeError(error), 'server failed'));
    return (http.address() as AddressInfo).port;
  }

  async attach(server: AttachableServer): Promise<void> {
    await this.#prepare();
    if (this.#isClosing) throw closedEarly();
    const answer = answerEarly(this.#listener);
    const giveBack = standBefore(server, {
      isOurs: (request) => this.#isOurs(request),
      answer: (request, response) => {
        // Half of an answer that is cut leaves no connection to the application either.
        this.#hold(response, request.socket);
        answer(request, response);
      },
      isOurUpgrade: ({ url = '' }) => pathOf(url).startsWith(STREAM_PATH),
      upgrade: (request, socket, head) => {
        this.#hold(socket, socket);
        this.#streams.handleUpgrade(request, socket, head);
      },
    });
    this.#leave = async () => {
      while (this.#held.size > 0) await Promise.all([...this.#held.values()].map(({ isOver }) => isOver));
      giveBack();
    };
    this.#giveBack = giveBack;
  }

  announceBroker(isThere: boolean): void {
    this.#options.dashboard?.announceBroker?.(isThere);
  }

  async drain(timeoutMs: number): Promise<number> {
    const { desk, clock } = this.#options;
    const isMoving = () => this.#options.isMoving?.() === true;
    desk.drain();
    await this.#guarded(async () => this.#options.dashboard?.announceDrain?.());
    const deadline = clock.now() + timeoutMs;
    const left = () => desk.liveCount + desk.expectedCount;
    while ((left() > 0 || isMoving()) && clock.now() < deadline && !this.#isClosing)
      await pause(clock, Math.min(DRAIN_LOOK_MS, deadline - clock.now()), this.#leaving.signal);
    return left();
  }

  get want(): Want | undefined {
    return this.#capacity.want;
  }

  takesCall(callId: string): boolean | Promise<boolean> {
    return this.#capacity.takesCall(callId);
  }

  answerWebhook(...passed: Parameters<WebhookDoors['answerHere']>): ReturnType<WebhookDoors['answerHere']> {
    return this.#webhooks.answerHere(...passed);
  }

  answerPassed(request: IncomingMessage, response: ServerResponse): void {
    notePassed(request);
    this.#listener(request, response);
  }

  upgradePassed(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    notePassed(request);
    this.#streams.handleUpgrade(request, socket, head);
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  /** The order is the specification's: stop listening, hang up, close streams, wait, cut, close. */
  async #shutDown(): Promise<void> {
    const { desk, drainSeconds, clock } = this.#options;
    const deadline = clock.now() + drainSeconds * 1000;
    this.#leaving.abort();
    const isClosed = this.#leave();
    await this.#guarded(async () => this.#options.dashboard?.announceDrain?.());
    // What was written leaves with the turn of the loop: without a call to end, its connection would be cut in the same one.
    await nextTurn();
    // Half of the time is for the carrier, so that the streams have the other half for their goodbye. However short that is, the carrier
    // is asked before a stream is closed.
    const hangUpMs = Math.max((drainSeconds * 1000) / 2, SHORTEST_HANG_UP_MS);
    await within(
      clock,
      hangUpMs,
      this.#guarded(async () => desk.shutDown(hangUpMs)),
    );
    this.#streams.closeAll(CLOSE_GOING_AWAY, SHUTDOWN_REASON);
    await this.#guarded(async () => this.#options.dashboard?.close());
    this.#dropIdle();
    await within(clock, deadline - clock.now(), isClosed);
    this.#streams.terminateAll();
    for (const socket of this.#sockets) socket.destroy();
    // Before the last cut: what comes behind it is the application's.
    this.#giveBack();
    for (const { socket } of this.#held.values()) socket.destroy();
    await isClosed;
  }

  /** A step that fails is logged; the next ones follow all the same. */
  async #guarded(step: () => Promise<void> | undefined): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#options.logger.error(describeError(error), 'shutdown step failed');
    }
  }

  #routes(neighbor: () => Neighbor | undefined): Routes {
    return new Map([
      ['GET /health', createHealthRoute('local', () => neighbor()?.takesNew === true)],
      ['GET /ready', createReadyRoute(() => this.#readiness())],
      ...this.#webhooks.routes,
      ...(this.#options.routes ?? []),
    ]);
  }

  get #isClosing(): boolean {
    return this.#leaving.signal.aborted;
  }

  #readiness(): Readiness {
    const want = this.#capacity.want ?? (this.#options.knowsOthers?.() === false ? 'joining' : undefined);
    const isThere = this.#options.isBrokerThere?.();
    return {
      status: want === undefined ? 'ready' : want === 'draining' ? 'draining' : 'unavailable',
      ...(want !== undefined && want !== 'draining' && { reason: want }),
      ...(isThere !== undefined && { broker: isThere ? 'there' : 'away' }),
    };
  }

  /** A connection whose answer began before the shutdown is idle after it, and would be kept. What the routes answer is there at once. */
  #watchDrain(response: ServerResponse): void {
    if (this.#isClosing) response.setHeader('Connection', 'close');
    response.once('close', () => {
      if (this.#isClosing) setImmediate(this.#dropIdle);
    });
  }

  async #prepare(): Promise<void> {
    const { carrier, otherDoors } = this.#options;
    for (const door of [carrier, ...otherDoors]) await door.prepare();
  }

  /** True for what is answered on a server of the application's. */
  #isOurs(request: IncomingMessage): boolean {
    const path = pathOf(request.url ?? '');
    return this.#ownRoutes.has(routeKey(request)) || this.#options.dashboard?.owns?.(path) === true;
  }

  /** Answers and streams on a server of the application's, until they are over. */
  #hold(what: ServerResponse | Duplex, socket: Duplex): void {
    const isOver = new Promise<void>((resolve) => {
      what.once('close', () => {
        this.#held.delete(what);
        resolve();
      });
    });
    this.#held.set(what, { socket, isOver });
  }

  #createHttp(): Server {
    const http = createHttp(this.#listener);
    http.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    http.on('upgrade', (request, socket, head) => {
      if (isDeclinable(request)) declineUpgrade(http, request, socket);
      else this.#streams.handleUpgrade(request, socket, head);
    });
    return http;
  }
}

function closedEarly(): ConfigError {
  return new ConfigError('CONFIG_CONFLICT', 'The server was closed while it was starting.');
}
