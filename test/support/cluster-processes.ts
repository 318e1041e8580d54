// Servers of one cluster in processes of their own behind a load balancer, with a Redis, and a carrier: to be killed and frozen.
import type { CallEvent } from '../../src/contract/call-event.js';
import type { CallRecord, CarrierId } from '../../src/contract/call-record.js';
import type { CarrierSimulator, SimulatorOptions } from '../../src/testing/index.js';
import { eventually, PUBLIC_HOST, startCarrier } from './carrier-phone.js';
import { CLUSTER_SECRET } from './cluster-node.js';
import { freePort } from './free-port.js';
import { type RoundRobinProxy, startRoundRobinProxy } from './round-robin-proxy.js';
import { type ForkedPhone, forkPhone } from './served-phone.js';

const PATIENCE_MS = 60_000;

export interface ClusterProcess extends ForkedPhone {
  /** As its API shows it; undefined for one that it does not know, and where it does not answer. */
  record(callId: string): Promise<CallRecord | undefined>;
}

/** As `ServeOptions`, of what can be sent to another process. */
interface ForkedOptions {
  readonly dashboardToken?: string;
  readonly [option: string]: unknown;
}

export class ClusterProcesses implements AsyncDisposable {
  readonly simulator: CarrierSimulator;
  readonly proxy: RoundRobinProxy;
  readonly processes: ClusterProcess[] = [];
  readonly #redis: string;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(
    simulator: CarrierSimulator,
    proxy: RoundRobinProxy,
    { redis, env }: { redis: string; env: NodeJS.ProcessEnv },
  ) {
    this.simulator = simulator;
    this.proxy = proxy;
    this.#redis = redis;
    this.#env = env;
  }

  /** None yet, with their broker at `redis`. `env`: what each has beside the variables of this process. */
  static async on(
    id: CarrierId,
    redis: string,
    env: NodeJS.ProcessEnv = {},
    options: Partial<SimulatorOptions> = {},
  ): Promise<ClusterProcesses> {
    const proxy = await startRoundRobinProxy();
    const at = { url: proxy.url, webhookHost: PUBLIC_HOST };
    const { simulator } = await startCarrier(id, { ...at, ...options });
    return new ClusterProcesses(simulator, proxy, { redis, env });
  }

  /** Three servers with their broker at `redis`. */
  static async three(
    id: CarrierId,
    redis: string,
    cluster: object = {},
    serve: ForkedOptions = {},
    options: Partial<SimulatorOptions> = {},
  ): Promise<ClusterProcesses> {
    const processes = await ClusterProcesses.on(id, redis, {}, options);
    for (let count = 0; count < 3; count += 1) await processes.fork(cluster, serve);
    return processes;
  }

  /** `at`: the port, if it is to be a certain one. */
  async fork(cluster: object = {}, serve: ForkedOptions = {}, at?: number): Promise<ClusterProcess> {
    const headers = { Authorization: `Bearer ${serve.dashboardToken}` };
    const port = at ?? (await freePort());
    const forked = await forkPhone(this.simulator, port, {
      serve: {
        dataDir: false,
        cluster: {
          url: this.#redis,
          name: 'phones',
          secret: CLUSTER_SECRET,
          address: `http://127.0.0.1:${port}`,
          ...cluster,
        },
        ...serve,
      },
      patienceMs: PATIENCE_MS,
      env: this.#env,
    });
    const process: ClusterProcess = {
      ...forked,
      async record(callId) {
        const url = `http://127.0.0.1:${port}/api/dashboard/calls/${callId}`;
        const response = await fetch(url, { headers }).catch(() => undefined);
        return response?.ok === true ? ((await response.json()) as CallRecord) : undefined;
      },
    };
    this.processes.push(process);
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
