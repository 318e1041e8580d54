// A node of a cluster whose broker is Redis or Valkey.
import type { Clock, Timer } from '../../base/clock.js';
import { ClusterError, ConfigError } from '../../base/errors.js';
import { describeError, type Logger } from '../../base/log.js';
import { within } from '../../base/pause.js';
import type { CallEvent } from '../../contract/call-event.js';
import {
  BROKER_MS,
  type CallOwner,
  type ClusterNode,
  type Coordinator,
  type CoordinatorEvents,
  LEASE_MS,
  type NodeMessage,
  type Patience,
  type Pool,
} from '../coordinator.js';
import { HeldClaims } from '../held-claims.js';
import { type NodeAnswer, NodeMessages } from '../node-messages.js';
import { ClusterSeal, type SealedAbout } from '../seal.js';
import { RedisKeys } from './keys.js';
import { RedisLink, type RedisLinkParts, type Reply, refusalOf } from './link.js';
import { loadRedisPackage } from './package.js';
import { CLAIM, LEAVE, RELEASE, RENEW, TAKE } from './scripts.js';
import { RedisTail } from './tail.js';

/** How often a node says that it is alive, in milliseconds. */
const BEAT_MS = 1000;
/** What no caller waits for may take so long. Less than a lease, of which one beat may be lost. */
const CALM_MS = 2000;
/** Claims are told again with each tenth beat, whatever became of them. */
const CLAIMS_EVERY = 10;
/** What is kept of a call whose owner says no more, in milliseconds: the others take it up long before. */
const OWNER_TTL_MS = 60_000;
const NODES_TTL_MS = 60_000;
/** Claims that are told at once. */
const AT_ONCE = 500;
/** Entries of the log of facts. Each has some facts of a call or a few. */
const LOG_ENTRIES = 100_000;
/** What a node has to say goodbye, in milliseconds. */
const FAREWELL_MS = 500;
const OLDEST_VERSION = [6, 2] as const;
/** What no other try changes. */
const REFUSED = /^(?:WRONGPASS|NOAUTH|NOPERM)\b|invalid password/;

export interface RedisCoordinatorOptions extends ClusterNode {
  /** `redis://user:password@host:6379`, with `rediss:` for TLS. */
  readonly url: string;
  /** Of the cluster. */
  readonly name: string;
  /** At least 32 bytes, the same for every node. */
  readonly secret: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** @throws ConfigError for a secret that is too short, and where the client is not installed */
export async function openRedisCoordinator(options: RedisCoordinatorOptions): Promise<RedisCoordinator> {
  const seal = new ClusterSeal(options.secret);
  const redis = await loadRedisPackage();
  return new RedisCoordinator(options, seal, { redis, url: options.url, clock: options.clock });
}

/** What the broker last said of the nodes. */
interface Known {
  readonly version: string;
  /** Another one where the broker has lost everything. */
  readonly epoch: string;
  readonly nodes: readonly ClusterNode[];
}

export class RedisCoordinator implements Coordinator {
  readonly nodeId: string;
  readonly #options: RedisCoordinatorOptions;
  readonly #seal: ClusterSeal;
  readonly #keys: RedisKeys;
  readonly #linkParts: RedisLinkParts;
  readonly #link: RedisLink;
  readonly #messages: NodeMessages;
  readonly #claims = new HeldClaims();
  /** Places that this node has, by pool. */
  readonly #places = new Map<string, Set<string>>();
  readonly #card: Buffer;
  #events: CoordinatorEvents | undefined;
  #known: Known;
  #tail: RedisTail | undefined;
  #timer: Timer | undefined;
  #beats = 0;
  /** The broker may not know of a claim. */
  #isUntold = false;
  #isFast = false;
  /** On the clock. */
  #leasedUntil = Number.NEGATIVE_INFINITY;
  #hasFailed = false;
  #closing: Promise<void> | undefined;

