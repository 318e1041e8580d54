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
/** What is said where a database is named that is not there: by a Redis Cluster, and by others. */
const NO_DATABASE = /^ERR (?:SELECT is not allowed in cluster mode|DB index is out of range)/;
/** Two nodes may each name the other one, until both know who has the keys. */
const MAX_MOVES = 3;
/** What a node has at least to answer, where there are others, in milliseconds. */
const SHARE_MS = 300;

/** What no other try changes: what the user may do. */
const REFUSED = /^(?:WRONGPASS|NOAUTH|ERR AUTH)\b|\bNOPERM\b|invalid password|executing the script can't run/;
/** The same where the URL has a password, and the broker none. */
const NO_PASSWORD = /^ERR AUTH\b.*without any password configured/;
/** What Node says of bytes that are no TLS, and of what else goes wrong in a handshake. */
const NO_TLS = /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/;
const TLS_FAILURE = /^(?:ERR_SSL_|EPROTO$)/;
/** What the client says of bytes that are no Redis, and of the first one of an alert of TLS. */
const NO_REDIS = /^Unknown RESP type\b/;
const TLS_ALERT = /^Unknown RESP type 21\b/;
const OUT_OF_MEMORY = 'The broker is out of memory and takes nothing new: raise its maxmemory.';
const NOT_SERVED = 'The broker is a Redis Cluster, and no node of it serves the keys of this cluster now.';
const HAS_DATABASE =
  'The path in the URL of the broker names a database that it does not have (a Redis Cluster has none): leave the path out.';

const THE_BROKER = 'The broker';

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
  /** A question was answered so long after it was asked, in milliseconds, also where nobody waited for it any more. @default nobody minds */
  readonly answered?: ((tookMs: number) => void) | undefined;
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

  /** How long the oldest question has waited that is not answered, in milliseconds; 0 where none is open. */
  get waitsMs(): number {
    return this.#connection?.waitsMs ?? 0;
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
    const { redis, addresses, key, clock, silenceMs, answered = () => {} } = this.#parts;
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
      answered,
      isAnswer: (error) => error instanceof redis.ErrorReply,
      silent: () => this.#lose(connection),
    });
    const greeting: Greeting = { isSecure: new URL(url).protocol === 'rediss:', at: 'connecting' };
    client.once('connect', () => {
      greeting.at = 'connected';
    });
    // The questions say what it is, and the next one connects anew.
    let failure: unknown;
    client.on('error', (error: unknown) => {
      failure ??= error;
      this.#lose(connection);
    });
    // The client's own time does not cover the greeting.
    const timer = clock.after(timeoutMs, () => {
      failure ??= new redis.ConnectionTimeoutError();
      client.destroy();
    });
    try {
      await client.connect();
      const hello = await client.sendCommand<readonly Reply[]>(['HELLO']);
      greeting.at = 'answered';
      let nodes: string[] = [];
      if (demandBroker(hello.map(String)).isCluster) {
        // Whoever does not have it says who has.
        await client.sendCommand(['GET', key]);
        nodes = nodesIn(await client.sendCommand<SlotRanges>(['CLUSTER', 'SLOTS']), url);
      }
      addresses.reached(url, nodes);
      this.#connection = connection;
    } catch (thrown) {
      client.destroy();
      // What is thrown may only say that this has ended the connection.
      const cause = failure ?? thrown;
      const complaint = certificateComplaint(cause);
      if (complaint !== undefined) {
        const message = `${addresses.otherNode(url) ?? 'The broker in cluster.url'} cannot be trusted. ${complaint}`;
        // All servers that start while it has expired would not answer a call.
        if (isOutdated(cause)) throw new ClusterError(message, { cause });
        throw new ConfigError('CONFIG_INVALID', message, { cause });
      }
      if (cause instanceof redis.ErrorReply && NO_DATABASE.test(cause.message))
        throw new ConfigError('CONFIG_INVALID', HAS_DATABASE, { cause });
      if (cause instanceof ConfigError) throw cause;
      const misfit = addresses.wasReached ? undefined : schemeComplaint(cause, greeting, redis);
      const who = addresses.otherNode(url);
      throw misfit === undefined
        ? away(cause, who)
        : new ClusterError(`${who ?? THE_BROKER} ${misfit}`, { cause });
    } finally {
      timer.cancel();
    }
  }

  /** Rejects with ClusterError: after the time, and for what the broker refuses, with its words as the cause. What was asked may be done later all the same. */
  async run(args: readonly Argument[], timeoutMs: number): Promise<Reply> {
    const connection = this.#connection;
    if (connection === undefined) throw away(undefined);
    const { redis, addresses, meters } = this.#parts;
    const { RESP_TYPES, ErrorReply } = redis;
    try {
      return await connection.ask(args, { [RESP_TYPES.BLOB_STRING]: Buffer }, timeoutMs);
    } catch (cause) {
      const isRefused = cause instanceof ErrorReply;
      if (isRefused && REFUSED.test(cause.message)) {
        meters?.askFailed('broker');
        throw away(cause, addresses.otherNode(connection.url));
      }
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

/** How far a new connection has come. */
interface Greeting {
  /** By TLS, as the URL says. */
  readonly isSecure: boolean;
  at: 'connecting' | 'connected' | 'answered';
}

/** One that was sent, and is not answered. */
interface Question {
  readonly askedAt: number;
  /** Who asks waits no longer, on the clock. */
  readonly by: number;
  isOverdue: boolean;
  readonly giveUp: (error: ClusterError) => void;
}

interface ConnectionWatch {
  readonly clock: Clock;
  readonly silenceMs: number;
  /** A question was answered so long after it was asked, in milliseconds. */
  answered(tookMs: number): void;
  /** What a question failed with is what the broker says. */
  isAnswer(error: unknown): boolean;
  /** Nothing was answered for `silenceMs`. */
  silent(): void;
}

/** Minds how long each question waits, and how long nothing has been answered: by one timer, as a server that has nothing to do would mostly make timers. */
class Connection {
  readonly #client: Client;
  readonly url: string;
  readonly #watch: ConnectionWatch;
  /** In order, as they are answered. */
  readonly #open = new Set<Question>();
  /** When something was answered last, or asked where nothing was open, on the clock. */
  #heardAt = 0;
  #timer: Timer | undefined;
  /** On the clock. */
  #ringsAt = 0;

  constructor(client: Client, url: string, watch: ConnectionWatch) {
    this.#client = client;
    this.url = url;
    this.#watch = watch;
  }

  get waitsMs(): number {
    const [oldest] = this.#open;
    return oldest === undefined ? 0 : this.#watch.clock.now() - oldest.askedAt;
  }

  /** Rejects with ClusterError after the time, and with what the client says. */
  ask(args: readonly Argument[], typeMapping: TypeMapping, timeoutMs: number): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const answer = this.#client.sendCommand<Reply>([...args], { typeMapping });
      const question = this.#opened(timeoutMs, reject);
      answer.then(
        (reply) => {
          this.#settled(question);
          this.#watch.answered(this.#heardAt - question.askedAt);
          resolve(reply);
        },
        (error: unknown) => {
          this.#settled(question);
          if (this.#watch.isAnswer(error)) this.#watch.answered(this.#heardAt - question.askedAt);
          reject(error);
        },
      );
    });
  }

  /** Idempotent. */
  end(): void {
    this.#timer?.cancel();
    this.#client.destroy();
  }

  #opened(timeoutMs: number, giveUp: Question['giveUp']): Question {
    const now = this.#watch.clock.now();
    const question = { askedAt: now, by: now + timeoutMs, isOverdue: false, giveUp };
    if (this.#open.size === 0) this.#heardAt = now;
    this.#open.add(question);
    this.#ringAt(Math.min(question.by, this.#silentAt));
    return question;
  }

  #settled(question: Question): void {
    this.#open.delete(question);
    this.#heardAt = this.#watch.clock.now();
    if (this.#open.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  get #silentAt(): number {
    return this.#heardAt + this.#watch.silenceMs;
  }

  /** Or before. */
  #ringAt(at: number): void {
    if (this.#timer !== undefined && this.#ringsAt <= at) return;
    this.#timer?.cancel();
    this.#ringsAt = at;
    const { clock } = this.#watch;
    this.#timer = clock.after(at - clock.now(), () => this.#ring());
  }

  #ring(): void {
    this.#timer = undefined;
    const now = this.#watch.clock.now();
    let next = this.#silentAt;
    const isSilent = now >= next;
    for (const question of this.#open) {
      if (question.isOverdue) continue;
      if (question.by > now) next = Math.min(next, question.by);
      else {
        question.isOverdue = true;
        question.giveUp(away(undefined));
      }
    }
    if (isSilent) this.#watch.silent();
    else this.#ringAt(next);
  }
}

