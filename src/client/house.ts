// All that one `serve` builds, and its lifetime: store, bus, calls, dashboard, server, tunnel.
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, type StoppableClock, stoppableClock, systemClock, type Timer } from '../base/clock.js';
import { ConfigError } from '../base/errors.js';
import { LoadJudge } from '../base/load-judge.js';
import { toLocalUrl, toUrl } from '../base/host-name.js';
import { LooseEnds } from '../base/loose-ends.js';
import { createLogger, describeError, type Logger } from '../base/log.js';
import type { PlacedCall } from '../calls/call-desk.js';
import type { CallEntry } from '../contract/dashboard-api.js';
import { CallDirectory } from '../calls/call-directory.js';
import { type AttachedCallbacks, attachCallbacks } from '../calls/facts/callbacks.js';
import { Pricing } from '../calls/money/pricing.js';
import { createOtherDoors } from '../carriers/index.js';
import type { CallEvents } from '../contract/call-event.js';
import type { CallControls } from '../contract/call-command.js';
import { EventBus } from '../events/bus.js';
import type { Forwarder } from '../events/forwarder/forwarder.js';
import type { CallOptions } from '../options/call.js';
import type { CheckedClientOptions } from '../options/client.js';
import type { CheckedServeOptions } from '../options/serve.js';
import type { CallTracer } from '../observability/call-tracer.js';
import { ServerMetrics } from '../observability/server-metrics.js';
import type { AttachableServer } from '../server/attachment.js';
import type { PhoneServer } from '../server/server.js';
import type { CallStore } from '../stores/call-store.js';
import { GuardedStore } from '../stores/guarded-store.js';
import { openStore } from '../stores/open-store.js';
import { heldTimer } from '../base/process-hold.js';
import { closeSpares } from '../base/spares.js';
import { transcoder } from '../transcoder/select.js';
import { type CallHistory, openHistory, toCallEvents } from './call-history.js';
import { feedDashboard } from './dashboard-feed.js';
import { toOutboundRequest } from './outbound.js';
import { PublicHost } from './public-host.js';
import { Recipes } from './recipes.js';
import { drainOnSignal } from './signals.js';
import { takeOver } from './take-over.js';
import { pointNumber, webhookUrls } from './voice-url.js';

/** Calls that are answered, in process. */
export interface ServedCalls {
  /** The records of calls, as the API shows them. Readable until `disconnect`, and after it where the store still is. */
  readonly calls: CallHistory;
  /** What happens in calls, as it happens. Silent after `disconnect`. */
  readonly events: CallEvents;
}

/** A server that answers calls. */
export interface RunningServer extends ServedCalls {
  readonly port: number;
  /** Where the server is reached from this machine, without a slash at the end. */
  readonly url: string;
  /** Where the page is; null when `dashboard` is false. Never carries a token. */
  readonly dashboardUrl: string | null;
}

/** What carrier and vendors have for their last words once the streams are closed, in milliseconds. */
const LAST_WORDS_MS = 1000;

