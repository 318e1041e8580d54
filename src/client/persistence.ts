// What outlives the process: its records, the calls that are up, callbacks that run; what the process before has left of that, and who has it next.
import { resolve } from 'node:path';
import type { Clock } from '../base/clock.js';
import { NotFoundError, RequestError } from '../base/errors.js';
import { describeError, type Logger } from '../base/log.js';
import type { CallDirectory } from '../calls/call-directory.js';
import type { AttachedCallbacks } from '../calls/facts/callbacks.js';
import { type CallState, decodeState, type LeftCall } from '../calls/resume/call-state.js';
import type { CallEvent } from '../contract/call-event.js';
import type { CallRecord } from '../contract/call-record.js';
import type { EventBus } from '../events/bus.js';
import type { Agent } from '../options/agent.js';
import { checkDrainOptions } from '../options/drain.js';
import type { CheckedServeOptions } from '../options/serve.js';
import type { CallStore } from '../stores/call-store.js';
import { GuardedStore } from '../stores/guarded-store.js';
import { openStore } from '../stores/open-store.js';
import { type ComingAbout, Handover, type HandoverParts } from './handover/handover.js';
import { LentStore } from './handover/lent-store.js';
import type { GivenCall, Predecessor } from './handover/predecessor.js';
import { LiveCalls } from './live-calls.js';
import { type PendingEnd, PendingEnds } from './pending-ends.js';
import type { Recipes } from './recipes.js';
import type { ServingAgents, ServingClient } from './serving-agents.js';
import type { Cluster } from './cluster/cluster.js';
import type { InheritedCall } from './cluster/orphaned-calls.js';
import { type KeptCalls, takeOver, type TakeOverParts } from './take-over.js';

/** Calls may take as long to go to the process after this one as they have where a server drains. */
const HANDOVER_MS = checkDrainOptions();

export interface PersistenceParts extends Pick<HandoverParts, 'status' | 'drain' | 'done' | 'isLeaving'> {
  readonly options: CheckedServeOptions;
  readonly client: ServingClient;
  readonly recipes: Recipes;
  readonly agents: ServingAgents;
  readonly desk: CallDirectory;
  readonly bus: EventBus;
  readonly callbacks: AttachedCallbacks;
  readonly nodeId: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Hears what happens in calls that other processes have. */
  readonly elsewhere: EventBus;
  /** Undefined for a server that is alone. */
  cluster(): Cluster | undefined;
  /** The store is open, and nothing was told yet. */
  opened(store: CallStore): void;
  /** Another process is gone, and what it has left is this one's. */
  inherited(store: CallStore): void;
}

/** A call that another process gives to this one. */
interface ComingCall extends GivenCall, ComingAbout {
  readonly callId: string;
}

export class Persistence {
  readonly #parts: PersistenceParts;
  readonly #live: LiveCalls;
  #store: CallStore | undefined;
  /** Undefined where nobody would hear, or nothing is kept. */
  #pendingEnds: PendingEnds | undefined;
  /** Undefined where nothing outlives the process, so that no other one can have it. */
  #handover: Handover | undefined;
  /** Calls that are being taken up. */
  readonly #comingUp = new Map<string, Promise<void>>();

  constructor(parts: PersistenceParts) {
    this.#parts = parts;
    this.#live = new LiveCalls(parts);
  }

  get store(): CallStore | undefined {
    return this.#store;
  }

  get handover(): Handover | undefined {
    return this.#handover;
  }

