// Servers of one cluster in processes of their own behind a load balancer, with a Redis, and a carrier: to be killed and frozen.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { CallEvent } from '../../src/contract/call-event.js';
import type { CallRecord, CarrierId } from '../../src/contract/call-record.js';
import type { CarrierSimulator, SimulatorOptions } from '../../src/testing/index.js';
import { carrierCredentials, eventually, OWN_NUMBER, PUBLIC_HOST, startCarrier } from './carrier-phone.js';
import { CLUSTER_SECRET } from './cluster-node.js';
import { freePort } from './free-port.js';
import { type RoundRobinProxy, startRoundRobinProxy } from './round-robin-proxy.js';

const CHILD = fileURLToPath(new URL('./phone-child.mjs', import.meta.url));
const PATIENCE_MS = 60_000;

export interface ClusterProcess {
  readonly child: ChildProcess;
  readonly port: number;
  /** Those that it has stated. */
  readonly facts: CallEvent[];
  readonly ended: CallRecord[];
  readonly log: string[];
  kill(): Promise<void>;
  /** Resolves when it has ended what it served. */
  drain(): Promise<void>;
  /** As its API shows it; undefined for one that it does not know, and where it does not answer. */
  record(callId: string): Promise<CallRecord | undefined>;
}

export class ClusterProcesses implements AsyncDisposable {
  readonly simulator: CarrierSimulator;
  readonly proxy: RoundRobinProxy;
  readonly processes: ClusterProcess[] = [];
  readonly #redis: string;

  private constructor(simulator: CarrierSimulator, proxy: RoundRobinProxy, redis: string) {
    this.simulator = simulator;
    this.proxy = proxy;
    this.#redis = redis;
  }

  /** Three servers with their broker at `redis`. */
  static async three(
    id: CarrierId,
    redis: string,
    cluster: object = {},
    serve: object = {},
    options: Partial<SimulatorOptions> = {},
  ): Promise<ClusterProcesses> {
    const proxy = await startRoundRobinProxy();
    const at = { url: proxy.url, webhookHost: PUBLIC_HOST };
    const { simulator } = await startCarrier(id, { ...at, ...options });
    const processes = new ClusterProcesses(simulator, proxy, redis);
    for (let count = 0; count < 3; count += 1) await processes.fork(cluster, serve);
    return processes;
  }

  /** `at`: the port, if it is to be a certain one. */
  async fork(cluster: object = {}, serve: object = {}, at?: number): Promise<ClusterProcess> {
    const port = at ?? (await freePort());
    const settings = {
      carrier: { id: this.simulator.carrier, options: carrierCredentials(this.simulator) },
      agent: {
        systemPrompt: 'You help.',
        firstMessage: 'Hello, how can I help you?',
        idle: false,
      },
      serve: {
        port,
        dataDir: false,
        drainSeconds: 1,
        cluster: {
          url: this.#redis,
          name: 'phones',
          secret: CLUSTER_SECRET,
          address: `http://127.0.0.1:${port}`,
          ...cluster,
        },
        ...serve,
      },
      number: OWN_NUMBER,
      host: PUBLIC_HOST,
    };
    const child = fork(CHILD, [JSON.stringify(settings)], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    const [facts, ended, log]: [CallEvent[], CallRecord[], string[]] = [[], [], []];
    let [isListening, isDrained] = [false, false];
    child.on(
      'message',
      (told: { listening?: true; drained?: true; fact?: CallEvent; ended?: CallRecord }) => {
        if (told.listening) isListening = true;
        if (told.drained) isDrained = true;
        if (told.fact) facts.push(told.fact);
        if (told.ended) ended.push(told.ended);
      },
    );
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data: Buffer) => void log.push(data.toString('utf8')));
    const process: ClusterProcess = {
      child,
      port,
      facts,
      ended,
      log,
      async kill() {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      },
      async drain() {
        child.send({ drain: true });
        await eventually('the end of a drain', () => (isDrained ? true : undefined), PATIENCE_MS);
      },
      async record(callId) {
        const response = await fetch(`http://127.0.0.1:${port}/api/dashboard/calls/${callId}`).catch(
          () => undefined,
        );
        return response?.ok === true ? ((await response.json()) as CallRecord) : undefined;
      },
    };
    this.processes.push(process);
    await eventually('a server', () => (isListening ? true : undefined), PATIENCE_MS);
    this.proxy.useAll(this.processes.map((each) => each.port));
    return process;
  }

  get facts(): CallEvent[] {
    return this.processes.flatMap(({ facts }) => facts);
  }

  get ended(): CallRecord[] {
    return this.processes.flatMap(({ ended }) => ended);
  }

  /** Who has stated the last of the call. */
  owner(): ClusterProcess {
    const last = this.facts.toSorted((a, b) => a.term - b.term || a.seq - b.seq).at(-1);
    const owner = this.processes.find(({ facts }) => last !== undefined && facts.includes(last));
    if (owner === undefined) throw new Error('nobody has a call');
    return owner;
  }

  /** Resolves when a server other than `owner` has said that the call goes on there, to those others. */
  async moved(owner: ClusterProcess): Promise<ClusterProcess[]> {
    const left = this.processes.filter((process) => process !== owner);
    const isMoved = ({ type }: CallEvent) => type === 'incident.noted';
    await eventually(
      'the call at another server',
      () => left.flatMap(({ facts }) => facts).find(isMoved),
      PATIENCE_MS,
    );
    return left;
  }

  /** Of one that is over, and hung up, as each of these shows it. */
  async records(
    callId: string,
    processes: readonly ClusterProcess[] = this.processes,
  ): Promise<CallRecord[]> {
    const show = (process: ClusterProcess) =>
      eventually(
        'the record',
        async () => {
          const record = await process.record(callId);
          return record?.status === 'completed' && record.hangUp !== 'pending' ? record : undefined;
        },
        PATIENCE_MS,
      );
    return Promise.all(processes.map(show));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.processes) child.kill('SIGCONT');
    await Promise.all(this.processes.map((process) => process.kill()));
    await this.simulator.close();
    await this.proxy[Symbol.asyncDispose]();
  }
}
