// One connection to the broker. Who asks waits for its own time and goes on without an answer; the connection stays, because a slow broker answers later. It ends
// once nothing at all has been answered for a while, and until another one is up every question fails at once. In a Redis Cluster, it leads to the node that has the
// keys. The client's own cluster would ask again by itself, past the time that a question has, and keep connections to other nodes: for keys that are all at one, finding that is simpler.
import { certificateComplaint, isOutdated } from '../../base/certificate-complaint.js';
import type { Clock, Timer } from '../../base/clock.js';
import { ClusterError, ConfigError } from '../../base/errors.js';
import type { ClusterMeters } from '../../base/meters.js';
import { type BrokerAddresses, movedTo, nodesIn, type SlotRanges } from './broker-addresses.js';
import { demandBroker } from './demands.js';
import type { RedisPackage } from './package.js';
import type { RedisScript } from './scripts.js';

/** Strings come as bytes. */
export type Reply = Buffer | number | string | null | readonly Reply[];

/** Part of a command. */
export type Argument = string | Buffer;

/** What the broker answers while it cannot do its work, but will; a script of Redis 6.2 has something in front of it. */
const AWAY = /^(?:LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK)\b|\bREADONLY\b/;
/** What a node of a Redis Cluster answers where another one has the keys, or may have: it is looked for. */
const NOT_HERE = /^(?:MOVED|CLUSTERDOWN)\b/;
/** The same of a Redis that is a replica by now: the address may lead to another one. */
const DEMOTED = /\bREADONLY\b/;
/** What a Redis Cluster says where a database is named. */
const NO_DATABASE = /^ERR SELECT is not allowed in cluster mode/;
/** Two nodes may each name the other one, until both know who has the keys. */
const MAX_MOVES = 3;
/** What a node has at least to answer, where there are others, in milliseconds. */
const SHARE_MS = 300;

const OUT_OF_MEMORY = 'The broker is out of memory and takes nothing new: raise its maxmemory.';
const NOT_SERVED = 'The broker is a Redis Cluster, and no node of it serves the keys of this cluster now.';
const HAS_DATABASE =
  'The broker is a Redis Cluster, which has no databases: leave the path out of cluster.url.';

type Client = ReturnType<RedisPackage['createClient']>;
type TypeMapping = Readonly<Record<number, BufferConstructor>>;

export interface RedisLinkParts {
  readonly redis: RedisPackage;
  /** Shared by all links of a node. */
  readonly addresses: BrokerAddresses;
  /** One of the keys: where that is in a Redis Cluster, all are. */
  readonly key: string;
  readonly clock: Clock;
  /** A connection on which something is asked and nothing is answered for so long is ended, in milliseconds. */
  readonly silenceMs: number;
  /** A question has waited for `afterMs` and is not answered. @default nobody minds */
  readonly late?: { readonly afterMs: number; tell(): void } | undefined;
  /** @default nobody measures */
  readonly meters?: ClusterMeters | undefined;
}

export class RedisLink {
  readonly #parts: RedisLinkParts;
  /** Undefined while there is no connection that works. */
  #connection: Connection | undefined;

  constructor(parts: RedisLinkParts) {
    this.#parts = parts;
  }

  get isUp(): boolean {
    return this.#connection !== undefined;
  }

  /** Resolves when there is a connection. Rejects as `run`. @throws ConfigError for a broker that will never do: nothing else is asked of it */
  async open(timeoutMs: number): Promise<void> {
    const { redis, addresses, clock } = this.#parts;
    const by = clock.now() + timeoutMs;
    let failure: ClusterError | undefined;
    const urls = addresses.all();
    for (const [index, url] of urls.entries()) {
      if (this.#connection !== undefined) return;
      const leftMs = by - clock.now();
      if (failure !== undefined && leftMs <= 0) break;
      // One that does not answer at all leaves time for the others.
      const shareMs = Math.max(SHARE_MS, leftMs / (urls.length - index));
      try {
        await this.#reach(url, Math.min(by, clock.now() + shareMs));
        return;
      } catch (error) {
        if (!(error instanceof ClusterError)) throw error;
        // What a node says tells more than that there is none.
        if (failure === undefined || error.cause instanceof redis.ErrorReply) failure = error;
      }
    }
    if (failure !== undefined) throw failure;
  }

  /** By way of the node at `url`, to the one that has the keys. */
  async #reach(url: string, by: number): Promise<void> {
    const { addresses, clock } = this.#parts;
    let at = url;
    for (let moves = 0; ; moves += 1)
      try {
        await this.#connect(at, by - clock.now());
        return;
      } catch (error) {
        const isTimeLeft = moves < MAX_MOVES && clock.now() < by;
        const next = isTimeLeft ? movedTo(refusalOf(error), at) : undefined;
        if (next === undefined) {
          for (const each of [at, url]) addresses.failed(each);
          throw error;
        }
        at = next;
      }
  }