  /** Before anything listens: what is read first is the past, and ends of lost calls come before new calls. */
  async open(): Promise<CallStore> {
    const { options, bus } = this.#parts;
    const predecessor = await this.#findPredecessor();
    const store = options.store === undefined ? await this.#openOwn(predecessor) : this.#guard(options.store);
    this.#store = store;
    this.#pendingEnds = this.#keepEnds(store);
    // A process that lives has what is left: it gives it, or dies.
    const left = predecessor === undefined ? await this.#leftEnds() : [];
    const append = (event: CallEvent) => store.append(event);
    bus.subscribeDurable(this.#pendingEnds?.before(append) ?? append);
    this.#parts.opened(store);
    const unstored = (callId: string) => this.#handover?.unstored(callId) ?? [];
    const kept = await this.#openLive(store, unstored);
    // What its store holds as active may be up at another node: that is found out once it has joined.
    if (this.#parts.cluster() !== undefined) this.#parts.elsewhere.subscribeDurable(append);
    else if (predecessor === undefined)
      await this.#recalled(() => takeOver(store, this.#takeOverParts(), kept));
    else for (const record of await store.active()) this.#parts.desk.budget?.resume(record);
    await this.#redeliver(left);
    return store;
  }

  /** As `LiveCalls.chosen`. */
  chosen(...said: Parameters<LiveCalls['chosen']>): ReturnType<LiveCalls['chosen']> {
    return this.#live.chosen(...said);
  }

  /** Goes on with a call that another process has let go. Rejects for one that cannot be had. */
  async takeUp(callId: string, call: GivenCall, about: ComingAbout): Promise<void> {
    if (this.#store !== undefined) await this.#takeUpOnce(this.#store, { callId, ...call, ...about });
  }

  /** Goes on with calls whose nodes are gone, or states their ends. */
  async inherit(calls: ReadonlyMap<string, InheritedCall>, { isStreamThere }: ComingAbout): Promise<void> {
    const [store, cluster] = [this.#store, this.#parts.cluster()];
    const { desk, clock, options } = this.#parts;
    if (store === undefined || cluster === undefined) return;
    const texts = new Map<string, readonly string[]>();
    const decoded = new Map<string, CallState>();
    for (const [callId, { state }] of calls) {
      const read = state && decodeState(state.text);
      if (read !== undefined) decoded.set(callId, read);
      cluster.recover(callId, { facts: read?.facts ?? [], log: (await store.events?.(callId)) ?? [] });
      if (state !== undefined) texts.set(callId, [state.text]);
    }
    // One that stood still meanwhile may have lost them again.
    const isOurs = (callId: string) =>
      calls.has(callId) && cluster.calls?.claimedTerm(callId) === calls.get(callId)?.term;
    const isHad = (callId: string) =>
      !isOurs(callId) || desk.isLive(callId) || desk.hasEnded(callId) || this.#comingUp.has(callId);
    const parts = {
      ...this.#takeOverParts(isHad),
      // What the others spend is heard of.
      desk: {
        recall: (record: CallRecord) => desk.recall(record),
        mayBeUp: (record: CallRecord) => desk.mayBeUp(record),
      },
    };
    const left = { texts, lastAliveAt: 0 };
    const lastAliveAt = (callId: string) =>
      (calls.get(callId)?.state?.at ?? 0) - (decoded.get(callId)?.sharedAheadMs ?? 0);
    const aheadMs = (callId: string) => this.#aheadMs(decoded.get(callId));
    const resume = (call: LeftCall) =>
      this.#live.takeUp({ ...call, term: calls.get(call.record.callId)?.term }, { isStreamThere });
    const kept = { left, lastAliveAt, aheadMs, resume, forget: async () => {} };
    await takeOver(store, parts, options.cluster?.state === true ? kept : undefined);
    // Whoever asks for one of them is answered first.
    if (!isStreamThere) clock.after(0, () => desk.goOn());
  }

  /** `onCallEnd` of the call has returned. Never rejects. */
  async endTold(callId: string): Promise<void> {
    await this.#pendingEnds?.told(callId);
  }

  /** The call was deleted: the store hears of that by the bus, and nothing else is kept. Never rejects. */
  async forget(callId: string): Promise<void> {
    await Promise.all([this.#pendingEnds?.told(callId), this.#live.forget(callId)]);
  }

  /** A call goes to `agent`. */
  note(agent: Agent | undefined): void {
    this.#live.note(agent);
  }

  /** No call is up any more: no state of one is written. Idempotent. */
  closeLive(): void {
    this.#live.close();
  }

  /** The last facts are stated. Never rejects. */
  async close(): Promise<void> {
    await this.#handover?.finish();
    await this.#parts.cluster()?.close();
    try {
      await this.#store?.close();
    } catch (error) {
      this.#parts.logger.error(describeError(error), 'store not closed cleanly');
    }
    await this.#handover?.close();
  }

  /** Undefined where nothing is kept, and in a cluster: what its broker keeps is read when a node is gone. */
  async #openLive(
    store: CallStore,
    unstored: (callId: string) => readonly CallEvent[],
  ): Promise<KeptCalls | undefined> {
    const { desk } = this.#parts;
    const cluster = this.#parts.cluster();
    if (cluster === undefined) return this.#live.open(store, unstored);
    this.#live.isShared = true;
    desk.keep(cluster.states, (callId) => cluster.unheard(callId));
    return undefined;
  }

  #guard(store: CallStore): CallStore {
    const { options, logger, clock } = this.#parts;
    return new GuardedStore({ store, logger, clock, closeMs: Math.min(5000, options.drainMs) });
  }

  /** Where another server has the data folder, and this one takes over. */
  async #findPredecessor(): Promise<Predecessor | undefined> {
    const { options, nodeId, clock, logger } = this.#parts;
    const { dataDir, takeOver: isWanted } = options;
    if (!isWanted || dataDir === false) return undefined;
    return Handover.findPredecessor({ dataDir, nodeId, clock, logger });
  }

  async #openOwn(predecessor: Predecessor | undefined): Promise<CallStore> {
    try {
      return await this.#openShared(predecessor);
    } catch (error) {
      // It has its store back.
      predecessor?.close();
      throw error;
    }
  }

  /** One on disk may be another process's for a while. */
  async #openShared(predecessor: Predecessor | undefined): Promise<CallStore> {
    const { options, desk, nodeId, clock, logger, elsewhere } = this.#parts;
    const { status, drain, done, isLeaving } = this.#parts;
    const { dataDir } = options;
    const place = { dataDir, role: 'server' } as const;
    const onMemoryOnly = (trouble: unknown) => {
      throw trouble;
    };
    // In memory beside a server that has the calls, it would be a second one that knows none of them.
    const strictly = { logger, clock, onMemoryOnly };
    const store = await openStore(place, options.takeOver ? strictly : { logger, clock });
    if (dataDir === false || !store.isKept) return store;
    const lent = new LentStore(store, () => openStore(place, strictly));
    const parts: HandoverParts = {
      dataDir,
      nodeId,
      desk,
      clock,
      logger,
      timeoutMs: HANDOVER_MS,
      status,
      drain,
      done,
      isLeaving,
      isClustered: options.cluster !== undefined,
      takeUp: (callId, call, about) => this.#takeUpOnce(lent, { callId, ...call, ...about }),
      isNew: async (callId) => (await lent.get(callId)) === undefined,
      hear: (fact) => {
        elsewhere.publish(fact);
        desk.budget?.hear(fact);
      },
      takeOver: () => this.#inherit(lent),
    };
    this.#handover = new Handover(parts, lent, predecessor);
    return lent;
  }

  /** One that comes twice waits for the first. */
  #takeUpOnce(store: CallStore, call: ComingCall): Promise<void> {
    const { callId } = call;
    const before = this.#comingUp.get(callId);
    if (before !== undefined) return before;
    const coming = this.#takeUp(store, call).finally(() => this.#comingUp.delete(callId));
    this.#comingUp.set(callId, coming);
    return coming;
  }

