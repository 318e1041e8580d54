// A node of a cluster whose broker is Redis or Valkey.
import type { Clock, Timer } from '../../base/clock.js';
import { ClusterError, ConfigError } from '../../base/errors.js';
import { describeError, type Logger } from '../../base/log.js';
import type { ClusterMeters } from '../../base/meters.js';
import { toNextBeat, within } from '../../base/pause.js';
import type { CallEvent } from '../../contract/call-event.js';
import {
  BROKER_MS,
  type CallOwner,
  type ClusterNode,
  type Coordinator,
  type CoordinatorEvents,
  type HearFact,
  KEPT_MS,
  type KeptState,
  LEASE_MS,
  type NodeAnswer,
  type NodeDelivery,
  type NodeMessage,
  type Patience,
  type Pool,
  type RememberedNode,
  type Taken,
} from '../coordinator.js';
import { HeldClaims } from '../held-claims.js';
import { NodeMessages } from '../node-messages.js';
import { ClusterSeal, type SealedAbout } from '../seal.js';
import { BrokerAddresses } from './broker-addresses.js';
import { BrokerTime } from './broker-time.js';
import { idBefore, timeOf } from './entry-id.js';
import { RedisKeys } from './keys.js';
import { KnownNodes } from './known-nodes.js';
import { hasNoPassword, isRefusal, RedisLink, type RedisLinkParts, type Reply, refusalOf } from './link.js';
import { loadRedisPackage, type RedisPackage } from './package.js';
import { APPEND, CLAIM, KEEP, LEAVE, LOOK, RELEASE, RENEW, TAKE, TAKEN } from './scripts.js';
import { type LogEntry, RedisTail } from './tail.js';

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
/** And for so long, in milliseconds: what was said in a call that is deleted on the servers goes here by itself. */
const LOG_MS = 24 * 60 * 60_000;
/** What is older leaves the log with the first entry of a node, and with about one in so many: one command cuts by age or by number. */
const CUT_BY_AGE_EVERY = 16;
/** What the broker says where an entry is not there. */
const LOST = 'lost';
/** What a node has to say goodbye, in milliseconds. */
const FAREWELL_MS = 500;
/** A position behind everything in the log. */
const END = '$';

export interface RedisCoordinatorOptions extends ClusterNode {
  /** `redis://user:password@host:6379`, with `rediss:` for TLS. In a Redis Cluster, of any node. */
  readonly url: string;
  /** Of the cluster. */
  readonly name: string;
  /** At least 32 bytes, the same for every node. */
  readonly secret: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** @default nobody measures */
  readonly meters?: ClusterMeters | undefined;
}

/** @throws ConfigError for a secret that is too short, and where the client is not installed */
export async function openRedisCoordinator(options: RedisCoordinatorOptions): Promise<RedisCoordinator> {
  const seal = new ClusterSeal(options.secret);
  const redis = await loadRedisPackage();
  return new RedisCoordinator(options, seal, redis);
}