  constructor(options: RedisCoordinatorOptions, seal: ClusterSeal, linkParts: RedisLinkParts) {
    const { nodeId, address, name, clock } = options;
    this.nodeId = nodeId;
    this.#options = options;
    this.#seal = seal;
    this.#keys = new RedisKeys(name);
    this.#linkParts = linkParts;
    this.#link = new RedisLink(linkParts);
    this.#messages = new NodeMessages({ nodeId, seal, clock });
    this.#known = { version: '', epoch: '', nodes: [{ nodeId, address }] };
    const card = Buffer.from(JSON.stringify({ address }), 'utf8');
    this.#card = seal.seal(aboutCard(nodeId), card, clock.wallNow());
  }

  get isThere(): boolean {
    return this.#isFast && this.#link.isUp;
  }

  get leaseLeftMs(): number {
    return Math.max(0, this.#leasedUntil - this.#options.clock.now());
  }

  nodes(): readonly ClusterNode[] {
    return this.#known.nodes;
  }

  async join(events: CoordinatorEvents): Promise<void> {
    this.#events = events;
    try {
      await this.#connect();
      await this.#renew();
    } catch (error) {
      if (error instanceof ConfigError) {
        this.#link.close();
        throw error;
      }
      this.#failed(error);
    }
    this.#await();
  }

  async claim(callId: string, term: number, patience?: Patience): Promise<CallOwner> {
    this.#claims.hold(callId, term);
    try {
      const owner = await this.#claim(callId, term, { kind: 'new', timeoutMs: this.#leftMs(patience) });
      if (owner.nodeId !== this.nodeId) this.#claims.drop(callId, term);
      return owner;
    } catch (error) {
      this.#isUntold = true;
      throw error;
    }
  }

  async ownerOf(callId: string, patience?: Patience): Promise<CallOwner | undefined> {
    const reply = await this.#link.run(['GET', this.#keys.ownerOf(callId)], this.#leftMs(patience));
    return reply === null ? undefined : toOwner(reply);
  }

  async release(callId: string, keepMs: number): Promise<void> {
    this.#claims.drop(callId);
    await this.#link.runScript(RELEASE, [this.#keys.ownerOf(callId)], {
      args: [this.nodeId, String(keepMs)],
      timeoutMs: CALM_MS,
    });
  }

