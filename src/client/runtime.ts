// All that one `serve` builds, and its lifetime: store, bus, calls, dashboard, server, tunnel.
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, type StoppableClock, stoppableClock, systemClock } from '../base/clock.js';
import { ConfigError, NotFoundError } from '../base/errors.js';
import { LoadJudge } from '../base/load-judge.js';
import { toLocalUrl, toUrl } from '../base/host-name.js';
import { LooseEnds } from '../base/loose-ends.js';
import { createLogger, describeError, type Logger } from '../base/log.js';
import type { PlacedCall } from '../calls/call-desk.js';
import type { CallEntry } from '../contract/dashboard-api.js';
import type { ChooseCall } from '../calls/choice/call-choice.js';
import { CallDirectory } from '../calls/call-directory.js';
import type { CallEnvironment, OtherProcesses } from '../calls/call-environment.js';
import { type AttachedCallbacks, attachCallbacks } from '../calls/facts/callbacks.js';
import { Pricing } from '../calls/money/pricing.js';
import { createOtherDoors } from '../carriers/index.js';
import type { CallEvents } from '../contract/call-event.js';
import type { CallControls, ForgetOutcome } from '../contract/call-command.js';
import { EventBus } from '../events/bus.js';
import type { Forwarder } from '../events/forwarder/forwarder.js';
import type { CallOptions } from '../options/call.js';
import type { CheckedCluster } from '../options/cluster.js';
import type { CheckedServeOptions } from '../options/serve.js';
import type { CallTracer } from '../observability/call-tracer.js';
import { ServerMetrics } from '../observability/server-metrics.js';
import type { AttachableServer } from '../server/attachment.js';
import type { PhoneServer } from '../server/server.js';
import type { CallStore } from '../stores/call-store.js';
import { PACKAGE_VERSION } from '../base/package-version.js';
import { within } from '../base/pause.js';
import { holdProcess } from '../base/process-hold.js';
import { closeSpares } from '../base/spares.js';
import { transcoder } from '../transcoder/select.js';
import { AgentChooser } from './agent-chooser.js';
import type { Cluster } from './cluster/cluster.js';
import { controlsOver } from './handover/remote-controls.js';
import { type CallHistory, openHistory, toCallEvents } from './call-history.js';
import { feedDashboard } from './dashboard-feed.js';
import { createForget, type Forget } from './forget.js';
import { toOutboundRequest } from './outbound.js';
import { PublicHost } from './public-host.js';
import { Recipes } from './recipes.js';
import { ServingAgents, type ServingClient, type SetAgent } from './serving-agents.js';
import { drainOnSignal, endProcessAfter } from './signals.js';
import { logStart } from './start-log.js';
import { LocalRecordings, type LocalRecordingsParts } from './local-recordings.js';
import { Persistence } from './persistence.js';
import { ToolServers } from './tool-servers.js';

/** Calls that are answered, in process. */
export interface ServedCalls {
  /** The records of calls, as the API shows them. Readable until `disconnect`, and after it where the store still is. */
  readonly calls: CallHistory;
  /** What happens in calls, as it happens. Silent after `disconnect`. */
  readonly events: CallEvents;
  /**
   * Gives new calls another agent; those that are up keep theirs. `setAgent(agent)` takes the place of `agent` of `serve`, also of a function.
   * `setAgent('billing', agent)` takes the place of the agent of that name, wherever calls get it; `agent` has no other name, and goes
   * by that one. Holds until this server ends: the next one begins with its own options.
   * @throws ConfigError for a name that no agent of the client has, or an agent that cannot talk; nothing is changed then.
   */
  readonly setAgent: SetAgent;
}

/** A server that answers calls. */
export interface RunningServer extends ServedCalls {
  readonly port: number;
  /** Where the server is reached from this machine, without a slash at the end. */
  readonly url: string;
  /** Where the page is; null when `dashboard` is false. Never carries a token. */
  readonly dashboardUrl: string | null;
  /** Resolves when nothing is served any more: after `disconnect` or `drain`, and after another process has taken over. Never rejects. */
  readonly closed: Promise<void>;
}

