// Offhook: the client object, and the composition root. The only place where all rooms meet.
import { randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { systemClock } from './base/clock.js';
import { ConfigError } from './base/errors.js';
import { createLogger, describeError, type Logger } from './base/log.js';
import { CallDirectory } from './calls/call-directory.js';
import { type AttachedCallbacks, attachCallbacks } from './calls/callbacks.js';
import { createOtherDoors } from './carriers/index.js';
import type { EngineRecipe } from './engines/engine.js';
import { createPipelineRecipe } from './engines/pipeline-engine.js';
import { EventBus } from './events/bus.js';
import {
  Agent,
  type AgentOptions,
  type CheckedClientOptions,
  type CheckedServeOptions,
  type ClientOptions,
  checkClientOptions,
  checkServeOptions,
  type ServeOptions,
} from './options.js';
import { ScriptedLanguageModel } from './providers/llm/index.js';
import { SimulatedSpeechToText } from './providers/stt/index.js';
import { FliteTextToSpeech } from './providers/tts/index.js';
import type { PhoneServer } from './server/server.js';
import type { CallStore } from './stores/call-store.js';
import { MemoryStore } from './stores/index.js';
import { transcoder } from './transcoder/select.js';

/** A server that answers calls. */
export interface RunningServer {
  readonly port: number;
  /** Where the server is reached from this machine, without a slash at the end. */
  readonly url: string;
  /** Where the page is; null when `dashboard` is false. Never carries a token. */
  readonly dashboardUrl: string | null;
}

/** A phone number and what answers it. */
export class Offhook {
  readonly #options: CheckedClientOptions;
  #house: House | undefined;

  /** @throws ConfigError */
  constructor(options: ClientOptions) {
    this.#options = checkClientOptions(options);
  }

  /** Makes an agent: an immutable recipe for `serve`. @throws ConfigError */
  agent(options: AgentOptions): Agent {
    return new Agent(options);
  }

  /** Answers calls until `disconnect`. Resolves when it listens. @throws ConfigError; nothing listens then. */
  async serve(options: ServeOptions): Promise<RunningServer> {
    if (this.#house !== undefined) {
      throw new ConfigError('CONFIG_CONFLICT', 'This client serves already: call disconnect() first.');
    }
    const house = new House(checkServeOptions(options, this.#options), this.#options);
    this.#house = house;
    try {
      return await house.open();
    } catch (error) {
      await house.close();
      if (this.#house === house) this.#house = undefined;
      throw error;
    }
  }

  /**
   * Stops listening, hangs up every call, closes every stream, and everything else in order. Resolves within `drainSeconds` and
   * what `onCallEnd` needs, at most as long again. Idempotent; does nothing when nothing is served. Never rejects.
   */
  async disconnect(): Promise<void> {
    const house = this.#house;
    if (house === undefined) return;
    await house.close();
    if (this.#house === house) this.#house = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disconnect();
  }
}

/** All that one `serve` builds, and its lifetime. */
class House {
  readonly #options: CheckedServeOptions;
  readonly #client: CheckedClientOptions;
  readonly #logger: Logger;
  readonly #bus: EventBus;
  readonly #store: CallStore = new MemoryStore();
  readonly #callbacks: AttachedCallbacks;
  readonly #desk: CallDirectory;
  #server: PhoneServer | undefined;
  #opening: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  /** @throws ConfigError */
  constructor(options: CheckedServeOptions, client: CheckedClientOptions) {
    this.#options = options;
    this.#client = client;
    const logger = options.logger ?? createLogger({ level: 'info' });
    const bus = new EventBus(logger);
    this.#logger = logger;
    this.#bus = bus;
    const recipe = createRecipe(options, logger);
    bus.subscribeDurable((event) => this.#store.append(event));
    this.#callbacks = attachCallbacks(bus, { callbacks: options.callbacks, logger });
    this.#desk = new CallDirectory({
      carrier: client.carrier,
      backend: transcoder,
      recipe,
      bus,
      clock: systemClock,
      logger,
      nodeId: randomBytes(4).toString('hex'),
      maxCallMs: options.maxCallMs,
    });
  }

  async #listen(): Promise<number> {
    const options = this.#options;
    const { carrier, webhookUrl } = this.#client;
    const [logger, clock, desk] = [this.#logger, systemClock, this.#desk];
    // The web framework is half of what the package loads; who only makes an agent or a test does not wait for it.
    const [{ createDashboard }, { createPhoneServer }] = await Promise.all([
      import('./dashboard/index.js'),
      import('./server/server.js'),
    ]);
    const dashboard = createDashboard({
      store: this.#store,
      bus: this.#bus,
      controls: desk,
      token: options.dashboardToken,
      page: options.dashboard,
      allowedHosts: webhookUrl === undefined ? [options.host] : [options.host, webhookUrl],
      logger,
      clock,
    });
    this.#server = createPhoneServer({
      carrier,
      otherDoors: createOtherDoors(carrier.id),
      desk,
      dashboard,
      publicHost: () => webhookUrl,
      trustProxy: options.trustProxy,
      maxStreamsPerIp: options.maxStreamsPerIp,
      maxCalls: options.maxCalls,
      drainSeconds: options.drainMs / 1000,
      logger,
      clock,
    });
    return this.#server.listen(options.port, options.host);
  }

  async open(): Promise<RunningServer> {
    const { host, dashboard } = this.#options;
    const listening = this.#listen();
    this.#opening = listening;
    const port = await listening;
    if (this.#closing !== undefined) {
      throw new ConfigError('CONFIG_CONFLICT', 'disconnect() was called while serve() was starting.');
    }
    const url = `http://${toLocalHost(host)}:${port}`;
    this.#logger.info({ port, host }, 'listening');
    this.#logger.info({ backend: transcoder.name }, 'transcoder chosen');
    this.#warn(url);
    this.#manageWebhook();
    return { port, url, dashboardUrl: dashboard ? `${url}/` : null };
  }

  /** The order is the specification's; the server keeps its part of it. Idempotent, never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#opening.catch(() => {});
    await this.#server?.close();
    await this.#bus.settled();
    await within(this.#options.drainMs, this.#callbacks.settled());
    this.#callbacks.close();
    try {
      await this.#store.close();
    } catch (error) {
      this.#logger.error(describeError(error), 'store not closed cleanly');
    }
  }

  #warn(url: string): void {
    const { dashboardToken } = this.#options;
    const { carrier } = this.#client;
    if (dashboardToken === undefined) {
      this.#logger.warn(
        { url },
        'dashboard and API are open to whoever reaches this address: set dashboardToken',
      );
    }
    if (!carrier.verifies) {
      this.#logger.warn(
        { setting: carrier.secretSetting },
        'webhooks are not verified, so anyone can make calls appear: set the secret that is named here',
      );
    }
  }

  /** Points the number at this server, in the background: the carrier's API may be slow or down. */
  #manageWebhook(): void {
    const { carrier, phoneNumber, webhookUrl } = this.#client;
    if (!this.#options.manageWebhook || !carrier.supports.voiceUrl) return;
    if (webhookUrl === undefined || !carrier.rest.configured) {
      const missing = webhookUrl === undefined ? 'webhookUrl' : 'carrier credentials';
      this.#logger.warn({ missing }, 'manageWebhook skipped: the number is left as it is');
      return;
    }
    const base = `https://${webhookUrl}/webhooks/${carrier.id}`;
    const urls = { voice: `${base}/voice`, status: `${base}/status` };
    void (async () => carrier.rest.setVoiceUrl(phoneNumber, urls))().then(
      () => this.#logger.info({ voiceUrl: urls.voice }, 'the number points at this server'),
      (error: unknown) => this.#logger.warn(describeError(error), 'the voice URL of the number was not set'),
    );
  }
}

/** The agent's recipe, with the local stack in the place of stages that it does not name. @throws ConfigError */
function createRecipe(options: CheckedServeOptions, logger: Logger): EngineRecipe {
  const { onMessage } = options;
  const { stt, llm, tts, ...agent } = options.agent.options;
  const stages = { stt, llm: onMessage ?? llm, tts };
  const missing = Object.entries(stages).flatMap(([name, stage]) => (stage === undefined ? [name] : []));
  if (missing.length > 0) {
    logger.warn(
      { stages: missing },
      'the agent has no provider for these stages: the local stack stands in, which is for trying out',
    );
  }
  return createPipelineRecipe({
    ...agent,
    stt: stt ?? new SimulatedSpeechToText(),
    llm: llm ?? (onMessage === undefined ? new ScriptedLanguageModel() : undefined),
    tts: tts ?? new FliteTextToSpeech(),
    onMessage,
  });
}

/** How this machine reaches an address that a server listens on. */
function toLocalHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIPv6(host) ? `[${host}]` : host;
}

/** Waits for `task`, but no longer than `timeoutMs`. Keeps the process alive meanwhile. */
async function within(timeoutMs: number, task: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([task, timeout]);
  clearTimeout(timer);
}
