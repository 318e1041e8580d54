// A server as one node of a cluster: joins, tells and hears facts, keeps states of calls in the broker, and answers the other nodes.
import { NotFoundError } from '../../base/errors.js';
import { describeError } from '../../base/log.js';
import type { SharedTime, Timer } from '../../base/clock.js';
import type { ClusterMeters } from '../../base/meters.js';
import { toNextBeat, within } from '../../base/pause.js';
import { Rounds } from '../../base/rounds.js';
import type { SharedLimits } from '../../calls/shared-places.js';
import type { StateStore } from '../../calls/resume/call-states.js';
import { ClusterLimits, type ClusterLimitsParts } from '../../cluster/cluster-limits.js';
import { type ClusterNode, type Coordinator, NODE_PATH } from '../../cluster/coordinator.js';
import { openCoordinator } from '../../cluster/open-coordinator.js';
import type { CallEvent } from '../../contract/call-event.js';
import type { CallRecord } from '../../contract/call-record.js';
import type { EventBus } from '../../events/bus.js';
import { termOf } from '../../events/reduce.js';
import type { ClusterStanding } from '../../observability/cluster-metrics.js';
import type { CheckedCluster } from '../../options/cluster.js';
import type { Routes } from '../../server/routes.js';
import type { FoundRoom } from '../../server/incoming-calls.js';
import type { PhoneServer } from '../../server/server.js';
import type { Forget } from '../forget.js';
import { ClusterCalls, type ClusterCallsParts } from './cluster-calls.js';
import { ClusterFacts } from './cluster-facts.js';
import { AddressCheck } from './address-check.js';
import { departureOf } from './departure.js';
import { KeptStates } from './kept-states.js';
import { LeavingCalls } from './leaving-calls.js';
import { OverriddenEnds } from './overridden-ends.js';
import { NodeSound } from './node-sound.js';
import { NodeRecordings, type NodeRecordingsParts } from './node-recordings.js';
import { metricsOfNodes } from './node-metrics.js';
import { createNodeRoute } from './node-route.js';
import { MissedFacts } from './missed-facts.js';
import { GONE_PROBE_MS, OrphanedCalls } from './orphaned-calls.js';
import { RoomFinder } from './room-finder.js';
import { answerRequest, isAnswering, type RequestHandlers } from './requests.js';
import { StallWatch } from './stall-watch.js';

/** How often claims are looked at of which nothing came, in milliseconds. */
const TIDY_MS = 30_000;
/** How often it is looked at whether the broker is connected, for the page, in milliseconds. */
const LOOK_MS = 1000;
/** States that nobody waits for leave this node once in so many milliseconds, with facts: a multiple of `GATHER_MS`. */
const STATES_MS = 1000;
/** What the broker has for the last facts of a node, in milliseconds. */
const FLUSH_MS = 2000;
const GONE = 'another server has left the cluster';

export interface ClusterParts extends Omit<ClusterCallsParts, 'facts' | 'outbid'> {
  readonly options: CheckedCluster;
  /** Limits that hold for all nodes together. */
  readonly limits: Pick<ClusterLimitsParts, 'maxCalls' | 'maxStreamsPerIp'>;
  readonly meters: ClusterMeters | undefined;
  /** What this server measures, in the text exposition format. */
  metrics(): string;
  readonly bus: EventBus;
  /** Is told what happens at other nodes. */
  readonly elsewhere: EventBus;
  /** Those of this server. */
  readonly recordings: NodeRecordingsParts['own'];
  /** Another node has deleted a call. */
  forgotten(callId: string): void;
  /** Deletes a call, as any node may. */
  readonly forget: Forget;
}

