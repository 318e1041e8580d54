// Servers that take over from each other behind a proxy, and a carrier.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CarrierId } from '../../src/contract/call-record.js';
import type { AgentOptions, Carrier } from '../../src/index.js';
import type { CarrierSimulator, SimulatorOptions } from '../../src/testing/index.js';
import { eventually, PUBLIC_HOST, startCarrier } from './carrier-phone.js';
import { freePort } from './free-port.js';
import {
  type ForkedPhone,
  forkPhone,
  type ServedOptions,
  type ServedPhone,
  servePhone,
} from './served-phone.js';
import { startSwitchingProxy, type SwitchingProxy } from './switching-proxy.js';

const PATIENCE_MS = 40_000;

export class Deploy implements AsyncDisposable {
  readonly simulator: CarrierSimulator;
  readonly proxy: SwitchingProxy;
  readonly dataDir: string;
  readonly #carrier: Carrier;
  readonly #servers: ServedPhone[] = [];
  readonly #children: ForkedPhone[] = [];

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

  async serve(agent: AgentOptions = {}, serve: ServedOptions = {}): Promise<ServedPhone> {
    const served = await servePhone(this.#carrier, await freePort(), {
      agent,
      serve: (phone) => ({
        dataDir: this.dataDir,
        takeOver: true,
        ...(typeof serve === 'function' ? serve(phone) : serve),
      }),
    });
    this.#servers.push(served);
    return served;
  }

  /** Resolves when `next` has the call of `old`, which has ended. */
  async moved(old: ServedPhone, next: ServedPhone): Promise<void> {
    this.proxy.switchTo(next.port);
    await eventually('the call at the next server', () =>
      next.facts.find(({ type }) => type === 'call.status'),
    );
    await old.server.closed;
  }

  /** A server as `serve` makes, in a process of its own. Resolves when it listens. */
  async fork(agent: object = {}, serve: object = {}): Promise<ForkedPhone> {
    const forked = await forkPhone(this.simulator, await freePort(), {
      agent,
      serve: { dataDir: this.dataDir, takeOver: true, ...serve },
      patienceMs: PATIENCE_MS,
    });
    this.#children.push(forked);
    return forked;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) await child.kill();
    for (const { phone } of this.#servers.toReversed()) await phone.disconnect();
    await this.simulator.close();
    await this.proxy[Symbol.asyncDispose]();
    await rm(this.dataDir, { recursive: true, force: true, maxRetries: 20 });
  }
}
