// The other process on the same data folder, before or after this one: which one it is, and what it does to the calls here.
import type { ServerResponse } from 'node:http';
import { controlSocket } from '../../base/control-socket.js';
import { ConfigError, NotFoundError, RequestError } from '../../base/errors.js';
import { describeError, type Logger } from '../../base/log.js';
import type { Clock } from '../../base/clock.js';
import { pause, within } from '../../base/pause.js';
import type { CallDirectory } from '../../calls/call-directory.js';
import type { CallControls } from '../../contract/call-command.js';
import type { CallEvent } from '../../contract/call-event.js';
import { termOf } from '../../events/reduce.js';
import { checkDrainOptions } from '../../options/drain.js';
import type { Neighbor } from '../../server/neighbor.js';
import type { PrivateSocket } from '../../server/private-socket.js';
import type { PhoneServer } from '../../server/server.js';
import { openControl } from './control.js';
import type { LentStore } from './lent-store.js';
import { type FactsTaken, type GivenCall, type Outranking, Predecessor } from './predecessor.js';
import { findProcesses, type ProcessStatus } from './processes.js';
import { carryOut, controlsOver, type RemoteCommand } from './remote-controls.js';
import { Successor } from './successor.js';

/** Tries to have the store back without a word. */
const COMPLAIN_AFTER = 100;
/** What a server that ends gives a store that another process never used, in milliseconds. */
const GIVE_UP_MS = 1000;
const LOOK_MS = 50;
/** A machine that is busy with the start of this process may let the one before wait for so long. */
const FIND_MS = 10_000;
/** A disk that takes longer over a call has failed. */
const KEPT_MS = 2000;

/** How a call comes from another process. */
export interface ComingAbout {
  /** Its stream has come. */
  readonly isStreamThere: boolean;
  /** As in `LeftCall`. */
  readonly free?: Promise<void> | undefined;
  /** As in `LeftCall`. */
  readonly term?: number | undefined;
}

export interface HandoverParts {
  readonly dataDir: string;
  readonly nodeId: string;
  readonly desk: CallDirectory;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long calls may take to go to the next process, in milliseconds. */
  readonly timeoutMs: number;
  status(): Omit<ProcessStatus, 'state'>;
  /** Begins to drain the server. Returns how long that takes at most, in milliseconds: an earlier drain may end sooner. */
  drain(timeoutMs: number): number;
  /** The server hands its calls to other nodes of its cluster, and to no process of this machine. */
  readonly isClustered: boolean;
  /** True once the server is to end, whatever becomes of the other process. */
  isLeaving(): boolean;
  /** Takes a call up that another process has let go. Rejects for one that the store does not know. */
  takeUp(callId: string, call: GivenCall, about: ComingAbout): Promise<void>;
  /** True for a call that the store does not know. */
  isNew(callId: string): Promise<boolean>;
  /** Hears what happens in the calls that are still at the process before this one, once it is stored. */
  hear(fact: CallEvent): void;
  /** Takes up, or ends, what another process has left as it died. */
  takeOver(): Promise<void>;
  /** Everything is at the next process. */
  done(): void;
}

export class Handover {
  readonly #parts: HandoverParts;
  readonly #store: LentStore;
  #predecessor: Predecessor | undefined;
  #successor: Successor | undefined;
  #control: PrivateSocket | undefined;
  #takingBack: Promise<void> | undefined;
  #isClosed = false;

  constructor(parts: HandoverParts, store: LentStore, predecessor: Predecessor | undefined) {
    this.#parts = parts;
    this.#store = store;
    this.#predecessor = predecessor;
  }

  /** Has the server of the folder, if there is one, give its store away. @throws ConfigError when it does not */
  static async findPredecessor({
    dataDir,
    nodeId,
    clock,
    logger,
  }: Pick<HandoverParts, 'dataDir' | 'nodeId' | 'clock' | 'logger'>): Promise<Predecessor | undefined> {
    const { found, silent } = await findProcesses(dataDir, { timeoutMs: FIND_MS });
    const serving = found.find(({ status }) => status.state === 'serving') ?? found.at(-1);
    for (const each of found) if (each !== serving) each.peer.close();
    if (serving === undefined && silent > 0)
      throw new ConfigError(
        'CONFIG_CONFLICT',
        'The server that has the calls does not answer: it stands still, or the machine is too busy. Try again, or end that process.',
      );
    if (serving === undefined) return undefined;
    const { path } = controlSocket(dataDir, nodeId);
    return Predecessor.ask(serving.peer, { path, clock, logger });
  }

  get neighbor(): Neighbor | undefined {
    return this.#successor?.takesNew === true ? this.#successor : this.#predecessor;
  }

  get isHandingOver(): boolean {
    return this.#successor?.takesNew === true;
  }

  /** Facts of a call here that are on no disk yet, in order. */
  unstored(callId: string): readonly CallEvent[] {
    return this.#store.pendingOf(callId);
  }