export class House {
  readonly #options: CheckedServeOptions;
  readonly #client: CheckedClientOptions;
  readonly #logger: Logger;
  readonly #bus: EventBus;
  readonly #load: LoadJudge;
  readonly #metrics: ServerMetrics;
  readonly #callbacks: AttachedCallbacks;
  readonly #recipes: Recipes;
  readonly #desk: CallDirectory;
  readonly #publicHost: PublicHost;
  readonly #nodeId = randomBytes(4).toString('hex');
  readonly #looseEnds = new LooseEnds();
  readonly #clock: StoppableClock;
  #tracer: CallTracer | undefined;
  #store: CallStore | undefined;
  #forwarder: Forwarder | undefined;
  #server: PhoneServer | undefined;
  #opening: Promise<unknown> = Promise.resolve();
  #isOpen = false;
  #ignoreSignals: () => void = () => {};
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  /** @throws ConfigError */
  constructor(options: CheckedServeOptions, client: CheckedClientOptions) {
    const logger = options.logger ?? createLogger({ level: 'info' });
    const bus = new EventBus(logger);
    const clock = stoppableClock(systemClock, this.#looseEnds);
    const carrier = client.carrier.during?.(this.#looseEnds) ?? client.carrier;
    this.#options = options;
    this.#client = { ...client, carrier };
    this.#clock = clock;
    this.#logger = logger;
    this.#bus = bus;
    this.#publicHost = new PublicHost(client.webhookUrl, logger);
    const pricing = new Pricing({ overrides: options.pricing, logger });
    this.#recipes = new Recipes({ onMessage: options.onMessage, logger, pricing, clock });
    // Before anything runs: an agent may be refused here, and nobody closes what was never made.
    const recipe = this.#recipes.create(options.agent);
    this.#load = new LoadJudge({ logger, callsUp: () => this.#desk.liveCount });
    this.#metrics = new ServerMetrics({
      bus,
      clock,
      load: this.#load,
      isDraining: () => this.#desk.isDraining,
    });
    this.#callbacks = attachCallbacks(bus, { callbacks: options.callbacks, logger });
    this.#desk = new CallDirectory({
      carrier,
      backend: transcoder,
      recipe,
      bus,
      clock,
      logger,
      meters: this.#metrics,
      load: this.#load,
      nodeId: this.#nodeId,
      maxCallMs: options.maxCallMs,
      resumeHoldSeconds: options.resume.holdSeconds,
      publicHost: () => this.#publicHost.name,
      ownNumber: client.phoneNumber,
      recording: options.recording,
      isRecordKept: () => this.#store?.isKept === true,
      maxCalls: options.maxCalls,
      pricing,
      budget: options.budget,
    });
  }

  /** Commands on its calls. */
  get controls(): CallControls {
    return this.#desk;
  }

  /** True while calls can be placed and commanded. */
  get isOpen(): boolean {
    return this.#isOpen && this.#closing === undefined;
  }

  /** @throws ConfigError, RequestError, LimitError, CarrierError */
  async call(options: CallOptions): Promise<PlacedCall> {
    const { carrier, phoneNumber } = this.#client;
    const publicHost = this.#publicHost.name;
    const parts = { carrier, phoneNumber, publicHost, defaults: this.#options, recipes: this.#recipes };
    return this.#desk.dial(toOutboundRequest(options, parts));
  }

  /** Resolves when it listens, and the tunnel is up if there shall be one. @throws ConfigError */
  async open(): Promise<RunningServer> {
    const { host, dashboard } = this.#options;
    const { port, served } = await this.#start(async (server) => {
      const found = await server.listen(this.#options.port, host);
      this.#logger.info({ port: found, host }, 'listening');
      return found;
    });
    const url = this.#localUrl(port);
    this.#announce(toUrl(host, port));
    return { ...served, port, url, dashboardUrl: dashboard ? `${url}/` : null };
  }

  /** Resolves when calls are answered on a server of the application's. @throws ConfigError */
  async attach(http: AttachableServer): Promise<ServedCalls> {
    const { served } = await this.#start(async (server) => {
      await server.attach(http);
      return 0;
    });
    this.#logger.info({}, 'attached');
    this.#announce(undefined);
    return served;
  }

  async #start(
    enter: (server: PhoneServer) => Promise<number>,
  ): Promise<{ port: number; served: ServedCalls }> {
    const opening = this.#open(enter);
    this.#opening = opening;
    const { port, store } = await opening;
    this.#refuseWhenClosing();
    this.#isOpen = true;
    return { port, served: { calls: openHistory(store), events: toCallEvents(this.#bus) } };
  }

  /** `listening`: undefined on a server of the application's. */
  #announce(listening: string | undefined): void {
    this.#logger.info({ backend: transcoder.name }, 'transcoder chosen');
    this.#warn(listening);
    this.#announceNumber();
  }

  /** The process ends in order at a signal. `drain` is the client's. */
  drainOnSignal(drain: () => Promise<void>): void {
    if (this.#closing === undefined) this.#ignoreSignals = drainOnSignal(drain);
  }

  /** Takes no new call, and closes once those that are up are over, or after `timeoutMs`. A second one joins the first. Never rejects. */
  drain(timeoutMs: number): Promise<void> {
    this.#draining ??= this.#drain(timeoutMs);
    return this.#draining;
  }

  async #drain(timeoutMs: number): Promise<void> {
    await this.#opening.catch(() => {});
    if (this.#closing === undefined && this.#server !== undefined) {
      const calls = this.#desk.liveCount;
      this.#logger.info({ calls, timeoutSeconds: timeoutMs / 1000 }, 'draining: no new calls are taken');
      const left = await this.#server.drain(timeoutMs);
      if (left > 0 && this.#closing === undefined)
        this.#logger.warn({ calls: left }, 'drain timed out: hanging up the remaining calls');
    }
    await this.close();
  }

  /** The order is the specification's; the server keeps its part of it. Idempotent, never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const wasOpen = this.#isOpen;
    if (wasOpen) this.#logger.info({ calls: this.#desk.liveCount }, 'shutting down');
    this.#publicHost.giveUp();
    await this.#opening.catch(() => {});
    const deadline = this.#clock.now() + this.#options.drainMs;
    await this.#server?.close();
    const lastWordsMs = Math.min(LAST_WORDS_MS, deadline - this.#clock.now());
    await within(this.#clock, lastWordsMs, this.#looseEnds.settled());
    this.#looseEnds.cut();
    await this.#publicHost.close();
    await this.#bus.settled();
    const callbacks = within(this.#clock, this.#options.drainMs, this.#callbacks.settled());
    await Promise.all([callbacks, this.#forwarder?.close()]);
    this.#callbacks.close();
    this.#metrics.close();
    this.#tracer?.close();
    try {
      await this.#store?.close();
    } catch (error) {
      this.#logger.error(describeError(error), 'store not closed cleanly');
    }
    this.#clock.stop();
    await closeSpares();
    this.#ignoreSignals();
    // A handle is gone with the turn of the loop in which it was closed.
    await nextTurn();
    if (wasOpen) this.#logger.info({}, 'shut down');
  }

  async #open(enter: (server: PhoneServer) => Promise<number>): Promise<{ port: number; store: CallStore }> {
    const { tunnel } = this.#options;
    // What is not there at all shall be known before anything listens.
    const program = tunnel ? await (await import('../tunnels/cloudflared.js')).findCloudflared() : undefined;
    this.#refuseWhenClosing();
    const store = await this.#openStore();
    this.#refuseWhenClosing();
    await this.#desk.budget?.recallFrom(async (from) => (await store.list({ limit: 500, from })).calls);
    const server = await this.#createServer(store);
    this.#server = server;
    const port = await enter(server);
    this.#load.reset();
    if (program !== undefined && this.#closing === undefined) {
      await this.#publicHost.open(program, this.#localUrl(port));
    }
    return { port, store };
  }

  /** Before anything listens: what is read first is the past, and ends of lost calls come before new calls. */
  async #openStore(): Promise<CallStore> {
    const [bus, logger] = [this.#bus, this.#logger];
    const { dataDir, store: own } = this.#options;
    const clock = this.#clock;
    const store =
      own === undefined
        ? await openStore({ dataDir, role: 'server' }, { logger, clock })
        : new GuardedStore({ store: own, logger, clock, closeMs: Math.min(5000, this.#options.drainMs) });
    this.#store = store;
    bus.subscribeDurable((event) => store.append(event));
    const feed = { bus, store, nodeId: this.#nodeId, logger, clock: this.#clock };
    this.#forwarder = feedDashboard(this.#options.dashboardFeed, feed);
    const successor = { nodeId: this.#nodeId, bus, callbacks: this.#callbacks, desk: this.#desk, logger };
    await this.#recalled(
      () => takeOver(store, successor),
      'the calls of the process before this one were not taken over',
    );
    return store;
  }

  /** What a store of the application's does not tell, the server does without. */
  async #recalled(recall: () => Promise<void>, sentence: string): Promise<void> {
    try {
      await recall();
    } catch (error) {
      if (this.#options.store === undefined) throw error;
      this.#logger.error(describeError(error), sentence);
    }
  }

  async #createServer(store: CallStore): Promise<PhoneServer> {
    const options = this.#options;
    const { carrier, webhookUrl } = this.#client;
    const [logger, clock, desk] = [this.#logger, this.#clock, this.#desk];
    // The web framework is half of what the package loads; who only makes an agent or a test does not wait for it.
    const [{ CallTracer }, { createDashboard }, { createPhoneServer }] = await Promise.all([
      import('../observability/call-tracer.js'),
      import('../dashboard/index.js'),
      import('../server/server.js'),
    ]);
    this.#tracer = new CallTracer(this.#bus);
    const dashboard = createDashboard({
      store,
      bus: this.#bus,
      controls: desk,
      token: options.dashboardToken,
      page: options.dashboard,
      // A tunnel's host is not among them: without a token the calls are not for the whole internet to read.
      allowedHosts: webhookUrl === undefined ? [options.host] : [options.host, webhookUrl],
      entry: () => this.#entry(),
      metrics: () => this.#metrics.text(),
      logger,
      clock,
    });
    return createPhoneServer({
      carrier,
      otherDoors: createOtherDoors(carrier.id),
      desk,
      dashboard,
      publicHost: () => this.#publicHost.name,
      trustProxy: options.trustProxy,
      maxStreamsPerIp: options.maxStreamsPerIp,
      maxCalls: options.maxCalls,
      drainSeconds: options.drainMs / 1000,
      logger,
      meters: this.#metrics,
      clock,
    });
  }

  #entry(): CallEntry {
    const { id: carrier, verifies: isSigned } = this.#client.carrier;
    const { name } = this.#publicHost;
    const voiceUrl = name === undefined ? null : `https://${name}/webhooks/${carrier}/voice`;
    return { carrier, voiceUrl, isSigned };
  }

  #localUrl(port: number): string {
    return toLocalUrl(this.#options.host, port);
  }

  #refuseWhenClosing(): void {
    if (this.#closing === undefined) return;
    throw new ConfigError('CONFIG_CONFLICT', 'disconnect() was called while serve() was starting.');
  }

  #warn(listening: string | undefined): void {
    const { dashboardToken } = this.#options;
    const { carrier, webhookUrl } = this.#client;
    if (dashboardToken === undefined) {
      const addresses = [listening, webhookUrl && `https://${webhookUrl}`].filter(
        (each) => each !== undefined,
      );
      this.#logger.warn(
        { addresses },
        'dashboard and API are open to anyone who can reach these addresses: set dashboardToken',
      );
    }
    if (!carrier.verifies) {
      this.#logger.warn(
        { setting: carrier.secretSetting },
        'webhooks are not verified, so anyone can fake calls: set this secret',
      );
    }
  }

  /** A tunnel's host is gone tomorrow: a number is not pointed at it by us. */
  #announceNumber(): void {
    const { carrier, phoneNumber } = this.#client;
    const { tunnel, manageWebhook } = this.#options;
    const publicHost = this.#publicHost.name;
    if (tunnel && publicHost !== undefined) {
      this.#logger.info(
        { voiceUrl: webhookUrls(carrier.id, publicHost).voice },
        'the tunnel is open: point your number at this voice URL',
      );
    } else if (manageWebhook && !tunnel) {
      pointNumber({ carrier, phoneNumber, publicHost, logger: this.#logger });
    }
  }
}

/** Waits for `task`, but no longer than `timeoutMs`. Keeps the process alive meanwhile. */
async function within(clock: Clock, timeoutMs: number, task: Promise<void>): Promise<void> {
  let timer: Timer | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = heldTimer(clock, timeoutMs, resolve);
  });
  await Promise.race([task, timeout]);
  timer?.cancel();
}