/** A node that has not joined. */
const ALONE = { isBrokerThere: false, nodes: 1, factsWaiting: 0, retries: 0, factsLateMs: 0 };
/** What requests to carrier and vendors have once the streams are closed, in milliseconds. */
const SETTLE_MS = 1000;

export class Runtime {
  readonly #options: CheckedServeOptions;
  readonly #client: ServingClient;
  readonly #logger: Logger;
  readonly #bus: EventBus;
  readonly #load: LoadJudge;
  readonly #metrics: ServerMetrics;
  readonly #callbacks: AttachedCallbacks;
  readonly #recipes: Recipes;
  readonly #agents: ServingAgents;
  readonly #toolServers: ToolServers;
  readonly #desk: CallDirectory;
  readonly #publicHost: PublicHost;
  readonly #nodeId = randomBytes(4).toString('hex');
  readonly #looseEnds = new LooseEnds();
  readonly #clock: StoppableClock;
  #tracer: CallTracer | undefined;
  readonly #persistence: Persistence;
  readonly #recordings: LocalRecordings;
  /** Undefined for a server that is alone, and before it is opened. */
  #cluster: Cluster | undefined;
  readonly #forget: Forget;
  /** Tells what happens in calls that other processes have. */
  readonly #elsewhere: EventBus;
  readonly #startedAt = systemClock.wallNow();
  /** Null until it listens, and on a server of the application's. */
  #port: number | null = null;
  /** Aborted when nothing is served any more. */
  readonly #gone = new AbortController();
  readonly #closed = aborted(this.#gone.signal);
  #forwarder: Forwarder | undefined;
  #server: PhoneServer | undefined;
  #opening: Promise<unknown> = Promise.resolve();
  #isOpen = false;
  #ignoreSignals: () => void = () => {};
  #draining: Promise<void> | undefined;
  /** Set where signals are ours. */
  #drainAtSignal: (() => Promise<void>) | undefined;
  /** When the calls that are left then are hung up, on the clock. */
  #drainedBy = Number.POSITIVE_INFINITY;
  #closing: Promise<void> | undefined;