export class RedisCoordinator implements Coordinator {
  readonly nodeId: string;
  readonly time: BrokerTime;
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
  /** Undefined for one that only observes. */
  #events: CoordinatorEvents | undefined;
  #nodes: KnownNodes;
  /** The log that this node has told its facts to, when that was asked last, in the time of the cluster, and the entry that this node has appended last; texts are empty where there is none. `isLost`: that is not there any more. */
  #log = { epoch: '', askedAt: 0, last: '', isLost: false };
  /** The broker has gone back behind what this node had told it. */
  #hasGoneBack = false;
  #tail: RedisTail | undefined;
  #timer: Timer | undefined;
  #beats = 0;
  /** The broker may not know of a claim. */
  #isUntold = false;
  /** The last beat was answered in the time of a webhook, and everything since. */
  #isFast = false;
  /** On the clock. */
  #leasedUntil = Number.NEGATIVE_INFINITY;
  /** Undefined while the broker works. */
  #failedAs: 'away' | 'refused' | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: RedisCoordinatorOptions, seal: ClusterSeal, redis: RedisPackage) {
    const { nodeId, address, url, name, clock } = options;
    this.nodeId = nodeId;
    this.time = new BrokerTime(clock);
    this.#options = options;
    this.#seal = seal;
    this.#keys = new RedisKeys(name, seal);
    const addresses = new BrokerAddresses(url);
    this.#linkParts = { redis, addresses, key: this.#keys.factsEpoch, clock, silenceMs: CALM_MS };
    const { meters } = options;
    const answered = (tookMs: number) => {
      if (tookMs >= BROKER_MS) this.#isFast = false;
      meters?.brokerAnswered(tookMs);
    };
    this.#link = new RedisLink({ ...this.#linkParts, answered, meters });
    this.#messages = new NodeMessages({ nodeId, seal, clock });
    this.#nodes = new KnownNodes(clock, [{ nodeId, address }]);
    this.#card = seal.seal(aboutCard(nodeId), JSON.stringify({ address }), clock.wallNow());
  }

  get isThere(): boolean {
    return this.#isFast && this.#link.isUp && this.#link.waitsMs < BROKER_MS;
  }

  get isReached(): boolean {
    return this.#link.isUp;
  }

  get leasedUntil(): number {
    return this.#leasedUntil;
  }

  get hasHeardAll(): boolean {
    return this.#tail?.isCaughtUp === true;
  }

  get behindMs(): number {
    return this.#tail?.behindMs ?? 0;
  }

  nodes(): readonly ClusterNode[] {
    return this.#nodes.all();
  }

  silent(): readonly ClusterNode[] {
    return this.#nodes.silent();
  }

  find(nodeId: string): RememberedNode | undefined {
    return this.#nodes.find(nodeId);
  }

  async join(events: CoordinatorEvents): Promise<void> {
    this.#events = events;
    await this.#begin();
  }

  async observe(): Promise<void> {
    this.#nodes = new KnownNodes(this.#options.clock, []);
    await this.#begin();
  }

  async #begin(): Promise<void> {
    try {
      await this.#connect();
      await this.#renew();
    } catch (cause) {
      const error = refused(cause);
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
    const timeoutMs = this.#leftMs(patience);
    const [reply, epoch] = await Promise.all([
      this.#link.run(['GET', this.#keys.ownerOf(callId)], timeoutMs),
      this.#link.run(['HGET', this.#keys.cards, '#epoch'], timeoutMs),
    ]);
    const owner = reply === null ? undefined : this.#ownerIn(callId, reply);
    if (owner !== undefined) return owner;
    if (reply !== null)
      throw new ClusterError('No node of the cluster has said what the broker says of the call.');
    if (String(epoch) === this.#nodes.epoch && this.#nodes.isToldAgain) return undefined;
    throw new ClusterError('The broker may not have been told of the call again.');
  }

  async release(callId: string, keepMs: number): Promise<void> {
    this.#claims.drop(callId);
    await this.#link.runScript(RELEASE, this.#keysOf(callId), {
      args: [this.nodeId, String(keepMs)],
      timeoutMs: CALM_MS,
    });
  }

  async keepState(callId: string, term: number, text: string): Promise<void> {
    const state = this.#seal.seal(aboutState(callId, term), text, this.time.now());
    await this.#link.runScript(KEEP, [this.#keys.stateOf(callId)], {
      args: [String(term), state, String(KEPT_MS), this.nodeId, String(this.#options.clock.now())],
      timeoutMs: CALM_MS,
    });
  }

  async stateOf(callId: string): Promise<KeptState | undefined> {
    const reply = (await this.#link.run(
      ['HGETALL', this.#keys.stateOf(callId)],
      CALM_MS,
    )) as readonly Buffer[];
    const field = (name: string) =>
      reply[reply.findIndex((each, index) => index % 2 === 0 && String(each) === name) + 1];
    const [term, sealed] = [Number(String(field('term'))), field('state')];
    const opened =
      reply.length === 0 ? undefined : this.#seal.open(aboutState(callId, term), sealed ?? Buffer.alloc(0));
    return opened && { term, text: opened.plain.toString('utf8'), at: opened.at };
  }

  async take({ name, limit }: Pool, id: string, ttlMs: number, patience?: Patience): Promise<Taken> {
    const key = this.#pool(name);
    const reply = await this.#link.runScript(TAKE, [key], {
      args: [id, String(limit), String(ttlMs)],
      timeoutMs: this.#leftMs(patience),
    });
    const [has, taken] = reply as readonly [number, number];
    if (has !== 1) return { hasPlace: false, taken };
    const places = this.#places.get(key) ?? new Set();
    this.#places.set(key, places.add(id));
    return { hasPlace: true, taken };
  }

  async taken({ name }: Pool, patience?: Patience): Promise<number> {
    const timeoutMs = this.#leftMs(patience);
    return Number(await this.#link.runScript(TAKEN, [this.#pool(name)], { args: [], timeoutMs }));
  }

  async giveBack({ name }: Pool, id: string): Promise<void> {
    const key = this.#pool(name);
    this.#forgetPlace(key, id);
    await this.#link.run(['ZREM', key, id], CALM_MS);
  }

  handOn({ name }: Pool, id: string): void {
    this.#forgetPlace(this.#pool(name), id);
  }

  async append(facts: readonly CallEvent[]): Promise<boolean> {
    // One entry has them all: it is there or not, and nothing comes between them. Sealed once: that costs a node that hears them more than what is in it.
    const { nodeId } = this;
    const areOwn = facts.every((fact) => fact.nodeId === nodeId);
    const sealed = () => this.#seal.seal(aboutFacts(nodeId), JSON.stringify(facts), this.time.now());
    const fields = facts.length === 0 ? [] : [areOwn ? 'own' : 'by', nodeId, 'facts', sealed()];
    if (this.#log.isLost) {
      this.#log = { ...this.#log, last: '', isLost: false };
      return false;
    }
    const { entry, isThere, ...log } = await this.#append(fields);
    this.#log = { ...log, last: isThere ? entry || this.#log.last : '', isLost: false };
    return isThere;
  }

  /** Whether the log still has what this node has appended: else that comes first. */
  async #lookAtLog(): Promise<void> {
    if (this.#log.epoch === '') return;
    const { epoch, askedAt, isThere } = await this.#append([]);
    if (isThere) this.#log = { ...this.#log, epoch, askedAt };
    else this.#log = { epoch, askedAt, last: '', isLost: true };
  }

  /** `isThere`: what this node had appended before still is. */
  async #append(
    fields: readonly (string | Buffer)[],
  ): Promise<{ epoch: string; askedAt: number; entry: string; isThere: boolean }> {
    const { last, askedAt: askedBefore } = this.#log;
    const askedAt = this.time.now();
    // By their age, the log and what it is known by may have gone: nobody keeps them where nothing happens.
    const goneBefore = askedAt - LOG_MS;
    const epoch = askedBefore < goneBefore ? '' : this.#log.epoch;
    const told = last === '' || timeOf(last) < goneBefore ? ['', ''] : [last, idBefore(last)];
    const isByAge = last === '' || timeOf(last) % CUT_BY_AGE_EVERY === 0;
    const cut = isByAge ? 'MINID' : 'MAXLEN';
    const reply = await this.#link.runScript(APPEND, [this.#keys.facts, this.#keys.factsEpoch], {
      args: [epoch, ...told, String(LOG_ENTRIES), String(LOG_MS), cut, ...fields],
      timeoutMs: CALM_MS,
    });
    const [current, entry] = (reply as readonly Buffer[]).map(String) as [string, string];
    const isThere = entry !== LOST && (epoch === '' || epoch === current);
    // Where everything is lost, that may have been found already.
    if (entry === LOST || (!isThere && this.#nodes.isToldAgain)) this.#hasGoneBack = true;
    return { epoch: current, askedAt, entry, isThere };
  }

  tail(hear: HearFact, missed: () => void = () => {}): void {
    this.#tail?.close();
    const take = (entry: LogEntry, toldAt: number) => {
      for (const fact of this.#opened(entry)) hear(fact, toldAt);
    };
    this.#tail = new RedisTail(this.#linkParts, this.#keys.facts, { take, missed });
  }

  async send(nodeId: string, message: NodeMessage, timeoutMs: number): Promise<string> {
    const node = this.#nodes.find(nodeId);
    if (node === undefined) throw new ClusterError(`The node ${nodeId} is not there.`);
    let isAnswered = true;
    try {
      return await this.#messages.send(node, message, timeoutMs);
    } catch (error) {
      // What that node throws is an answer.
      isAnswered = !(error instanceof ClusterError);
      if (!isAnswered) this.#options.meters?.askFailed('node');
      throw error;
    } finally {
      this.#nodes.asked(nodeId, { isAnswered });
    }
  }

  /** Answers what another node has sent to `NODE_PATH` at the address of this one. Never rejects. */
  receive(delivery: NodeDelivery): Promise<NodeAnswer> {
    return this.#messages.receive(delivery, async (...asked) => {
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
    if (this.#link.isUp && this.#events !== undefined)
      await within(this.#options.clock, FAREWELL_MS, this.#leave()).catch(() => {});
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
        this.#link.runScript(RELEASE, this.#keysOf(callId), { args: [...own, '0'], timeoutMs }),
      );
    const lease = this.#link.runScript(LEAVE, [leases, cards], { args: own, timeoutMs });
    await Promise.all([...places, ...claims, lease]);
  }

  #await(): void {
    if (this.#closing !== undefined) return;
    const { clock } = this.#options;
    const beat = () => void this.#beat().then(() => this.#await());
    this.#timer = clock.after(toNextBeat(clock, BEAT_MS), beat);
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

  /** @throws ConfigError for a broker that is too old */
  async #connect(): Promise<void> {
    if (this.#link.isUp) return;
    await this.#link.open(CALM_MS);
    if (this.#closing !== undefined) {
      this.#link.close();
      return;
    }
    this.#nodes.doubtVersion();
    // It may lack a claim that it was told on the connection before.
    this.#isUntold = true;
    try {
      // The tail, on its own connection, would only try again without the right to read.
      await this.#link.run(['XREAD', 'COUNT', '1', 'STREAMS', this.#keys.facts, END], CALM_MS);
    } catch (error) {
      this.#link.close();
      throw error;
    }
    await this.#lookAtLog();
  }

  /** Says that this node is alive, unless it only observes, and learns who else is. Resolves to false where the broker did not know of it, or not any more. */
  async #renew(): Promise<boolean> {
    const { clock } = this.#options;
    const { leases, cards } = this.#keys;
    const begun = clock.now();
    const [script, args] =
      this.#events === undefined
        ? [LOOK, []]
        : [RENEW, [this.nodeId, String(LEASE_MS), this.#card, this.#nodes.version, String(NODES_TTL_MS)]];
    const reply = await this.#link.runScript(script, [leases, cards], { args, timeoutMs: CALM_MS });
    const roundTripMs = clock.now() - begun;
    // The lease of another node, which may have begun two beats before, may be over by then.
    const wasAway = this.#leasedUntil - 2 * BEAT_MS < begun;
    this.#isFast = roundTripMs <= BROKER_MS;
    this.#leasedUntil = begun + LEASE_MS;
    const [held, at, current, version, all] = reply as unknown as [number, number, Buffer, Buffer, Buffer[]?];
    this.time.answered(at, roundTripMs);
    const known = all && {
      version: String(version),
      epoch: String(current),
      nodes: this.#nodesIn(all),
      left: leftIn(all),
    };
    const hasGoneBack = this.#hasGoneBack;
    this.#hasGoneBack = false;
    if (hasGoneBack) this.#isUntold = true;
    if (this.#nodes.learn(known, { isDoubtful: wasAway || held !== 1, hasGoneBack })) {
      this.#tail?.restart();
      this.#events?.emptied();
    }
    return held === 1;
  }

  #keysOf(callId: string): [string, string] {
    return [this.#keys.ownerOf(callId), this.#keys.stateOf(callId)];
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
    const { nodeId } = this;
    const key = this.#keys.ownerOf(callId);
    const args = [nodeId, String(term), String(OWNER_TTL_MS), kind, this.#proofOf(callId, { nodeId, term })];
    const claim = async () =>
      this.#ownerIn(callId, await this.#link.runScript(CLAIM, [key], { args, timeoutMs }));
    const owner = await claim();
    if (owner !== undefined) return owner;
    this.#options.logger.warn(
      { callId },
      'somebody else has written to the broker: the owner of a call is false',
    );
    await this.#link.run(['DEL', key], timeoutMs);
    return (await claim()) ?? { nodeId, term };
  }

  /** Undefined for what no node has written. */
  #ownerIn(callId: string, reply: Reply): CallOwner | undefined {
    const [term, nodeId = '', proof] = String(reply).split(' ');
    const owner = { nodeId, term: Number(term) };
    return proof === this.#proofOf(callId, owner) ? owner : undefined;
  }

  /** Whoever can write to the broker shall take a call from nobody. */
  #proofOf(callId: string, { nodeId, term }: CallOwner): string {
    return this.#seal.nameFor(JSON.stringify(['owner', callId, term, nodeId]));
  }

  /** How long the question may wait. @throws ClusterError while the broker is away, or, for a webhook, too slow, and where no time is left */
  #leftMs({ by, isUnhurried = false }: Patience = {}): number {
    if (isUnhurried && this.#link.isUp) return CALM_MS;
    const now = this.#options.clock.now();
    const leftMs = by === undefined ? BROKER_MS : by - now;
    if (this.isThere && leftMs > 0) return leftMs;
    throw new ClusterError('The broker is away, or there is no time left to ask it.');
  }

  #forgetPlace(key: string, id: string): void {
    const places = this.#places.get(key);
    places?.delete(id);
    if (places?.size === 0) this.#places.delete(key);
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

  /** Of an entry; none of one that this node has appended and stated. */
  #opened({ by, isOwn, sealed }: LogEntry): readonly CallEvent[] {
    if (isOwn && by === this.nodeId) return [];
    const opened = this.#seal.open(aboutFacts(by), sealed);
    return opened === undefined ? [] : (JSON.parse(opened.plain.toString('utf8')) as readonly CallEvent[]);
  }

  #works(): void {
    if (this.#failedAs !== undefined)
      this.#options.logger.info({}, 'the broker of the cluster answers again');
    this.#failedAs = undefined;
  }

  #failed(cause: unknown): void {
    this.#isFast = false;
    const error = refused(cause);
    const failedAs = error instanceof ConfigError ? 'refused' : 'away';
    // That the next broker will never do is worth another line.
    const isKnown = this.#failedAs === failedAs || this.#failedAs === 'refused';
    if (isKnown || this.#closing !== undefined) return;
    this.#failedAs = failedAs;
    const because = refusalOf(cause instanceof ConfigError ? cause.cause : cause);
    const isJoining = this.#events !== undefined && this.#leasedUntil === Number.NEGATIVE_INFINITY;
    const { logger } = this.#options;
    const fields = {
      broker: this.#linkParts.addresses.host,
      ...describeError(error),
      ...(because === '' ? {} : { because }),
    };
    if (failedAs === 'refused')
      logger.warn(fields, 'the broker of the cluster will not do: calls go on without it');
    else if (isJoining)
      logger.warn(
        fields,
        'the broker of the cluster is away: this server says joining at /ready until it answers, and takes what calls come meanwhile',
      );
    else logger.warn(fields, 'the broker of the cluster is away: calls go on');
  }
}

/** What says so clearly that the broker lets this node do too little; any other error as it is. */
function refused(error: unknown): unknown {
  if (!isRefusal(error)) return error;
  return new ConfigError(
    'CONFIG_INVALID',
    `${error.message}${hasNoPassword(error) ? '' : ' See the ACL in docs/cluster.md.'} It says: ${refusalOf(error)}`,
    { cause: error },
  );
}

/** Who has said goodbye, by the cards. */
function leftIn(all: readonly Buffer[]): string[] {
  const index = all.findIndex((each, at) => at % 2 === 0 && String(each) === '#left');
  return index < 0 ? [] : String(all[index + 1]).split(' ');
}

function aboutCard(nodeId: string): SealedAbout {
  return { type: 'node', call: nodeId, term: 0 };
}

function aboutState(callId: string, term: number): SealedAbout {
  return { type: 'state', call: callId, term };
}

/** `nodeId`: of who has appended them. */
function aboutFacts(nodeId: string): SealedAbout {
  return { type: 'facts', call: nodeId, term: 0 };
}