/** It lets this node do too little, and no other try changes that. */
export function isRefusal(error: unknown): error is ClusterError {
  return error instanceof ClusterError && REFUSED.test(refusalOf(error));
}

/** It has no password, and the URL has one. */
export function hasNoPassword(error: unknown): boolean {
  return NO_PASSWORD.test(refusalOf(error));
}

/** What the broker said as it refused a command; empty for any other failure. */
export function refusalOf(error: unknown): string {
  const cause = error instanceof ClusterError ? error.cause : undefined;
  return cause instanceof Error ? cause.message : '';
}

/**
 * What has happened to a connection that TLS at one end alone would explain, and the fix; undefined for any other failure. A plain Redis waits for the rest of what TLS begins
 * with. One with TLS resets the connection.
 */
function schemeComplaint(
  cause: unknown,
  { isSecure, at }: Greeting,
  { ConnectionTimeoutError, SocketClosedUnexpectedlyError }: RedisPackage,
): string | undefined {
  const { code = '', message = '' } = (cause ?? {}) as { code?: string; message?: string };
  if (isSecure && at === 'connecting') {
    if (cause instanceof ConnectionTimeoutError)
      return 'does not answer, or its port speaks no TLS. Check host, port, firewall and the scheme in cluster.url.';
    if (code === 'ECONNRESET' || NO_TLS.test(code))
      return 'did not complete a TLS handshake. If its port speaks no TLS, use redis:// in cluster.url.';
    if (TLS_FAILURE.test(code)) return 'did not complete a TLS handshake.';
  }
  if (isSecure || at !== 'connected') return undefined;
  const isClosed = code === 'ECONNRESET' || cause instanceof SocketClosedUnexpectedlyError;
  if (isClosed || TLS_ALERT.test(message))
    return 'ended the connection instead of answering. If its port speaks TLS, use rediss:// in cluster.url.';
  return NO_REDIS.test(message)
    ? 'answers in another protocol: check host and port in cluster.url.'
    : undefined;
}

function away(cause: unknown, who = THE_BROKER): ClusterError {
  const said = cause instanceof Error ? cause.message : '';
  if (NO_PASSWORD.test(said))
    return new ClusterError(
      `${who} has no password, and cluster.url has one: leave it out, or set one at the broker (requirepass).`,
      { cause },
    );
  if (REFUSED.test(said))
    return new ClusterError(`${who} refuses the user or password in its URL, or one of the commands.`, {
      cause,
    });
  return new ClusterError(NOT_HERE.test(said) ? NOT_SERVED : `${who} does not answer.`, { cause });
}