  /** Commands on the calls of this process, and on those of the other one. */
  get controls(): CallControls {
    const { desk } = this.#parts;
    const isOwn = (callId: string) => desk.isLive(callId) || desk.hasEnded(callId);
    const other = () => this.#predecessor ?? (this.isHandingOver ? this.#successor : undefined);
    return controlsOver(desk, { isOwn, other });
  }

  /** This process listens. Without a socket it has no successor. @throws ConfigError where it takes calls over and has none */
  async open(server: PhoneServer): Promise<void> {
    const { dataDir, nodeId, logger } = this.#parts;
    try {
      this.#control = await openControl({ dataDir, nodeId, handlers: this.#handlers(), server, logger });
    } catch (error) {
      if (this.#predecessor !== undefined) throw error;
      logger.warn(
        describeError(error),
        'no control socket: offhook status and the next process will not find this server',
      );
    }
    await this.#predecessor?.ready({
      taken: (callId, call, free) => this.#parts.takeUp(callId, call, { isStreamThere: true, free }),
      isNew: (callId) => this.#parts.isNew(callId),
      done: () => void this.#left(),
      died: () => void this.#inherit(),
    });
  }

  /** The last facts go to the next process. */
  async finish(): Promise<void> {
    const successor = this.#successor;
    if (successor?.takesNew === true) await successor.finish();
    else if (successor !== undefined) {
      // It has not begun: what happened since is for the disk.
      successor.giveUp();
      void this.#takeBack();
    }
    // What this process has of it, it leaves to nobody.
    await within(this.#parts.clock, GIVE_UP_MS, this.#takingBack ?? Promise.resolve());
  }

  /** The store is closed. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await within(this.#parts.clock, GIVE_UP_MS, this.#takingBack ?? Promise.resolve());
    this.#predecessor?.close();
    await this.#successor?.close();
    await this.#control?.close();
  }

  #handlers() {
    const { desk } = this.#parts;
    return {
      'GET /status': async () => this.#status,
      'POST /drain': async (options: object) => ({
        timeoutSeconds: Math.round(this.#parts.drain(checkDrainOptions(options)) / 1000),
      }),
      'POST /successor': async ({ path }: { path?: unknown }, { response }: { response: ServerResponse }) => {
        await this.#lend(String(path), response);
        return 'open' as const;
      },
      'POST /successor/ready': async () => {
        if (this.#successor === undefined)
          throw new RequestError('REQUEST_CONFLICT', 'This server goes on by itself.');
        this.#successor.ready();
        return {};
      },
      'POST /facts': async ({ facts }: { facts?: unknown }): Promise<FactsTaken> => {
        const deletions: Promise<string | undefined>[] = [];
        const outranked = new Map<string, Outranking>();
        for (const fact of facts as readonly CallEvent[]) {
          // Its files take their time, and nothing comes behind it that is of the call.
          if (fact.type === 'call.forgotten') deletions.push(this.#delete(fact));
          else await this.#take(fact);
          const above = await this.#above(fact);
          if (above !== undefined) outranked.set(fact.callId, above);
        }
        const undeleted = await Promise.all(deletions);
        return {
          undeleted: undeleted.filter((callId) => callId !== undefined),
          outranked: [...outranked.values()],
        };
      },
      'POST /calls/{callId}': async (body: object, { callId }: { callId: string }) => {
        // It comes again where the answer was lost.
        if (!desk.isLive(callId) && !desk.hasEnded(callId)) {
          const free = this.#predecessor?.kept(callId);
          await this.#parts.takeUp(callId, toGivenCall(body), { isStreamThere: false, free });
        }
        return {};
      },
      'POST /calls/{callId}/refused': async (body: object, { callId }: { callId: string }) => {
        await this.#successor?.refused(callId, toGivenCall(body));
        return {};
      },
      'POST /calls/{callId}/claim': async (_body: object, { callId }: { callId: string }) => {
        const call = this.#successor?.claim(callId);
        if (call === undefined) throw new NotFoundError('No such call.');
        if (call === 'here') throw new RequestError('REQUEST_CONFLICT', 'The call stays here for now.');
        return call === 'over' ? { isOver: true } : call;
      },
      'POST /calls/{callId}/kept': async (_body: object, { callId }: { callId: string }) => {
        await this.#successor?.kept(callId);
        return {};
      },
      'POST /calls/{callId}/command': async (command: object, { callId }: { callId: string }) =>
        carryOut(desk, callId, command as RemoteCommand),
    };
  }

  get #status(): ProcessStatus {
    const { desk, status } = this.#parts;
    const stopping = desk.isDraining ? 'draining' : 'serving';
    return { ...status(), state: this.isHandingOver ? 'handing-over' : stopping };
  }

  async #lend(path: string, lifeline: ServerResponse): Promise<void> {
    const { desk, clock, logger, timeoutMs, done, isLeaving, isClustered } = this.#parts;
    if (isClustered)
      throw new RequestError(
        'REQUEST_CONFLICT',
        'This server is a node of a cluster: drain it, and start the next one with the same cluster.',
      );
    const isBusy = isLeaving() || desk.isDraining || this.#takingBack !== undefined;
    if (isBusy || this.#successor !== undefined || this.#predecessor !== undefined) {
      throw new RequestError(
        'REQUEST_CONFLICT',
        'This server is stopping, or another handover is under way.',
      );
    }
    const successor = new Successor(
      { path, desk, clock, logger, timeoutMs },
      {
        ready: () => desk.drain(),
        done,
        refused: (callId, call, free) => this.#goOn(callId, call, free),
        died: () => void this.#inherit(),
      },
    );
    this.#successor = successor;
    try {
      await this.#store.lend(successor.relay);
    } catch (error) {
      void this.#inherit();
      throw error;
    }
    successor.begin(lifeline);
  }

  /** The next process cannot have a call that it was given. */
  async #goOn(callId: string, call: GivenCall, free: Promise<void> | undefined): Promise<void> {
    const { logger, takeUp } = this.#parts;
    logger.error({ callId }, 'the next process cannot take the call: it goes on here');
    try {
      await takeUp(callId, call, { isStreamThere: false, free });
    } catch (error) {
      logger.error({ callId, ...describeError(error) }, 'the call could not be taken up again');
    }
  }

  /** The process before is gone, and this one is alone. Should it have left a call after all, that is gone on with. */
  async #left(): Promise<void> {
    this.#predecessor = undefined;
    this.#parts.logger.info({}, 'the process before this one has handed over all its calls');
    await this.#takeOver();
  }

  /** The other process died: what it had is this one's. */
  async #inherit(): Promise<void> {
    const { desk, logger, isLeaving } = this.#parts;
    if (isLeaving() && this.#predecessor !== undefined) return;
    logger.warn({}, 'the other process is gone: its calls go on here');
    const successor = this.#successor;
    this.#predecessor = undefined;
    this.#successor = undefined;
    if (successor?.takesNew === true && !isLeaving()) desk.drain(false);
    if (successor !== undefined) {
      await this.#takeBack();
      // The files are read next. It may have died with a call whose state is still on its way to the disk.
      await within(this.#parts.clock, KEPT_MS, successor.kept());
    }
    if (!isLeaving()) await this.#takeOver();
  }

  async #takeOver(): Promise<void> {
    const { logger, takeOver } = this.#parts;
    try {
      await takeOver();
    } catch (error) {
      logger.error(describeError(error), 'the calls of the other process were not taken over');
    }
  }

  /** The lock of the other process ends with it, which may take a moment. Until then facts are kept for the disk. Never rejects. */
  #takeBack(): Promise<void> {
    this.#takingBack ??= this.#tryToTakeBack().finally(() => {
      this.#takingBack = undefined;
    });
    return this.#takingBack;
  }

  async #tryToTakeBack(): Promise<void> {
    const { clock, logger } = this.#parts;
    for (let tries = 1; !this.#isClosed; tries += 1) {
      try {
        await this.#store.takeBack();
        break;
      } catch (error) {
        if (tries === COMPLAIN_AFTER)
          logger.error(describeError(error), 'the store cannot be had back: it is tried again');
        await pause(clock, LOOK_MS);
      }
    }
  }

  /** A fact that cannot be stored is left out: the others wait for it. */
  async #take(fact: CallEvent): Promise<void> {
    try {
      await this.#store.append(fact);
      this.#parts.hear(fact);
    } catch (error) {
      this.#parts.logger.error({ callId: fact.callId, ...describeError(error) }, 'event not stored');
    }
  }

  /** What makes a fact one of a process that has lost its call, and does not know. Undefined where it has not. Never rejects. */
  async #above({ callId, nodeId, term }: CallEvent): Promise<Outranking | undefined> {
    try {
      const record = await this.#store.get(callId);
      const isOthers = record !== undefined && record.nodeId !== nodeId && termOf(record) > term;
      if (isOthers) return { callId, nodeId: record.nodeId, term: termOf(record), type: 'call.status' };
      if (record !== undefined) return undefined;
      const deletions = await this.#store.forgotten();
      return deletions.find((each) => each.callId === callId && each.nodeId !== nodeId);
    } catch {
      return undefined;
    }
  }

  /** The other process has deleted a call. Resolves to its id where its data is still on disk. Never rejects. */
  async #delete(fact: CallEvent): Promise<string | undefined> {
    const { callId } = fact;
    const { hear, logger } = this.#parts;
    const deleted = this.#store.append(fact);
    hear(fact);
    try {
      await deleted;
      return undefined;
    } catch (error) {
      logger.error({ callId, ...describeError(error) }, 'a deleted call is still on disk');
      return callId;
    }
  }
}

/** Who sends it has made it: a process of the same user. */
function toGivenCall(body: object): GivenCall {
  const { state = '', facts = [] } = body as Partial<GivenCall>;
  return { state, facts };
}
