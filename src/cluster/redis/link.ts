// One connection to the broker. Nothing waits in it for a broker that is away: a question that is not answered in time ends the connection, and until another
// one is up every further question fails at once.
import type { Clock } from '../../base/clock.js';
import { ClusterError } from '../../base/errors.js';
import type { RedisPackage } from './package.js';
import type { RedisScript } from './scripts.js';

/** Strings come as bytes. */
export type Reply = Buffer | number | string | null | readonly Reply[];

/** Part of a command. */
export type Argument = string | Buffer;

/** What the broker answers while it cannot do its work, but will. */
const AWAY = /^(?:LOADING|MASTERDOWN|CLUSTERDOWN|READONLY|TRYAGAIN)\b/;

type Client = ReturnType<RedisPackage['createClient']>;

export interface RedisLinkParts {
  readonly redis: RedisPackage;
  readonly url: string;
  readonly clock: Clock;
}

export class RedisLink {
  readonly #parts: RedisLinkParts;
  /** Undefined while there is no connection that works. */
  #client: Client | undefined;

  constructor(parts: RedisLinkParts) {
    this.#parts = parts;
  }

  get isUp(): boolean {
    return this.#client !== undefined;
  }

  /** Resolves when there is a connection. Rejects as `run`. */
  async open(timeoutMs: number): Promise<void> {
    if (this.#client !== undefined) return;
    const { redis, url, clock } = this.#parts;
    const client = redis.createClient({
      url,
      RESP: 2,
      disableOfflineQueue: true,
      disableClientInfo: true,
      maintNotifications: 'disabled',
      socket: { reconnectStrategy: false, connectTimeout: timeoutMs },
    }) as unknown as Client;
    // The questions say what it is, and the next one connects anew.
    client.on('error', () => this.#drop(client));
    // The time for a connection does not cover the greeting.
    const timer = clock.after(timeoutMs, () => client.destroy());
    try {
      await client.connect();
      this.#client = client;
    } catch (cause) {
      client.destroy();
      throw away(cause);
    } finally {
      timer.cancel();
    }
  }

  /** Rejects with ClusterError: for what the broker refuses, with its words as the cause. */
  async run(args: readonly Argument[], timeoutMs: number): Promise<Reply> {
    const client = this.#client;
    if (client === undefined) throw away(undefined);
    const { redis, clock } = this.#parts;
    const timer = clock.after(timeoutMs, () => this.#drop(client));
    try {
      const typeMapping = { [redis.RESP_TYPES.BLOB_STRING]: Buffer };
      return await client.sendCommand<Reply>([...args], { typeMapping });
    } catch (cause) {
      if (!isRefusal(cause, redis)) this.#drop(client);
      else if (AWAY.test(cause.message)) this.#drop(client);
      else throw new ClusterError('The broker refused a command.', { cause });
      throw away(cause);
    } finally {
      timer.cancel();
    }
  }

  /** The same, for a script. */
  async runScript(
    { text, sha1 }: RedisScript,
    keys: readonly string[],
    { args, timeoutMs }: { args: readonly Argument[]; timeoutMs: number },
  ): Promise<Reply> {
    const { clock } = this.#parts;
    const by = clock.now() + timeoutMs;
    const rest = [String(keys.length), ...keys, ...args];
    try {
      return await this.run(['EVALSHA', sha1, ...rest], timeoutMs);
    } catch (error) {
      if (!refusalOf(error).startsWith('NOSCRIPT')) throw error;
      return this.run(['EVAL', text, ...rest], by - clock.now());
    }
  }

  /** Ends the connection; `open` makes another one. Idempotent. */
  close(): void {
    if (this.#client !== undefined) this.#drop(this.#client);
  }

  #drop(client: Client): void {
    if (this.#client === client) this.#client = undefined;
    client.destroy();
  }
}

/** What the broker said as it refused a command; empty for any other failure. */
export function refusalOf(error: unknown): string {
  const cause = error instanceof ClusterError ? error.cause : undefined;
  return cause instanceof Error ? cause.message : '';
}

function isRefusal(cause: unknown, { ErrorReply }: RedisPackage): cause is Error {
  return cause instanceof ErrorReply;
}

function away(cause: unknown): ClusterError {
  return new ClusterError('The broker does not answer.', { cause });
}
