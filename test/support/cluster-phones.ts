// Servers of one cluster behind a load balancer, and a carrier: in one process, with what they share in memory.
import { vi } from 'vitest';
import * as clocks from '../../src/base/clock.js';
import { memoryCluster } from '../../src/cluster/open-coordinator.js';
import type { MemoryCluster } from '../../src/cluster/memory-cluster.js';
import type { CallEvent } from '../../src/contract/call-event.js';
import type { CallRecord, CarrierId } from '../../src/contract/call-record.js';
import type { AgentOptions, Carrier } from '../../src/index.js';
import type { CarrierSimulator, SimulatorOptions } from '../../src/testing/index.js';
import { eventually, PUBLIC_HOST, startCarrier } from './carrier-phone.js';
import { CLUSTER_SECRET } from './cluster-node.js';
import { freePort } from './free-port.js';
import { type RoundRobinProxy, startRoundRobinProxy } from './round-robin-proxy.js';
import { type ServedOptions, type ServedPhone, servePhone } from './served-phone.js';

let clusters = 0;

/** Servers that are made meanwhile have a wall clock that is ahead by so much. */
function clockAhead(byMs: number): Disposable {
  const { stoppableClock } = clocks;
  const made = vi.spyOn(clocks, 'stoppableClock').mockImplementation((source, ...rest) => {
    const wallNow = () => source.wallNow() + byMs;
    const ahead = { now: () => source.now(), wallNow, after: source.after.bind(source) };
    return stoppableClock(ahead, ...rest);
  });
  return { [Symbol.dispose]: () => made.mockRestore() };
}

export class ClusterPhones implements AsyncDisposable {
  readonly name: string;
  readonly simulator: CarrierSimulator;
  readonly proxy: RoundRobinProxy;
  readonly phones: ServedPhone[] = [];
  readonly #carrier: Carrier;
  #streams = 0;

  private constructor(simulator: CarrierSimulator, carrier: Carrier, proxy: RoundRobinProxy) {
    clusters += 1;
    this.name = `phones-${clusters}`;
    this.simulator = simulator;
    this.#carrier = carrier;
    this.proxy = proxy;
    // Each stream comes to another server than the one that has the call, if one has.
    proxy.choose(({ url = '' }, ports) => {
      if (!url.startsWith('/ws/stream/')) return undefined;
      const others = ports.filter((port) => port !== this.#ownerPort);
      this.#streams += 1;
      return others[this.#streams % others.length];
    });
  }

  get #ownerPort(): number | undefined {
    const last = this.facts
      .filter(({ type }) => type !== 'call.ended')
      .toSorted((a, b) => a.at - b.at || a.term - b.term)
      .at(-1);
    return this.phones.find(({ facts }) => last !== undefined && facts.includes(last))?.port;
  }

  static async on(id: CarrierId, options: Partial<SimulatorOptions> = {}): Promise<ClusterPhones> {
    const proxy = await startRoundRobinProxy();
    const at = { url: proxy.url, webhookHost: PUBLIC_HOST };
    const { simulator, carrier } = await startCarrier(id, { ...at, ...options });
    return new ClusterPhones(simulator, carrier, proxy);
  }

  /** Three servers on `id`. */
  static async three(
    id: CarrierId,
    agent: AgentOptions = {},
    serve: Parameters<ClusterPhones['serve']>[1] = {},
    options: Partial<SimulatorOptions> = {},
  ): Promise<ClusterPhones> {
    const phones = await ClusterPhones.on(id, options);
    for (let count = 0; count < 3; count += 1) await phones.serve(agent, serve);
    return phones;
  }

  /** What they share. */
  get cluster(): MemoryCluster {
    return memoryCluster(this.name);
  }

  async serve(
    agent: AgentOptions = {},
    serve: ServedOptions = {},
    { clockAheadMs = 0, streamHost, at }: { clockAheadMs?: number; streamHost?: string; at?: number } = {},
  ): Promise<ServedPhone> {
    const port = at ?? (await freePort());
    const address = `http://127.0.0.1:${port}`;
    using _ = clockAhead(clockAheadMs);
    const served = await servePhone(this.#carrier, port, {
      agent,
      serve: (phone) => ({
        dataDir: false,
        cluster: { url: 'memory:', name: this.name, secret: CLUSTER_SECRET, address, streamHost },
        ...(typeof serve === 'function' ? serve(phone) : serve),
      }),
    });
    this.phones.push(served);
    this.proxy.useAll(this.phones.map((each) => each.port));
    return served;
  }

  /** All facts of the cluster. */
  get facts(): CallEvent[] {
    return this.phones.flatMap(({ facts }) => facts);
  }

  get started(): string[] {
    return this.phones.flatMap(({ started }) => started);
  }

  get ended(): CallRecord[] {
    return this.phones.flatMap(({ ended }) => ended);
  }

  /** Resolves with the record of the one call that is over, and hung up, as every server shows it. */
  async records(carrierCallId: string): Promise<CallRecord[]> {
    return Promise.all(
      this.phones.map(({ server }) =>
        eventually('the record', async () => {
          const record = await server.calls.get(carrierCallId);
          return record?.status === 'completed' && record.hangUp !== 'pending' ? record : undefined;
        }),
      ),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.phones.map(({ phone }) => phone.disconnect()));
    await this.simulator.close();
    await this.proxy[Symbol.asyncDispose]();
  }
}
