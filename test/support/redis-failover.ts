// A Redis with a replica behind it, at an address that goes over to the replica once the Redis has died.
import { RedisServer } from './redis-server.js';
import { openSlowProxy, type SlowProxy } from './slow-proxy.js';
import { soon } from './soon.js';

/** By the connection alone: a replica would else leave a file, which the next Redis would begin with. */
const SYNC = [
  ...['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0'],
  ...['--repl-diskless-load', 'swapdb'],
];

export class RedisFailover implements AsyncDisposable {
  readonly #servers: readonly [RedisServer, RedisServer];
  readonly #address: SlowProxy;
  /** Between the Redis and its replica. */
  readonly #way: SlowProxy;

  static async start(program: string): Promise<RedisFailover> {
    const primary = await RedisServer.start(program, SYNC);
    const way = await openSlowProxy(primary.port);
    const replica = await RedisServer.start(program, [
      ...SYNC,
      ...['--replicaof', '127.0.0.1', String(way.port)],
    ]);
    await soon(async () => expectLink(await replica.ask('INFO', 'replication')));
    return new RedisFailover([primary, replica], await openSlowProxy(primary.port), way);
  }

  private constructor(servers: readonly [RedisServer, RedisServer], address: SlowProxy, way: SlowProxy) {
    this.#servers = servers;
    this.#address = address;
    this.#way = way;
  }

  /** Stays the same. */
  get url(): string {
    return `redis://127.0.0.1:${this.#address.port}`;
  }

  /** The replica has everything so far. */
  async settled(): Promise<void> {
    const [primary, replica] = this.#servers;
    await soon(async () => {
      const [told, heard] = [await offsetOf(primary), await offsetOf(replica)];
      if (told !== heard) throw new Error(`The replica has ${heard} bytes of ${told}.`);
    });
  }

  /** The replica gets nothing from now on. */
  lag(): void {
    this.#way.delay(Number.POSITIVE_INFINITY);
  }

  /** The Redis dies, and after a time the replica has its place. */
  async failOver(): Promise<void> {
    const [primary, replica] = this.#servers;
    await primary.kill();
    await replica.ask('REPLICAOF', 'NO', 'ONE');
    this.#address.turnTo(replica.port);
  }

  /** The two change places, and whoever is connected stays where they are. */
  async swap(): Promise<void> {
    const [primary, replica] = this.#servers;
    await replica.ask('REPLICAOF', 'NO', 'ONE');
    await primary.ask('REPLICAOF', '127.0.0.1', String(replica.port));
    this.#address.turnTo(replica.port, { keep: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#address.close(), this.#way.close()]);
    await Promise.all(this.#servers.map((server) => server.kill()));
  }
}

function expectLink(info: unknown): void {
  if (!/master_link_status:up/.test(String(info))) throw new Error('The replica has not begun.');
}

async function offsetOf(server: RedisServer): Promise<number> {
  const info = String(await server.ask('INFO', 'replication'));
  return Number(/(?:slave_repl_offset|master_repl_offset):(\d+)/.exec(info)?.[1]);
}