  async #connect(url: string, timeoutMs: number): Promise<void> {
    const { redis, addresses, key, clock, silenceMs } = this.#parts;
    const client = redis.createClient({
      url,
      RESP: 2,
      disableOfflineQueue: true,
      disableClientInfo: true,
      maintNotifications: 'disabled',
      // `run` minds the time. The client's own makes a signal for each command, which costs more than the command.
      commandOptions: { timeout: 0 },
      socket: { reconnectStrategy: false, connectTimeout: timeoutMs },
    }) as unknown as Client;
    const connection: Connection = new Connection(client, url, {
      clock,
      silenceMs,
      silent: () => this.#lose(connection),
    });
    // The questions say what it is, and the next one connects anew.
    client.on('error', () => this.#lose(connection));
    // The client's own time does not cover the greeting.
    const timer = clock.after(timeoutMs, () => client.destroy());
    try {
      await client.connect();
      const hello = await client.sendCommand<readonly Reply[]>(['HELLO']);
      let nodes: string[] = [];
      if (demandBroker(hello.map(String)).isCluster) {
        // Whoever does not have it says who has.
        await client.sendCommand(['GET', key]);
        nodes = nodesIn(await client.sendCommand<SlotRanges>(['CLUSTER', 'SLOTS']), url);
      }
      addresses.reached(url, nodes);
      this.#connection = connection;
    } catch (cause) {
      client.destroy();
      const complaint = certificateComplaint(cause);
      if (complaint !== undefined) {
        const message = `${addresses.otherNode(url) ?? 'The broker in cluster.url'} cannot be trusted. ${complaint}`;
        // All servers that start while it has expired would not answer a call.
        if (isOutdated(cause)) throw new ClusterError(message, { cause });
        throw new ConfigError('CONFIG_INVALID', message, { cause });
      }
      if (cause instanceof redis.ErrorReply && NO_DATABASE.test(cause.message))
        throw new ConfigError('CONFIG_INVALID', HAS_DATABASE, { cause });
      throw cause instanceof ConfigError ? cause : away(cause, addresses.otherNode(url));
    } finally {
      timer.cancel();
    }
  }

  /** Rejects with ClusterError: after the time, and for what the broker refuses, with its words as the cause. What was asked may be done later all the same. */
  async run(args: readonly Argument[], timeoutMs: number): Promise<Reply> {
    const connection = this.#connection;
    if (connection === undefined) throw away(undefined);
    const { redis, clock, late, meters } = this.#parts;
    const { RESP_TYPES, ErrorReply } = redis;
    const askedAt = clock.now();
    const timers = new Set<Timer>();
    if (late !== undefined) timers.add(clock.after(late.afterMs, () => late.tell()));
    const asked = connection.ask(args, { [RESP_TYPES.BLOB_STRING]: Buffer });
    const answered = asked.finally(() => {
      for (const timer of timers) timer.cancel();
    });
    const overdue = new Promise<never>((_, reject) => {
      timers.add(clock.after(timeoutMs, () => reject(away(undefined))));
    });
    // Nobody waits for it by then.
    void asked.then(() => meters?.brokerAnswered(clock.now() - askedAt)).catch(() => {});
    try {
      return await Promise.race([answered, overdue]);
    } catch (cause) {
      const isRefused = cause instanceof ErrorReply;
      // A script that it does not know is given to it next.
      if (!isRefused || !cause.message.startsWith('NOSCRIPT')) meters?.askFailed('broker');
      if (isRefused && !AWAY.test(cause.message))
        throw new ClusterError(
          cause.message.startsWith('OOM') ? OUT_OF_MEMORY : 'The broker refused a command.',
          {
            cause,
          },
        );
      const isElsewhere = isRefused && (NOT_HERE.test(cause.message) || DEMOTED.test(cause.message));
      if (isElsewhere || !(isRefused || cause instanceof ClusterError)) this.#lose(connection);
      throw cause instanceof ClusterError ? cause : away(cause);
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
    if (this.#connection !== undefined) this.#drop(this.#connection);
  }

  /** It leads nowhere any more: where the broker has several nodes, the others are asked first. */
  #lose(connection: Connection): void {
    if (this.#connection === connection) this.#parts.addresses.failed(connection.url);
    this.#drop(connection);
  }

  #drop(connection: Connection): void {
    if (this.#connection === connection) this.#connection = undefined;
    connection.end();
  }
}

/** Minds how long nothing has been answered. */
class Connection {
  readonly #client: Client;
  readonly url: string;
  readonly #watch: { readonly clock: Clock; readonly silenceMs: number; silent(): void };
  /** Questions that are not answered yet. */
  #open = 0;
  /** When something was answered last, or asked where nothing was open, on the clock. */
  #heardAt = 0;
  #timer: Timer | undefined;

  constructor(
    client: Client,
    url: string,
    watch: { readonly clock: Clock; readonly silenceMs: number; silent(): void },
  ) {
    this.#client = client;
    this.url = url;
    this.#watch = watch;
  }

  async ask(args: readonly Argument[], typeMapping: TypeMapping): Promise<Reply> {
    this.#open += 1;
    if (this.#open === 1) {
      this.#heardAt = this.#watch.clock.now();
      this.#await(this.#watch.silenceMs);
    }
    try {
      return await this.#client.sendCommand<Reply>([...args], { typeMapping });
    } finally {
      this.#open -= 1;
      this.#heardAt = this.#watch.clock.now();
      if (this.#open === 0) this.#timer?.cancel();
    }
  }

  /** Idempotent. */
  end(): void {
    this.#timer?.cancel();
    this.#client.destroy();
  }

  #await(forMs: number): void {
    const { clock, silenceMs, silent } = this.#watch;
    this.#timer = clock.after(forMs, () => {
      const leftMs = this.#heardAt + silenceMs - clock.now();
      if (leftMs > 0) this.#await(leftMs);
      else silent();
    });
  }
}

/** What the broker said as it refused a command; empty for any other failure. */
export function refusalOf(error: unknown): string {
  const cause = error instanceof ClusterError ? error.cause : undefined;
  return cause instanceof Error ? cause.message : '';
}

function away(cause: unknown, who = 'The broker'): ClusterError {
  const isNotServed = cause instanceof Error && NOT_HERE.test(cause.message);
  return new ClusterError(isNotServed ? NOT_SERVED : `${who} does not answer.`, { cause });
}
