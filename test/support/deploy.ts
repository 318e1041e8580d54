// Servers that take over from each other behind a proxy, and a carrier.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CallEvent } from '../../src/contract/call-event.js';
import type { CallRecord, CarrierId } from '../../src/contract/call-record.js';
import {
  type AgentOptions,
  type Carrier,
  Offhook,
  type RunningServer,
  type ServeOptions,
} from '../../src/index.js';
import type { CarrierSimulator, SimulatorOptions } from '../../src/testing/index.js';
import { carrierCredentials, eventually, OWN_NUMBER, PUBLIC_HOST, startCarrier } from './carrier-phone.js';
import { freePort } from './free-port.js';
import { RecordedLogger } from './recorded-logger.js';
import { startSwitchingProxy, type SwitchingProxy } from './switching-proxy.js';

/** A server in this process. */
export interface DeployedServer {
  readonly phone: Offhook;
  readonly server: RunningServer;
  readonly port: number;
  readonly logger: RecordedLogger;
  readonly facts: CallEvent[];
  readonly started: string[];
  readonly ended: CallRecord[];
}

const AGENT = {
  name: 'desk',
  systemPrompt: 'You help.',
  firstMessage: 'Hello, how can I help you?',
  idle: false as const,
  turnTaking: { fillers: [] },
};

const CHILD = fileURLToPath(new URL('./phone-child.mjs', import.meta.url));
const PATIENCE_MS = 40_000;

/** A server in a process of its own. */
export interface KillableServer {
  readonly child: ChildProcess;
  readonly port: number;
  readonly facts: CallEvent[];
  readonly started: string[];
  readonly ended: CallRecord[];
  readonly log: string[];
  kill(): Promise<void>;
}

export class Deploy implements AsyncDisposable {
  readonly simulator: CarrierSimulator;
  readonly proxy: SwitchingProxy;
  readonly dataDir: string;
  readonly #carrier: Carrier;
  readonly #servers: DeployedServer[] = [];
  readonly #children: KillableServer[] = [];

  private constructor(simulator: CarrierSimulator, carrier: Carrier, proxy: SwitchingProxy, dataDir: string) {
    this.simulator = simulator;
    this.#carrier = carrier;
    this.proxy = proxy;
    this.dataDir = dataDir;
  }

  static async on(id: CarrierId, options: Partial<SimulatorOptions> = {}): Promise<Deploy> {
    const proxy = await startSwitchingProxy();
    const { simulator, carrier } = await startCarrier(id, {
      url: proxy.url,
      webhookHost: PUBLIC_HOST,
      ...options,
    });
    return new Deploy(simulator, carrier, proxy, await mkdtemp(join(tmpdir(), 'offhook-deploy-')));
  }

  /** `serve` may need agents of the server. */
  async serve(
    agent: AgentOptions = {},
    serve: Partial<ServeOptions> | ((phone: Offhook) => Partial<ServeOptions>) = {},
  ): Promise<DeployedServer> {
    const port = await freePort();
    const phone = new Offhook({ carrier: this.#carrier, phoneNumber: OWN_NUMBER, webhookUrl: PUBLIC_HOST });
    const logger = new RecordedLogger();
    const [started, ended, facts]: [string[], CallRecord[], CallEvent[]] = [[], [], []];
    const server = await phone.serve({
      agent: phone.agent({
        ...AGENT,
        ...agent,
      }),
      port,
      host: '127.0.0.1',
      manageWebhook: false,
      logger,
      dataDir: this.dataDir,
      drainSeconds: 1,
      takeOver: true,
      onCallStart: ({ callId }) => started.push(callId),
      onCallEnd: (record) => ended.push(record),
      ...(typeof serve === 'function' ? serve(phone) : serve),
    });
    server.events.subscribe((fact) => facts.push(fact));
    const deployed = { phone, server, port, logger, facts, started, ended };
    this.#servers.push(deployed);
    return deployed;
  }

  /** Resolves when `next` has the call of `old`, which has ended. */
  async moved(old: DeployedServer, next: DeployedServer): Promise<void> {
    this.proxy.switchTo(next.port);
    await eventually('the call at the next server', () =>
      next.facts.find(({ type }) => type === 'call.status'),
    );
    await old.server.closed;
  }

  /** A server as `serve` makes, in a process of its own. Resolves when it listens. */
  async fork(agent: object = {}, serve: object = {}): Promise<KillableServer> {
    const port = await freePort();
    const settings = {
      carrier: { id: this.simulator.carrier, options: carrierCredentials(this.simulator) },
      agent: { ...AGENT, ...agent },
      serve: { port, dataDir: this.dataDir, drainSeconds: 1, takeOver: true, ...serve },
      number: OWN_NUMBER,
      host: PUBLIC_HOST,
    };
    const child = fork(CHILD, [JSON.stringify(settings)], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    const [started, ended, facts, log]: [string[], CallRecord[], CallEvent[], string[]] = [[], [], [], []];
    let isListening = false;
    child.on(
      'message',
      (told: { listening?: true; fact?: CallEvent; started?: string; ended?: CallRecord }) => {
        if (told.listening) isListening = true;
        if (told.fact) facts.push(told.fact);
        if (told.started) started.push(told.started);
        if (told.ended) ended.push(told.ended);
      },
    );
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data: Buffer) => void log.push(data.toString('utf8')));
    const server: KillableServer = {
      child,
      port,
      facts,
      started,
      ended,
      log,
      async kill() {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      },
    };
    this.#children.push(server);
    await eventually('a server', () => (isListening ? true : undefined), PATIENCE_MS);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) await child.kill();
    for (const { phone } of this.#servers.toReversed()) await phone.disconnect();
    await this.simulator.close();
    await this.proxy[Symbol.asyncDispose]();
    await rm(this.dataDir, { recursive: true, force: true, maxRetries: 20 });
  }
}