  /** @throws ConfigError */
  constructor(options: CheckedServeOptions, client: ServingClient) {
    const logger = options.logger ?? createLogger({ level: 'info' });
    const bus = new EventBus(logger);
    const noticeStall = options.cluster && (() => this.#cluster?.noticeStall());
    const clock = stoppableClock(systemClock, this.#looseEnds, noticeStall);
    const carrier = client.carrier.during?.(this.#looseEnds) ?? client.carrier;
    this.#options = options;
    this.#elsewhere = new EventBus(logger);
    this.#client = { ...client, carrier };
    this.#clock = clock;
    this.#logger = logger;
    this.#bus = bus;
    this.#publicHost = new PublicHost(client.webhookUrl, logger);
    const pricing = new Pricing({ overrides: options.pricing, logger });
    const equipped = [options.agent, ...client.equippedAgents()];
    this.#toolServers = new ToolServers({ agents: equipped, clock, logger });
    this.#recipes = new Recipes({
      onMessage: options.onMessage,
      announcement: options.localRecording?.announcement,
      logger,
      pricing,
      clock,
      toolServers: this.#toolServers,
      targetOf: (target) => this.#agents.targetOf(target),
    });
    // Before anything runs: an agent may be refused here, and nobody closes what was never made.
    const agents = new ServingAgents({ agent: options.agent, client, recipes: this.#recipes, logger });
    this.#agents = agents;
    this.#load = new LoadJudge({ logger, callsUp: () => this.#desk.liveCount });
    this.#metrics = this.#createMetrics();
    const endTold = (callId: string) => this.#persistence.endTold(callId);
    this.#callbacks = attachCallbacks(bus, { callbacks: options.callbacks, logger, endTold });
    this.#desk = new CallDirectory({
      carrier,
      backend: transcoder,
      get recipe() {
        return agents.ownRecipe;
      },
      agentOf: (call) => agents.of(call),
      choose: this.#chooser(),
      recipeNamed: (name) => agents.recipeNamed(name),
      bus,
      clock,
      logger,
      meters: this.#metrics,
      load: this.#load,
      nodeId: this.#nodeId,
      elsewhere: this.#elsewhere,
      left: (callId) => {
        for (const part of [this.#callbacks, this.#metrics, this.#tracer]) part?.leave(callId);
      },
      noticeStall,
      others: this.#otherProcesses(),
      sharedTime: options.cluster && (() => this.#cluster?.time),
      maxCallMs: options.maxCallMs,
      resumeHoldSeconds: options.resume.holdSeconds,
      publicHost: () => this.#publicHost.name,
      ownNumber: client.numbers[0].number,
      recording: options.recording,
      localRecordings: () => this.#recordings.keeper,
      listenIn: listenInOf(options),
      privacy: options.privacy,
      isRecordKept: () => this.#persistence.store?.isKept === true,
      maxCalls: options.maxCalls,
      sharedPlaces: () => this.#cluster?.limits?.calls,
      pricing,
      budget: options.budget,
    });
    this.#recordings = this.#createRecordings();
    this.#persistence = this.#createPersistence();
    this.#forget = this.#createForget();
  }

  /** Commands on its calls. */
  get controls(): CallControls {
    const [desk, cluster] = [this.#desk, this.#cluster];
    if (cluster === undefined) return this.#persistence.handover?.controls ?? desk;
    const isOwn = (callId: string) => desk.isLive(callId) || desk.hasEnded(callId);
    return controlsOver(desk, { isOwn, other: () => cluster.calls });
  }

  /** True while calls can be placed and commanded. */
  get isOpen(): boolean {
    return this.#isOpen && this.#closing === undefined;
  }

  /** Undefined for a server that is alone. */
  #otherProcesses(): OtherProcesses | undefined {
    if (this.#options.cluster === undefined) return undefined;
    return {
      claimedTerm: (callId) => this.#cluster?.calls?.claimedTerm(callId),
      mayHaveTaken: () => this.#cluster?.mayHaveTaken === true,
      asked: async (callId) => this.#cluster?.calls?.othersAsked(callId),
      haveTaken: async (callId, term) => (await this.#cluster?.calls?.haveTaken(callId, term)) === true,
    };
  }

  /** @throws ConfigError, RequestError, LimitError, CarrierError */
  async call(options: CallOptions): Promise<PlacedCall> {
    const { carrier, numbers } = this.#client;
    const { voicemailMessage } = this.#options;
    const publicHost = this.#publicHost.name;
    const [agents, recipes] = [this.#agents, this.#recipes];
    const parts = { carrier, numbers, publicHost, voicemailMessage, agents, recipes };
    const request = toOutboundRequest(options, parts);
    this.#persistence.note(options.agent);
    return this.#desk.dial(request);
  }

  /** @throws NotFoundError, RequestError, StoreError */
  async forget(callId: string): Promise<ForgetOutcome> {
    return this.#forget(callId);
  }

  #createForget(): Forget {
    const { carrier } = this.#client;
    const [desk, persistence] = [this.#desk, this.#persistence];
    return createForget({
      get store() {
        const { store } = persistence;
        if (store === undefined) throw new NotFoundError('No such call.');
        return store;
      },
      bus: this.#bus,
      carrier,
      isRecording: this.#options.recording && carrier.supports.recording,
      isLive: (id) => desk.isLive(id),
      remove: async (id) => {
        desk.forgetEnded(id);
        const recordings = this.#cluster?.recordings ?? this.#recordings;
        const [, wasRecorded] = await Promise.all([persistence.forget(id), recordings.forget(id)]);
        return wasRecorded;
      },
      nodeId: this.#nodeId,
      clock: this.#clock,
      logger: this.#logger,
    });
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
    this.#logStart(toUrl(host, port));
    return { ...served, port, url, dashboardUrl: dashboard ? `${url}/` : null, closed: this.#closed };
  }

  /** Resolves when calls are answered on a server of the application's. @throws ConfigError */
  async attach(http: AttachableServer): Promise<ServedCalls> {
    const { served } = await this.#start(async (server) => {
      await server.attach(http);
      return 0;
    });
    this.#logger.info({}, 'attached');
    this.#logStart(undefined);
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
    const setAgent: SetAgent = (...given: Parameters<ServingAgents['set']>) => this.#agents.set(...given);
    return { port, served: { calls: openHistory(store), events: toCallEvents(this.#bus), setAgent } };
  }

  /** `listening`: undefined on a server of the application's. */
  #logStart(listening: string | undefined): void {
    logStart({
      options: this.#options,
      client: this.#client,
      listening,
      publicHost: this.#publicHost.name,
      isClosing: () => this.#closing !== undefined,
      logger: this.#logger,
    });
  }

  /** The process ends in order at a signal. `drain` is the client's. */
  drainOnSignal(drain: () => Promise<void>): void {
    if (this.#closing !== undefined) return;
    this.#drainAtSignal = drain;
    this.#ignoreSignals = drainOnSignal(drain);
  }

  /** Takes no new call, and closes once those that are up are over or at other nodes, or after `timeoutMs`: of several drains, at the earliest of their times. Never rejects. */
  drain(timeoutMs: number): Promise<void> {
    this.#drainedBy = Math.min(this.#drainedBy, this.#clock.now() + timeoutMs);
    const drained = this.#drain(this.#drainLeftMs);
    this.#draining ??= drained;
    return drained;
  }

  /** How long calls that are up may go on, in milliseconds. */
  get #drainLeftMs(): number {
    return Math.max(0, this.#drainedBy - this.#clock.now());
  }

  async #drain(timeoutMs: number): Promise<void> {
    await this.#opening.catch(() => {});
    if (this.#closing === undefined && this.#server !== undefined) {
      const calls = this.#desk.liveCount;
      this.#logger.info(
        { calls, timeoutSeconds: Math.round(timeoutMs) / 1000 },
        'draining: no new calls are taken',
      );
      this.#cluster?.drain();
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
    this.#toolServers.giveUp();
    await this.#opening.catch(() => {});
    const deadline = this.#clock.now() + this.#options.drainMs;
    await this.#server?.close();
    const settleMs = Math.min(SETTLE_MS, deadline - this.#clock.now());
    await heldWithin(this.#clock, settleMs, this.#looseEnds.settled());
    this.#looseEnds.cut();
    await Promise.all([this.#publicHost.close(), this.#toolServers.close()]);
    await this.#bus.settled();
    await heldWithin(this.#clock, this.#options.drainMs, this.#desk.kept());
    this.#persistence.closeLive();
    const callbacks = heldWithin(this.#clock, this.#options.drainMs, this.#callbacks.settled());
    await Promise.all([callbacks, this.#forwarder?.close()]);
    await this.#recordings.close(this.#options.drainMs);
    this.#callbacks.close();
    this.#metrics.close();
    this.#tracer?.close();
    await this.#persistence.close();
    this.#clock.stop();
    await closeSpares();
    this.#ignoreSignals();
    // A handle is gone with the turn of the loop in which it was closed.
    await nextTurn();
    if (wasOpen) this.#logger.info({}, 'shut down');
    this.#gone.abort();
  }

  async #open(enter: (server: PhoneServer) => Promise<number>): Promise<{ port: number; store: CallStore }> {
    const { tunnel } = this.#options;
    // What is not there at all shall be known before anything listens.
    const program = tunnel ? await (await import('../tunnels/cloudflared.js')).findCloudflared() : undefined;
    this.#refuseWhenClosing();
    const { cluster } = this.#options;
    if (cluster !== undefined) {
      this.#cluster = await this.#createCluster(cluster);
      await this.#cluster.open();
      this.#refuseWhenClosing();
    }
    await this.#toolServers.open();
    this.#refuseWhenClosing();
    const store = await this.#persistence.open();
    this.#refuseWhenClosing();
    await this.#desk.budget?.recallFrom(async (from) => (await store.list({ limit: 500, from })).calls);
    await this.#recordings.open(store);
    this.#refuseWhenClosing();
    const server = await this.#createServer(store);
    this.#server = server;
    // Who listens alone answers for calls of others as if nobody had them.
    if (this.#cluster !== undefined) {
      this.#elsewhere.subscribe(({ type, callId }) => {
        if (type === 'call.ended') this.#recordings.endedElsewhere(callId, store);
      });
      await this.#cluster.join(server);
    }
    const port = await enter(server);
    this.#port = port === 0 ? null : port;
    this.#load.reset();
    if (program !== undefined && this.#closing === undefined) {
      await this.#publicHost.open(program, this.#localUrl(port));
    }
    this.#desk.goOn();
    await this.#persistence.handover?.open(server);
    // Those of a process that lives are its own until it is gone.
    if (this.#persistence.handover?.neighbor === undefined) this.#recordings.recover(store);
    return { port, store };
  }

  #createRecordings(): LocalRecordings {
    const [options, clock, logger] = [this.#options, this.#clock, this.#logger];
    const recordedLocally: LocalRecordingsParts['recordedLocally'] = (...told) =>
      (this.#cluster?.recordings ?? this.#desk).recordedLocally(...told);
    return new LocalRecordings({ options, recordedLocally, clock, logger });
  }

  /** Undefined where one agent answers every call. */
  #chooser(): ChooseCall | undefined {
    const { choice } = this.#options;
    if (choice === undefined) return undefined;
    const chooser = new AgentChooser({
      choice,
      recipes: this.#recipes,
      agents: this.#agents,
      clock: this.#clock,
      logger: this.#logger,
      chosen: (agent) => this.#persistence.note(agent),
    });
    return (...asked) => chooser.choose(...asked);
  }

  #createMetrics(): ServerMetrics {
    const isInCluster = this.#options.cluster !== undefined;
    return new ServerMetrics({
      bus: this.#bus,
      clock: this.#clock,
      load: this.#load,
      callsUp: () => this.#desk.liveCount,
      isDraining: () => this.#desk.isDraining,
      cluster: isInCluster ? () => this.#cluster?.standing ?? ALONE : undefined,
    });
  }

  async #createCluster(options: CheckedCluster): Promise<Cluster> {
    const { Cluster } = await import('./cluster/cluster.js');
    return new Cluster({
      options,
      limits: this.#options,
      meters: this.#metrics.cluster,
      metrics: () => this.#metrics.text(),
      nodeId: this.#nodeId,
      desk: this.#desk,
      bus: this.#bus,
      elsewhere: this.#elsewhere,
      recordings: this.#recordings,
      clock: this.#clock,
      logger: this.#logger,
      store: () => this.#demandStore(),
      takeUp: (...call) => this.#persistence.takeUp(...call),
      inherit: (...calls) => this.#persistence.inherit(...calls),
      chosen: (...said) => this.#persistence.chosen(...said),
      forget: this.#forget,
      forgotten: (callId) => {
        this.#desk.forgetEnded(callId);
        void this.#persistence.forget(callId);
        this.#recordings.forget(callId).catch((error: unknown) => {
          this.#logger.error({ callId, ...describeError(error) }, 'a deleted call was not removed');
        });
      },
    });
  }

  /** @throws NotFoundError before it is open */
  #demandStore(): CallStore {
    const { store } = this.#persistence;
    if (store === undefined) throw new NotFoundError('No such call.');
    return store;
  }

  #createPersistence(): Persistence {
    const [options, bus, clock, logger] = [this.#options, this.#bus, this.#clock, this.#logger];
    const [desk, nodeId] = [this.#desk, this.#nodeId];
    return new Persistence({
      options,
      client: this.#client,
      recipes: this.#recipes,
      agents: this.#agents,
      desk,
      bus,
      callbacks: {
        ...this.#callbacks,
        adopt: (record) => {
          const disowns = [this.#metrics.adopt(record), this.#callbacks.adopt(record)];
          return () => {
            for (const disown of disowns) disown();
          };
        },
      },
      nodeId,
      clock,
      logger,
      elsewhere: this.#elsewhere,
      cluster: () => this.#cluster,
      opened: (store) => {
        this.#forwarder = feedDashboard(options.dashboardFeed, { bus, store, nodeId, logger, clock });
      },
      inherited: (store) => this.#recordings.recover(store),
      status: () => ({
        nodeId,
        pid: process.pid,
        version: PACKAGE_VERSION,
        port: this.#port,
        calls: desk.liveCount,
        startedAt: this.#startedAt,
      }),
      drain: (timeoutMs) => {
        this.#leave(() => this.drain(timeoutMs));
        return this.#drainLeftMs;
      },
      done: () => this.#leave(() => this.close()),
      isLeaving: () => this.#draining !== undefined || this.#closing !== undefined,
    });
  }

  /** Ends what the application has not asked to end. A process whose signals are ours ends with it. */
  #leave(leave: () => Promise<void>): void {
    if (this.#options.handleSignals) endProcessAfter(leave, this.#drainAtSignal);
    else void leave();
  }

  async #createServer(store: CallStore): Promise<PhoneServer> {
    const options = this.#options;
    const { carrier, webhookUrl } = this.#client;
    const [logger, clock, desk, cluster] = [this.#logger, this.#clock, this.#desk, this.#cluster];
    // The web framework is half of what the package loads; who only makes an agent or a test does not wait for it.
    const [{ CallTracer }, { createDashboard }, { createPhoneServer }] = await Promise.all([
      import('../observability/call-tracer.js'),
      import('../dashboard/index.js'),
      import('../server/server.js'),
    ]);
    this.#tracer = new CallTracer(this.#bus);
    const dashboard = createDashboard({
      store,
      bus: bothOf(this.#bus, this.#elsewhere),
      controls: this.controls,
      forget: (callId) => this.forget(callId),
      token: options.dashboardToken,
      page: options.dashboard,
      // A tunnel's host is not among them: without a token the calls are not for the whole internet to read.
      allowedHosts: webhookUrl === undefined ? [options.host] : [options.host, webhookUrl],
      entry: () => this.#entry(),
      metrics: () => this.#metrics.text(),
      serverMetrics: cluster && (() => cluster.serverMetrics()),
      recordings: this.#cluster?.recordings ?? this.#recordings.files ?? null,
      liveSound: options.listenIn ? (this.#cluster?.sound ?? desk) : null,
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
      routes: this.#cluster?.routes,
      neighbor: () => this.#persistence.handover?.neighbor ?? this.#cluster?.calls,
      sharedLimits: () => this.#cluster?.limits,
      sharedTime: () => this.#cluster?.time,
      isBrokerThere: () => this.#cluster?.isBrokerThere,
      knowsOthers: () => this.#cluster?.knowsOthers ?? true,
      isMoving: () => this.#cluster?.isMoving === true,
      streamHost: options.cluster?.streamHost,
      findRoom: this.#cluster && ((callId) => this.#cluster?.findRoom(callId) ?? Promise.resolve(undefined)),
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
}

/** Listeners hear as little of keys as recordings have. */
function listenInOf({ listenIn, localRecording, privacy }: CheckedServeOptions): CallEnvironment['listenIn'] {
  if (!listenIn) return undefined;
  return { pausesForKeys: localRecording?.pausesForKeys ?? privacy.keys === 'none' };
}

function bothOf(...buses: readonly CallEvents[]): CallEvents {
  return {
    subscribe(listener) {
      const all = buses.map((bus) => bus.subscribe(listener));
      return () => {
        for (const unsubscribe of all) unsubscribe();
      };
    },
  };
}

/** As `within`, and the process stays up meanwhile. */
async function heldWithin(clock: Clock, timeoutMs: number, task: Promise<void>): Promise<void> {
  const release = holdProcess();
  await within(clock, timeoutMs, task).finally(release);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
