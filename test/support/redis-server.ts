// A Redis of a test's own, on a free port: it is frozen, killed and started again, and gone with the test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createClient } from '@redis/client';
import { freePort } from './free-port.js';
import { describeNeeding } from './needing.js';

/** To be found, or its path. */
export const REDIS_PROGRAM = process.env.REDIS_SERVER || 'redis-server';

export class RedisServer {
  readonly #program: string;
  readonly #settings: readonly string[];
  readonly port: number;
  #server: ChildProcess | undefined;

  /** `settings`: as on its command line. */
  static async start(program: string, settings: readonly string[] = []): Promise<RedisServer> {
    const server = new RedisServer(program, await freePort(), settings);
    await server.start();
    return server;
  }

  private constructor(program: string, port: number, settings: readonly string[]) {
    this.#program = program;
    this.port = port;
    this.#settings = settings;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Resolves when it takes connections. It is empty: nothing is kept on disk. */
  async start(): Promise<void> {
    const own = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--daemonize', 'no'];
    const server = spawn(this.#program, [...own, ...this.#settings], {
      cwd: '/',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#server = server;
    process.once('exit', this.#kill);
    const said: string[] = [];
    for await (const line of createInterface(server.stdout)) {
      said.push(line);
      if (/ready to accept connections/i.test(line)) {
        server.stdout.resume();
        return;
      }
    }
    throw new Error(`Redis did not start:\n${said.join('\n')}`);
  }

  /** Stands still, with its connections open. */
  freeze(): void {
    this.#server?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#server?.kill('SIGCONT');
  }

  /** Has it answer one command. */
  async ask(...args: string[]): Promise<unknown> {
    const client = createClient({ url: this.url, RESP: 2, socket: { reconnectStrategy: false } });
    client.on('error', () => {});
    await client.connect();
    try {
      return await client.sendCommand(args);
    } finally {
      client.destroy();
    }
  }

  /** At once, as if its machine had failed. Idempotent. */
  async kill(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    process.off('exit', this.#kill);
    const over = server.exitCode === null && server.signalCode === null ? once(server, 'exit') : undefined;
    server.kill('SIGKILL');
    await over;
  }

  readonly #kill = () => void this.#server?.kill('SIGKILL');
}

/** `describeNeeding` Redis, or the program that `REDIS_SERVER` names: another version, or Valkey. `body` gets its path. */
export function describeOnRedis(name: string, body: (program: string) => void): void {
  describeNeeding(REDIS_PROGRAM, name, (program = '') => body(program));
}

/** One server for all tests around. */
export function redisOf(program: string, settings: readonly string[] = []): () => RedisServer {
  let server: RedisServer | undefined;
  beforeAll(async () => {
    server = await RedisServer.start(program, settings);
  });
  afterAll(() => server?.kill());
  return () => {
    if (server === undefined) throw new Error('Redis is not started yet');
    return server;
  };
}

/** A new one for each test of the group. */
export function eachRedis(program: string): { readonly redis: RedisServer } {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await RedisServer.start(program);
  });
  afterEach(async () => {
    redis.thaw();
    await redis.kill();
  });
  return {
    get redis() {
      return redis;
    },
  };
}
