// A Redis Cluster of a test's own, whose nodes can die and come back. Nothing takes the place of another by itself: on a busy machine, that would happen to nodes that are only slow.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, vi } from 'vitest';
import { RedisKeys } from '../../src/cluster/redis/keys.js';
import { ClusterSeal } from '../../src/cluster/seal.js';
import { CLUSTER_SECRET } from './cluster-node.js';
import { freePort } from './free-port.js';
import { RedisServer } from './redis-server.js';

const SLOTS = 16_384;
/** After which a node that says nothing would be replaced, in milliseconds. */
const NODE_TIMEOUT_MS = 120_000;

/** Less often than elsewhere: each look connects to every node. */
const soon = <T>(check: () => T) => vi.waitFor(check, { interval: 25, timeout: 30_000 });

/** As CLUSTER SLOTS answers. */
type Ranges = readonly (readonly [number, number, ...(readonly [string, number])[]])[];

export interface RedisClusterOptions {
  /** @default 3 */
  readonly masters?: number;
  /** One behind the first master. @default false */
  readonly hasReplica?: boolean;
  /** Those of each node, as on its command line. */
  readonly settings?: readonly string[];
  /** Nodes talk to each other, and to who asks by TLS, on a port of its own. */
  readonly isTls?: boolean;
}

/** A node, and the port at which the others know it. */
interface Member {
  readonly server: RedisServer;
  readonly port: number;
}

/** A cluster of offhook, and where its keys are. */
export interface Placed {
  readonly name: string;
  /** One of the keys. */
  readonly key: string;
  readonly master: RedisServer;
  /** The node of other keys, where there is none. */
  readonly replica: RedisServer;
  /** A master of other keys. */
  readonly other: RedisServer;
}

export class RedisCluster implements AsyncDisposable {
  readonly #members: readonly Member[];
  readonly #masterCount: number;
  readonly #folders: readonly string[];