  /** Goes on with a call that another process has let go. */
  async #takeUp(store: CallStore, call: ComingCall): Promise<void> {
    const { callbacks, clock, desk } = this.#parts;
    const { callId, facts, isStreamThere, free, term } = call;
    if (desk.isLive(callId)) return;
    const state = decodeState(call.state);
    for (const fact of facts) await store.append(fact);
    const record = await store.get(callId);
    if (record === undefined) throw new NotFoundError('No such call.');
    if (record.status === 'completed' || desk.hasEnded(callId))
      throw new RequestError('REQUEST_CONFLICT', 'The call is over.');
    const disown = callbacks.adopt(record);
    const aheadMs = this.#aheadMs(state);
    const lastAliveAt = clock.wallNow() + aheadMs;
    const left = { record, state, lastAliveAt, aheadMs, wasLetGo: true, free, term };
    if (this.#live.takeUp(left, { isStreamThere }) !== undefined) {
      disown();
      throw new RequestError('REQUEST_CONFLICT', 'The call cannot be taken up.');
    }
    if (!isStreamThere) desk.goOn();
  }

  /** As in `LeftCall`: a call keeps the dates that it began with, whoever has it, so that the time between two of them is as long as it was. */
  #aheadMs(state: CallState | undefined): number {
    const sharedNow = this.#parts.cluster()?.time?.now();
    if (sharedNow === undefined || state?.sharedAheadMs === undefined) return 0;
    return sharedNow - state.sharedAheadMs - this.#parts.clock.wallNow();
  }

  /** Another process has died, and what it had is this one's. */
  async #inherit(store: CallStore): Promise<void> {
    const { desk } = this.#parts;
    const isHad = (callId: string) =>
      desk.isLive(callId) || desk.hasEnded(callId) || this.#comingUp.has(callId);
    await takeOver(store, this.#takeOverParts(isHad), await this.#live.kept());
    desk.goOn();
    await this.#redeliver(await this.#leftEnds());
    this.#parts.inherited(store);
  }

  #takeOverParts(isHad: (callId: string) => boolean = () => false): TakeOverParts {
    const { nodeId, bus, callbacks, desk, logger } = this.#parts;
    return { nodeId, bus, callbacks, desk, logger, isHad };
  }

  /** A process that does not own the folder would take the files of the one that does for left behind. */
  #keepEnds(store: CallStore): PendingEnds | undefined {
    const { options, clock, logger } = this.#parts;
    const { dataDir, callbacks } = options;
    if (dataDir === false || !store.isKept || callbacks.onCallEnd === undefined) return undefined;
    return new PendingEnds({ folder: resolve(dataDir, 'ended'), clock, logger });
  }

  /** Of processes that are gone. */
  async #leftEnds(): Promise<PendingEnd[]> {
    const [store, ends] = [this.#store, this.#pendingEnds];
    return store === undefined || ends === undefined
      ? []
      : ends.left(store, (callId) => ends.isRunning(callId));
  }

  async #redeliver(left: readonly PendingEnd[]): Promise<void> {
    const deliver = async ({ record, deliveries }: PendingEnd) => {
      await this.#pendingEnds?.begin(record.callId, { deliveries });
      this.#parts.callbacks.redeliver(record);
    };
    await Promise.all(left.map(deliver));
  }

  /** What a store of the application's does not tell, the server does without. */
  async #recalled(recall: () => Promise<void>): Promise<void> {
    const { options, logger } = this.#parts;
    try {
      await recall();
    } catch (error) {
      if (options.store === undefined) throw error;
      logger.error(describeError(error), 'the calls of the process before this one were not taken over');
    }
  }
}