export class Cluster {
  readonly #parts: ClusterParts;
  readonly #facts: ClusterFacts;
  readonly #states: KeptStates;
  readonly #addresses: AddressCheck;
  readonly #overridden: OverriddenEnds;
  /** Those of all servers. */
  readonly recordings: NodeRecordings;
  /** That of calls of all servers. */
  readonly sound: NodeSound;
  #coordinator: Coordinator | undefined;
  #limits: ClusterLimits | undefined;
  #calls: ClusterCalls | undefined;
  #stalls: StallWatch | undefined;
  #orphaned: OrphanedCalls | undefined;
  #missed: MissedFacts | undefined;
  #leaving: LeavingCalls | undefined;
  #rooms: RoomFinder | undefined;
  #tidying: Timer | undefined;
  #looking: Timer | undefined;
  #closing: Promise<void> | undefined;
  /** The servers that the log told of last, this one included; undefined before the others are known. */
  #told: readonly ClusterNode[] | undefined;

  constructor(parts: ClusterParts) {
    const { nodeId, clock, bus, desk } = parts;
    this.#parts = parts;
    const coordinator = () => this.#coordinator;
    this.#facts = new ClusterFacts({
      nodeId,
      clock,
      hear: (...heard) => this.#hear(...heard),
      between: async (last, fact) => (await this.#missed?.between(last, fact)) ?? [],
      missed: () => void this.#missed?.catchUp(),
      untold: (callIds) => this.#missed?.show(callIds),
    });
    this.#states = new KeptStates({
      clock,
      rounds: new Rounds(clock, STATES_MS),
      coordinator,
      termOf: (callId) => desk.standing(callId)?.term,
      returned: () => desk.keepAgain(),
    });
    const { recordings: own, options } = parts;
    this.recordings = new NodeRecordings({ ...parts, address: options.address, own, coordinator });
    this.sound = new NodeSound({ ...parts, coordinator });
    this.#addresses = new AddressCheck({ ...parts, address: options.address, coordinator });
    this.#overridden = new OverriddenEnds({
      clock,
      whoHas: async (...asked) => (await this.#calls?.whoHas(...asked)) ?? [],
      isInTouch: () => !this.mayHaveTaken,
      hasEnded: (callId) => this.#facts.hasEnded(callId),
      restate: (callId, term) => this.#outbid(callId, term + 1),
    });
    bus.subscribe((fact) => this.#stated(fact));
  }

  /** Other nodes, for webhooks, streams and commands; undefined before it has joined. Whoever asks brings something for a call. */
  get calls(): ClusterCalls | undefined {
    this.noticeStall();
    return this.#calls;
  }

  /** As in `OtherProcesses`. */
  get mayHaveTaken(): boolean {
    return this.calls?.mayHaveTaken === true || this.#stalls?.hasStoodStill === true;
  }

  /** Undefined before it is open. */
  get limits(): SharedLimits | undefined {
    return this.#limits;
  }

  /** Whether the broker answers in time. */
  get isBrokerThere(): boolean {
    return this.#coordinator?.isThere === true;
  }

  /** The broker has told of the others, and they of what it knows no more, once. Who has no lease is none of them. */
  get knowsOthers(): boolean {
    this.#noteOthers();
    return this.#told !== undefined;
  }

  #noteOthers(): void {
    if (this.#told !== undefined) return;
    const { hasHeardAll = false, leasedUntil = 0 } = this.#coordinator ?? {};
    const isLeased = leasedUntil > this.#parts.clock.now();
    if (hasHeardAll && isLeased && this.#missed?.hasAsked === true) this.#tellServers();
  }

  /** With another name, secret or broker, a server sees here that it stays alone. */
  #tellServers(): void {
    const { logger, options } = this.#parts;
    const nodes = this.#coordinator?.nodes() ?? [];
    const told = this.#told;
    this.#told = nodes;
    const fields = { cluster: options.name, servers: nodes.length };
    if (told !== undefined) {
      for (const node of without(told, nodes)) void this.#tellGone(node.nodeId);
      for (const { address } of without(nodes, told))
        logger.info({ ...fields, address }, 'another server has joined the cluster');
    } else if (nodes.length > 1) logger.info(fields, 'joined the cluster');
    else
      logger.info(
        fields,
        'joined the cluster as its first server: if others run, they have another name, secret or broker',
      );
  }

  /** One whose lease has run out is asked once more: it may only be cut off from the broker. Never rejects. */
  async #tellGone(nodeId: string): Promise<void> {
    const { logger, options } = this.#parts;
    const coordinator = this.#coordinator;
    if (coordinator === undefined) return;
    const hasLeft = coordinator.find(nodeId)?.hasLeft === true;
    const isThere = !hasLeft && (await isAnswering(coordinator, nodeId, GONE_PROBE_MS));
    const nodes = coordinator.nodes();
    // It may be back meanwhile, which was told.
    if (this.#closing !== undefined || nodes.some((node) => node.nodeId === nodeId)) return;
    const lost = `it has no lease at the broker any more, ${isThere ? 'though it answers' : 'and does not answer'}`;
    const departure = departureOf(coordinator, nodeId, lost);
    const fields = { cluster: options.name, servers: nodes.length, ...departure };
    if (departure.because === lost) logger.warn(fields, GONE);
    else logger.info(fields, GONE);
  }

  /** Undefined before it is open. */
  get time(): SharedTime | undefined {
    return this.#coordinator?.time;
  }

  /** How it stands with the others. */
  get standing(): ClusterStanding {
    const nodes = this.#coordinator?.nodes().length ?? 1;
    const { waiting: factsWaiting, retries, lateMs: factsLateMs } = this.#facts;
    return { isBrokerThere: this.isBrokerThere, nodes, factsWaiting, retries, factsLateMs };
  }

  /** What all servers measure, in the text exposition format. @throws NotFoundError before it is open */
  async serverMetrics(): Promise<string> {
    if (this.#coordinator === undefined) throw new NotFoundError('This server has not joined its cluster.');
    const { options, metrics } = this.#parts;
    return metricsOfNodes(this.#coordinator, { address: options.address, text: metrics() });
  }

  /** As in `PhoneServerOptions`. */
  get isMoving(): boolean {
    return this.#calls?.isMoving === true;
  }

  /** As `FindRoom`. */
  async findRoom(callId: string): Promise<FoundRoom | undefined> {
    return this.#rooms?.find(callId);
  }

  /** This node takes no new call, and those that are up go to the others. Does nothing before it has joined. Idempotent. */
  drain(): void {
    this.#leaving?.start();
  }

  /** Where other nodes send their messages. */
  get routes(): Routes {
    return new Map([[`POST ${NODE_PATH}`, createNodeRoute(() => this.#coordinator)]]);
  }

  /** Where the states of calls are kept. What the broker lacks it is told again. */
  get states(): StateStore {
    if (!this.#parts.options.state) return { isTaking: false, write: async () => {}, remove: async () => {} };
    return this.#states;
  }

  /** Facts of a call that the broker may not have. */
  unheard(callId: string): readonly CallEvent[] {
    return this.#facts.unheard(callId);
  }

  /** Goes on with calls of nodes that are gone: what is known of them by their states, and not by the broker. */
  recover(callId: string, { facts, log }: { facts: readonly CallEvent[]; log: readonly CallEvent[] }): void {
    for (const fact of facts) this.#facts.take(fact);
    this.#facts.tellFor(...facts);
    const whole = [...log, ...facts];
    if (whole.some(({ type }) => type === 'call.ended' || type === 'call.forgotten')) return;
    this.#facts.adopt(callId, [...log, ...facts.filter((fact) => !log.some((each) => isSame(each, fact)))]);
  }

  /** As in `CallEnvironment`. */
  noticeStall(): void {
    this.#stalls?.notice();
  }

  /** Before anything listens. @throws ConfigError */
  async open(): Promise<void> {
    const { options, limits, meters, nodeId, desk, bus, clock, logger } = this.#parts;
    const coordinator = await openCoordinator({ ...options, nodeId, clock, logger, meters });
    this.#coordinator = coordinator;
    const holdsPlace = (callId: string) => desk.holdsPlace(callId);
    const isElsewhere = (callId: string) => {
      this.noticeStall();
      return !holdsPlace(callId) && !desk.isOver(callId);
    };
    const known = { events: bus, holdsPlace, isElsewhere };
    this.#limits = new ClusterLimits({ ...limits, coordinator, clock, ...known });
    desk.budget?.shareWith(() => (coordinator.isThere ? 0 : coordinator.nodes().length - 1));
  }

  /** Is a node from now on, before this process listens: whoever asks it for a call is to find it. @throws ConfigError for a broker that will never do */
  async join(server: PhoneServer): Promise<void> {
    const coordinator = this.#coordinator;
    if (coordinator === undefined) return;
    const { desk, clock, logger, nodeId, store } = this.#parts;
    const outbid = (callId: string, term: number) => this.#outbid(callId, term);
    const calls = new ClusterCalls({ ...this.#parts, facts: this.#facts, outbid }, coordinator, server);
    const leaving = new LeavingCalls({ coordinator, desk, clock, logger });
    this.#leaving = leaving;
    this.#rooms = new RoomFinder({ coordinator, clock, logger });
    const takeOver: ClusterCalls['takeOver'] = (...found) => calls.takeOver(...found);
    const placesOf = async (callIds: readonly string[]) => {
      const about = { callId: '', from: nodeId };
      return (await calls.handlers['who-has']({ callIds }, about)).places;
    };
    const missed = new MissedFacts({
      nodeId,
      clock,
      logger,
      coordinator,
      store,
      facts: this.#facts,
      placesOf,
      recall: (ended) => desk.budget?.recall(ended),
      takeOver,
    });
    this.#missed = missed;
    const handlers: RequestHandlers = {
      ...calls.handlers,
      ...this.recordings.handlers,
      ...this.sound.handlers,
      reach: async (_ask, { from }) => ({ because: (await this.#addresses.complaintOf(from)) ?? null }),
      news: missed.answer,
      changed: missed.changed,
      ended: missed.ended,
      refused: async (call, about) => {
        leaving.keep(about.callId);
        return calls.handlers.refused(call, about);
      },
      standing: async () => ({
        isDraining: desk.isDraining,
        want: server.want ?? null,
        calls: desk.liveCount,
        streamHost: this.#parts.options.streamHost ?? null,
      }),
      forget: (_ask, { callId }) => this.#parts.forget(callId),
      metrics: async () => ({ text: this.#parts.metrics() }),
      'take-call': async (_ask, { callId }) => ({ isTaken: await server.takesCall(callId) }),
    };
    await coordinator.join({
      answer: (message, from) => {
        this.noticeStall();
        return answerRequest(handlers, message, from);
      },
      outranked: (callId, owner) => calls.outranked(callId, owner),
      emptied: () => {
        logger.warn({}, 'the broker of the cluster has lost what it had: it is told again');
        this.#facts.tellAgain();
        this.#limits?.tellAgain();
        desk.keepAgain();
      },
    });
    this.#calls = calls;
    this.#facts.start(coordinator);
    this.#stalls = new StallWatch({
      clock,
      leasedUntil: () => coordinator.leasedUntil,
      stalled: () => {
        logger.warn({ calls: desk.liveCount }, 'this process stood still: other nodes may have its calls');
        this.#limits?.stoodStill();
        calls.letGoAll();
      },
    });
    const hasPending = (record: CallRecord) => desk.hasPending(record);
    const isCurrent = () => missed.isCurrent;
    const gone = async () => {
      // Else it does so in any case.
      if (missed.isCurrent) await missed.takeLost();
    };
    const hasIt = async (callId: string) => (await placesOf([callId])).some(({ state }) => state !== 'ended');
    const abandoned = (records: readonly CallRecord[]) => {
      // Facts of others have undone its end, and were heard after all.
      const ended = records.filter(({ callId }) => this.#facts.hasEnded(callId));
      for (const record of ended) this.#outbid(record.callId, termOf(record) + 1);
      if (ended.length < records.length) void gone();
    };
    const parts = {
      nodeId,
      clock,
      logger,
      coordinator,
      store,
      hasPending,
      hasIt,
      isCurrent,
      takeOver,
      gone,
      abandoned,
    };
    this.#orphaned = new OrphanedCalls(parts);
    this.#addresses.start();
    this.#tidy();
    this.#look(server, true);
  }

  /** Every call of this node is over, and its last facts are stated. Idempotent, never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { clock } = this.#parts;
    this.#tidying?.cancel();
    this.#looking?.cancel();
    this.#leaving?.close();
    this.#addresses.close();
    this.#states.close();
    this.#orphaned?.close();
    this.#missed?.close();
    this.#overridden.close();
    if (this.#coordinator?.isReached === true) await within(clock, FLUSH_MS, this.#facts.flushed());
    this.#facts.close();
    this.#limits?.close();
    await this.#coordinator?.close();
  }

  #tidy(): void {
    this.#tidying = this.#parts.clock.after(TIDY_MS, () => {
      this.#calls?.tidy();
      // What changes seldom is kept for longer.
      this.#parts.desk.keepAgain();
      this.#tidy();
    });
  }

  #look(server: PhoneServer, wasReached: boolean): void {
    // Also where nobody asks before the broker is away.
    this.#noteOthers();
    if (this.#told !== undefined) this.#tellServers();
    const isReached = this.#coordinator?.isReached === true;
    if (isReached !== wasReached) server.announceBroker(isReached);
    const { clock } = this.#parts;
    this.#looking = clock.after(toNextBeat(clock, LOOK_MS), () => this.#look(server, isReached));
  }

  #stated(fact: CallEvent): void {
    const { callId, type } = fact;
    this.#facts.tell(fact);
    if (type === 'call.ended') this.#calls?.ended(callId);
    else if (type !== 'call.forgotten') this.#calls?.had(callId);
  }

  /** Another node has stated facts of a call that is this one's, or has ended here: what was stated here last holds, in this term. Who was told of it here is not told again. */
  #outbid(callId: string, term: number): void {
    const { desk, elsewhere, logger } = this.#parts;
    logger.warn(
      { callId, term },
      'another process has stated something of a call: what was stated here holds',
    );
    for (const fact of this.#facts.restate(callId, term)) elsewhere.publish(fact);
    desk.raiseTerm(callId, term);
  }

  /** A fact of another node. */
  #hear(fact: CallEvent, toldAt: number | undefined): void {
    const { desk, elsewhere, forgotten, logger } = this.#parts;
    const { callId } = fact;
    try {
      this.#calls?.heard(callId, fact.nodeId);
      const standing = desk.standing(callId);
      // Who has a stream asks first: a node that was cut off may have claimed the call without one.
      const isOver = fact.type === 'call.ended' || fact.type === 'call.forgotten';
      const isDoubtful = standing?.hasStream === true && fact.term >= standing.term && !isOver;
      if (isDoubtful) this.#calls?.outranked(callId, fact);
      else desk.learn(fact);
      if (standing !== undefined && !desk.isLive(callId)) this.#facts.leave(callId);
      elsewhere.publish(fact);
      this.#overridden.heard(fact);
      const agoMs = toldAt === undefined ? undefined : (this.time?.now() ?? toldAt) - toldAt;
      desk.budget?.hearElsewhere(fact, { agoMs });
      if (fact.type === 'call.forgotten') forgotten(callId);
    } catch (error) {
      logger.error({ callId, ...describeError(error) }, 'a fact of another node was not taken');
    }
  }
}

function without(nodes: readonly ClusterNode[], others: readonly ClusterNode[]): ClusterNode[] {
  return nodes.filter(({ nodeId }) => !others.some((other) => other.nodeId === nodeId));
}

function isSame(one: CallEvent, other: CallEvent): boolean {
  return one.term === other.term && one.seq === other.seq;
}