  /** Resolves when every slot has a master, and every node knows all others. */
  static async start(program: string, options: RedisClusterOptions = {}): Promise<RedisCluster> {
    const { masters = 3, hasReplica = false, settings = [], isTls = false } = options;
    const folders: string[] = [];
    const begin = async (): Promise<Member> => {
      // Each keeps what it knows of the others, and finds it as it comes back.
      const folder = await mkdtemp(join(tmpdir(), 'offhook-redis-cluster-'));
      folders.push(folder);
      const own = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(NODE_TIMEOUT_MS)];
      const replication = ['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0'];
      // However old what it has is by then: machines of tests are busy.
      const failover = ['--cluster-replica-validity-factor', '0'];
      const tlsPort = isTls ? await freePort() : undefined;
      const tls = tlsPort === undefined ? [] : ['--tls-port', String(tlsPort), '--tls-cluster', 'yes'];
      const all = [...own, ...replication, ...failover, '--dir', folder, ...tls, ...settings];
      const server = await RedisServer.start(program, all);
      return { server, port: tlsPort ?? server.port };
    };
    const count = hasReplica ? masters + 1 : masters;
    const members = await Promise.all(Array.from({ length: count }, begin));
    const cluster = new RedisCluster(members, masters, folders);
    try {
      await cluster.#form();
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  private constructor(members: readonly Member[], masterCount: number, folders: readonly string[]) {
    this.#members = members;
    this.#masterCount = masterCount;
    this.#folders = folders;
  }

  /** Masters come first, until one is replaced. */
  get nodes(): readonly RedisServer[] {
    return this.#members.map(({ server }) => server);
  }

  get url(): string {
    return this.#members[0]?.server.url ?? '';
  }

  /** Where the node is reached by TLS, by its address. */
  tlsUrlOf(node: RedisServer, host = '127.0.0.1'): string {
    const { port } = this.#members.find(({ server }) => server === node) ?? {};
    return `rediss://${host}:${port}`;
  }

  /** Who has that key, as a node says, and the replica behind it. */
  async shardOf(
    key: string,
    from: RedisServer | undefined = this.nodes[0],
  ): Promise<{ master: RedisServer; replica: RedisServer | undefined }> {
    const slot = Number(await from?.ask('CLUSTER', 'KEYSLOT', key));
    const ranges = (await from?.ask('CLUSTER', 'SLOTS')) as Ranges;
    const [, , ...nodes] = ranges.find(([first, last]) => first <= slot && slot <= last) ?? [0, 0];
    const [master, replica] = nodes.map(([, port]) =>
      this.nodes.find((server, index) => port === server.port || port === this.#members[index]?.port),
    );
    if (master === undefined) throw new Error(`Nobody has the slot ${slot}.`);
    return { master, replica };
  }

  /** A cluster of offhook whose keys are at a node that has a replica, if there is one: the first of these names that will do. */
  async place(prefix: string): Promise<Placed> {
    for (let count = 1; ; count += 1) {
      const name = `${prefix}-${count}`;
      const { facts: key } = new RedisKeys(name, new ClusterSeal(CLUSTER_SECRET));
      const { master, replica } = await this.shardOf(key);
      const other = this.nodes.find((node) => node !== master && node !== replica);
      const isPlaced = replica !== undefined || this.nodes.length === this.#masterCount;
      if (isPlaced && other !== undefined) return { name, key, master, replica: replica ?? other, other };
    }
  }

  /** The replica takes the place of its master, whatever that says, as if the others had chosen it. */
  async failOver({ key, replica, other }: Placed): Promise<void> {
    await replica.ask('CLUSTER', 'FAILOVER', 'TAKEOVER');
    await soon(async () => {
      const { master } = await this.shardOf(key, other);
      if (master !== replica) throw new Error('The replica has not taken over.');
    });
  }

  /** Every node is there, knows the others, and has all of its master's keys so far. */
  async whole(): Promise<void> {
    const count = this.nodes.length;
    await Promise.all(
      this.nodes.map((node) =>
        soon(async () => {
          const info = String(await node.ask('CLUSTER', 'INFO'));
          const ranges = (await node.ask('CLUSTER', 'SLOTS')) as Ranges;
          const known = new Set(ranges.flatMap(([, , ...nodes]) => nodes.map(([, port]) => port)));
          const replication = String(await node.ask('INFO', 'replication'));
          const isBehind = replication.includes('master_link_status:down');
          if (!info.includes('cluster_state:ok') || known.size < count || isBehind)
            throw new Error(`A node of the Redis Cluster is not ready:\n${info}${replication}`);
        }),
      ),
    );
    await this.#settled();
  }

  async #settled(): Promise<void> {
    const offset = async (node: RedisServer) => {
      const info = String(await node.ask('INFO', 'replication'));
      return [
        /master_port:(\d+)/.exec(info)?.[1],
        Number(/(?:slave|master)_repl_offset:(\d+)/.exec(info)?.[1]),
      ];
    };
    await soon(async () => {
      for (const node of this.nodes) {
        const [port, heard] = await offset(node);
        const master = this.#members.find((each) => String(each.port) === port)?.server;
        const [, told] = master === undefined ? [] : await offset(master);
        if (told !== undefined && told !== heard) throw new Error(`A replica has ${heard} bytes of ${told}.`);
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.nodes) node.thaw();
    await Promise.all(this.nodes.map((node) => node.kill()));
    await Promise.all(this.#folders.map((folder) => rm(folder, { recursive: true, force: true })));
  }

  /** By what Redis 6.2 has, and without its program `redis-cli`. */
  async #form(): Promise<void> {
    const masterCount = this.#masterCount;
    const masters = this.nodes.slice(0, masterCount);
    await Promise.all(
      masters.map(async (node, index) => {
        const [first, end] = [index, index + 1].map((part) => Math.floor((part * SLOTS) / masterCount));
        const slots = Array.from({ length: (end ?? 0) - (first ?? 0) }, (_, count) =>
          String((first ?? 0) + count),
        );
        await node.ask('CLUSTER', 'ADDSLOTS', ...slots);
        await node.ask('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
      }),
    );
    for (const [index, node] of this.nodes.entries())
      for (const { port } of this.#members.slice(index + 1))
        await node.ask('CLUSTER', 'MEET', '127.0.0.1', String(port));
    const id = String(await masters[0]?.ask('CLUSTER', 'MYID'));
    // Once it knows it.
    for (const replica of this.nodes.slice(masterCount))
      await soon(() => replica.ask('CLUSTER', 'REPLICATE', id));
    await this.whole();
  }
}

/** One for all tests around. */
export function redisClusterOf(program: string, options: RedisClusterOptions = {}): () => RedisCluster {
  let cluster: RedisCluster | undefined;
  beforeAll(async () => {
    cluster = await RedisCluster.start(program, options);
  }, 60_000);
  afterAll(() => cluster?.[Symbol.asyncDispose]());
  return () => {
    if (cluster === undefined) throw new Error('The Redis Cluster is not started yet.');
    return cluster;
  };
}