  async take({ name, limit }: Pool, id: string, ttlMs: number, patience?: Patience): Promise<boolean> {
    const key = this.#pool(name);
    const reply = await this.#link.runScript(TAKE, [key], {
      args: [id, String(limit), String(ttlMs)],
      timeoutMs: this.#leftMs(patience),
    });
    if (reply !== 1) return false;
    const places = this.#places.get(key) ?? new Set();
    this.#places.set(key, places.add(id));
    return true;
  }

  async giveBack({ name }: Pool, id: string): Promise<void> {
    const key = this.#pool(name);
    const places = this.#places.get(key);
    places?.delete(id);
    if (places?.size === 0) this.#places.delete(key);
    await this.#link.run(['ZREM', key, id], CALM_MS);
  }

  async append(facts: readonly CallEvent[]): Promise<void> {
    if (facts.length === 0) return;
    // One entry has them all: it is there or not, and nothing comes between them.
    const fields = facts.flatMap((fact) => [
      ...['call', fact.callId, 'term', String(fact.term), 'fact'],
      this.#seal.seal(aboutFact(fact), Buffer.from(JSON.stringify(fact), 'utf8'), fact.at),
    ]);
    const bound = ['MAXLEN', '~', String(LOG_ENTRIES)];
    await this.#link.run(['XADD', this.#keys.facts, ...bound, '*', ...fields], CALM_MS);
  }

  tail(hear: (fact: CallEvent) => void): void {
    this.#tail?.close();
    this.#tail = new RedisTail(this.#linkParts, this.#keys.facts, (fields) => {
      for (const fact of this.#opened(fields)) hear(fact);
    });
  }

  async send(nodeId: string, message: NodeMessage, timeoutMs: number): Promise<string> {
    const node = this.#known.nodes.find((each) => each.nodeId === nodeId);
    if (node === undefined) throw new ClusterError(`The node ${nodeId} is not there.`);
    return this.#messages.send(node, message, timeoutMs);
  }

  /** Answers what another node has sent to `NODE_PATH` at the address of this one. Never rejects. */
  receive(message: Uint8Array): Promise<NodeAnswer> {
    return this.#messages.receive(message, async (...asked) => {
      if (this.#events === undefined) throw new ClusterError('The node is not ready.');
      return this.#events.answer(...asked);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#timer?.cancel();
    this.#tail?.close();
    this.#messages.close();
    if (this.#link.isUp) await within(this.#options.clock, FAREWELL_MS, this.#leave()).catch(() => {});
    this.#link.close();
  }

  async #leave(): Promise<void> {
    const own = [this.nodeId];
    const { leases, cards } = this.#keys;
    const timeoutMs = FAREWELL_MS;
    const places = [...this.#places].map(([key, ids]) => this.#link.run(['ZREM', key, ...ids], timeoutMs));
    const claims = this.#claims
      .all()
      .map(([callId]) =>
        this.#link.runScript(RELEASE, [this.#keys.ownerOf(callId)], { args: [...own, '0'], timeoutMs }),
      );
    const lease = this.#link.runScript(LEAVE, [leases, cards], { args: own, timeoutMs });
    await Promise.all([...places, ...claims, lease]);
  }

  #await(): void {
    if (this.#closing !== undefined) return;
    this.#timer = this.#options.clock.after(BEAT_MS, () => void this.#beat().then(() => this.#await()));
  }

  async #beat(): Promise<void> {
    try {
      await this.#connect();
      const wasKnown = await this.#renew();
      this.#beats += 1;
      if (!wasKnown || this.#beats % CLAIMS_EVERY === 0) this.#isUntold = true;
      if (this.#isUntold) await this.#tellClaims();
      this.#works();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** @throws ConfigError for a broker that is too old, or does not let this node in */
  async #connect(): Promise<void> {
    if (this.#link.isUp) return;
    try {
      await this.#link.open(CALM_MS);
      if (this.#closing !== undefined) this.#link.close();
      else demandVersion(await this.#link.run(['HELLO'], CALM_MS));
    } catch (error) {
      if (!REFUSED.test(refusalOf(error))) throw error;
      throw new ConfigError(
        'CONFIG_INVALID',
        'The broker refuses the user or password in cluster.url, or one of the commands: see the ACL in docs/cluster.md.',
        { cause: error },
      );
    }
  }

  /** Says that this node is alive, and learns who else is. Resolves to false where the broker did not know of it, or not any more. */
  async #renew(): Promise<boolean> {
    const { clock } = this.#options;
    const { leases, cards } = this.#keys;
    const { version: had, epoch } = this.#known;
    const begun = clock.now();
    const reply = await this.#link.runScript(RENEW, [leases, cards], {
      args: [this.nodeId, String(LEASE_MS), this.#card, had, String(NODES_TTL_MS)],
      timeoutMs: CALM_MS,
    });
    this.#isFast = clock.now() - begun <= BROKER_MS;
    this.#leasedUntil = begun + LEASE_MS;
    const [held, current, version, all] = reply as unknown as [number, Buffer, Buffer, Buffer[]?];
    if (all !== undefined)
      this.#known = { version: String(version), epoch: String(current), nodes: this.#nodesIn(all) };
    if (epoch !== '' && this.#known.epoch !== epoch) this.#tail?.restart();
    return held === 1;
  }

  async #tellClaims(): Promise<void> {
    const all = this.#claims.all();
    this.#isUntold = false;
    for (let first = 0; first < all.length; first += AT_ONCE) {
      const tell = async ([callId, term]: readonly [string, number]) => {
        const owner = await this.#claim(callId, term, { kind: 'held', timeoutMs: CALM_MS });
        if (owner.nodeId !== this.nodeId && this.#claims.drop(callId, term))
          this.#events?.outranked(callId, owner);
      };
      await Promise.all(all.slice(first, first + AT_ONCE).map(tell)).catch((error: unknown) => {
        this.#isUntold = true;
        throw error;
      });
    }
  }

  async #claim(
    callId: string,
    term: number,
    { kind, timeoutMs }: { kind: 'new' | 'held'; timeoutMs: number },
  ): Promise<CallOwner> {
    const reply = await this.#link.runScript(CLAIM, [this.#keys.ownerOf(callId)], {
      args: [this.nodeId, String(term), String(OWNER_TTL_MS), kind],
      timeoutMs,
    });
    return toOwner(reply);
  }

  /** How long a webhook may still wait. @throws ClusterError while the broker is away or too slow for one, and where no time is left */
  #leftMs({ by }: Patience = {}): number {
    const now = this.#options.clock.now();
    const leftMs = by === undefined ? BROKER_MS : by - now;
    if (this.isThere && leftMs > 0) return leftMs;
    throw new ClusterError('The broker is away, or there is no time left to ask it.');
  }

  /** An address of a caller is nobody's business. */
  #pool(name: string): string {
    return this.#keys.pool(this.#seal.nameFor(name));
  }

  #nodesIn(all: readonly Buffer[]): ClusterNode[] {
    const nodes: ClusterNode[] = [];
    for (let index = 0; index + 1 < all.length; index += 2) {
      const nodeId = all[index]?.toString('utf8') ?? '';
      const opened = this.#seal.open(aboutCard(nodeId), all[index + 1] ?? Buffer.alloc(0));
      if (opened === undefined) continue;
      const { address } = JSON.parse(opened.plain.toString('utf8')) as { address: string };
      nodes.push({ nodeId, address });
    }
    return nodes;
  }

  #opened(fields: readonly Buffer[]): CallEvent[] {
    const facts: CallEvent[] = [];
    for (let index = 0; index + 2 < fields.length; index += 3) {
      const [call, term, sealed] = fields.slice(index, index + 3);
      const about = aboutFact({ callId: String(call), term: Number(term) });
      const opened = sealed && this.#seal.open(about, sealed);
      if (opened !== undefined) facts.push(JSON.parse(opened.plain.toString('utf8')) as CallEvent);
    }
    return facts;
  }

  #works(): void {
    if (this.#hasFailed) this.#options.logger.info({}, 'the broker of the cluster answers again');
    this.#hasFailed = false;
  }

  #failed(error: unknown): void {
    this.#isFast = false;
    if (this.#hasFailed || this.#closing !== undefined) return;
    this.#hasFailed = true;
    const because = refusalOf(error);
    this.#options.logger.warn(
      { ...describeError(error), ...(because === '' ? {} : { because }) },
      'the broker of the cluster is away: calls go on',
    );
  }
}

function aboutCard(nodeId: string): SealedAbout {
  return { type: 'node', call: nodeId, term: 0 };
}

function aboutFact({ callId, term }: Pick<CallEvent, 'callId' | 'term'>): SealedAbout {
  return { type: 'fact', call: callId, term };
}

function toOwner(reply: Reply): CallOwner {
  const text = String(reply);
  const end = text.indexOf(' ');
  return { term: Number(text.slice(0, end)), nodeId: text.slice(end + 1) };
}

/** @throws ConfigError */
function demandVersion(reply: Reply): void {
  const fields = reply as readonly Reply[];
  const at = fields.findIndex((field) => String(field) === 'version');
  const version = String(fields[at + 1]);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldest, least] = OLDEST_VERSION;
  if (major > oldest || (major === oldest && minor >= least)) return;
  throw new ConfigError(
    'CONFIG_INVALID',
    `The broker is Redis ${version}: use Redis 6.2 or later, or Valkey.`,
  );
}
