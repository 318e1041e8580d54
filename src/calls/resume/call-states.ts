// Keeps what another process needs to go on with each live call, as it changes. No call waits for it but before it does something outside.
import type { Clock } from '../../base/clock.js';
import { within } from '../../base/pause.js';
import type { Rounds, Wait } from '../../base/rounds.js';
import type { CallEvent } from '../../contract/call-event.js';
import type { EventBus } from '../../events/bus.js';
import { type CallState, encodeState } from './call-state.js';

/** Where it is kept: the newest text of each call. No method rejects. */
export interface StateStore {
  /** False while it can take nothing: nothing is encoded for it. Whoever has it says `changed` of every call once it can. @default true */
  readonly isTaking?: boolean;
  /** When states of all calls are written together, but for those that are waited for, the first of a call, and one in which something was said to its end. @default each at once */
  readonly rounds?: Rounds | undefined;
  write(callId: string, text: string): Promise<void>;
  remove(callId: string): Promise<void>;
}

/** Facts that are so old are in the store, which has them within 250 ms, or `unstored` has them. */
const STORED_AFTER_MS = 1000;
/** A disk that does not answer holds up nothing that a call does outside for longer. */
const LONGEST_WAIT_MS = 500;

interface Kept {
  /** Newest last. `since`: when it came here, on the clock. */
  facts: { readonly fact: CallEvent; readonly since: number }[];
  /** Resolves when no other process writes the file any more; undefined where none does. */
  readonly free: Promise<void> | undefined;
  /** Set while a write is to begin, or is under way. */
  writing: Promise<void> | undefined;
  /** Something has changed since the last write began. */
  isStale: boolean;
  /** It is not to wait for those of other calls. */
  isUrgent: boolean;
  /** Set while its write waits for those of other calls. */
  gathering: Wait | undefined;
  /** How many wait for it to be written. */
  waiters: number;
  isOver: boolean;
}

/** What another process goes on with. */
export interface HandedOver {
  /** As `encodeState` has made it. */
  readonly text: string;
  /** Resolves when it is kept, and this process writes nothing more of the call. Never rejects. */
  readonly kept: Promise<void>;
}

export interface CallStatesOptions {
  readonly store: StateStore;
  readonly bus: EventBus;
  readonly clock: Clock;
  /** Facts of a call that the store is yet to have, however old they are, in order. @default none */
  readonly unstored?: ((callId: string) => readonly CallEvent[]) | undefined;
  /** A live call as it stands, `facts` left out; undefined for one that is not live. */
  readonly stateOf: (callId: string) => Omit<CallState, 'facts'> | undefined;
}

export class CallStates {
  readonly #options: CallStatesOptions;
  readonly #kept = new Map<string, Kept>();
  /** Writes and removals under way. */
  readonly #open = new Set<Promise<void>>();

  constructor(options: CallStatesOptions) {
    this.#options = options;
    options.bus.subscribe((event) => this.#hear(event));
  }

  /**
   * Another process has kept the call: that goes with it, too. `facts`: those that the store has just been given. `free`: set where that process
   * lives, and may yet write what it has handed over.
   */
  adopt(
    callId: string,
    { facts = [], free }: { facts?: readonly CallEvent[] | undefined; free?: Promise<void> | undefined } = {},
  ): void {
    const since = this.#options.clock.now();
    const recent = facts.map((fact) => ({ fact, since }));
    const kept: Kept = {
      facts: recent,
      free,
      writing: undefined,
      isStale: false,
      isUrgent: true,
      gathering: undefined,
      waiters: 0,
      isOver: false,
    };
    this.#kept.set(callId, kept);
    // This process may die, too, before anything happens in the call.
    this.#write(callId, kept);
  }

  /** Something has changed that no fact tells. */
  changed(callId: string): void {
    const kept = this.#kept.get(callId);
    if (kept !== undefined && !kept.isOver) this.#write(callId, kept);
  }

  /** Resolves when the call is kept as it is now, or the disk takes too long over it. Never rejects. */
  async written(callId: string): Promise<void> {
    const kept = this.#kept.get(callId);
    if (kept === undefined || kept.isOver) return;
    this.#write(callId, kept);
    await within(this.#options.clock, LONGEST_WAIT_MS, this.#upToDate(kept));
  }

  /**
   * Another process keeps the call from now on. The caller does not wait for the disk: what that process goes on with is written beside the
   * answer, by this one, and nothing is written there before that is done. So one of them always has the newest state. If this process dies in
   * between, the other one has it in memory, and writes it then. If the other one dies, the file is there as soon as `kept` resolves, and
   * nobody may read it before. If both die, there is the file of the last change, as after any crash. Were it the other process that writes
   * first, an older write of this one that is still under way could come behind it.
   */
  handOver(callId: string, state: Omit<CallState, 'facts'>): HandedOver {
    const kept = this.#kept.get(callId);
    this.#kept.delete(callId);
    const text = encodeState({ ...state, facts: this.#factsOf(callId, kept) });
    const write = async () => {
      if (kept !== undefined) {
        kept.isOver = true;
        await this.#upToDate(kept);
      }
      await this.#options.store.write(callId, text);
    };
    return { text, kept: this.#track(write()) };
  }

  /** Another process has the call, and its file: this one writes nothing more. Of one that was deleted nobody has one, and what was written here goes. */
  leave(callId: string, { isForgotten }: { isForgotten: boolean }): void {
    const kept = this.#kept.get(callId);
    if (kept === undefined) return;
    if (isForgotten) this.#remove(callId);
    kept.isOver = true;
    this.#kept.delete(callId);
  }

  /** Resolves when everything that was begun is done. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  #hear(event: CallEvent): void {
    const { callId } = event;
    if (event.type === 'call.ended') {
      this.#remove(callId);
      return;
    }
    const kept = this.#kept.get(callId) ?? this.#begin(callId);
    if (kept === undefined || kept.isOver) return;
    const since = this.#options.clock.now();
    const recent = kept.facts.filter((each) => since - each.since < STORED_AFTER_MS);
    kept.facts = [...recent, { fact: event, since }];
    if (isMidSentence(event)) return;
    this.#write(callId, kept);
    // Whoever goes on with the call would not know that it was said.
    const isSaid = event.type === 'transcript.segment' && event.entry.final;
    if (isSaid || event.type === 'turn.completed') this.#hurry(kept);
  }

  /** Undefined for a call that is over: what still comes of it is in its record. */
  #begin(callId: string): Kept | undefined {
    if (this.#options.stateOf(callId) === undefined) return undefined;
    this.adopt(callId);
    return this.#kept.get(callId);
  }

  #write(callId: string, kept: Kept): void {
    kept.isStale = true;
    kept.writing ??= this.#track(this.#keepUp(callId, kept));
  }

  async #keepUp(callId: string, kept: Kept): Promise<void> {
    // Whoever states a fact is in the middle of what it follows from.
    await this.#nextTurn();
    await kept.free;
    while (kept.isStale && !kept.isOver) {
      await this.#gather(kept);
      if (kept.isOver) break;
      kept.isStale = false;
      kept.isUrgent = false;
      if (this.#options.store.isTaking === false) break;
      const state = this.#options.stateOf(callId);
      if (state === undefined) break;
      await this.#options.store.write(callId, encodeState({ ...state, facts: this.#factsOf(callId, kept) }));
    }
    kept.writing = undefined;
  }

  #hurry(kept: Kept): void {
    kept.isUrgent = true;
    kept.gathering?.end();
  }

  async #gather(kept: Kept): Promise<void> {
    const { rounds } = this.#options.store;
    if (rounds === undefined || kept.isUrgent || kept.waiters > 0) return;
    kept.gathering = rounds.next();
    await kept.gathering.over;
    kept.gathering = undefined;
  }

  /** In order. */
  #factsOf(callId: string, kept: Kept | undefined): CallEvent[] {
    const recent = kept?.facts.map(({ fact }) => fact) ?? [];
    const unstored = this.#options.unstored?.(callId) ?? [];
    return [...unstored.filter((fact) => !recent.includes(fact)), ...recent];
  }

  async #upToDate(kept: Kept): Promise<void> {
    kept.waiters += 1;
    this.#hurry(kept);
    while (kept.writing !== undefined) await kept.writing;
    kept.waiters -= 1;
  }

  #remove(callId: string): void {
    const kept = this.#kept.get(callId);
    if (kept === undefined) return;
    kept.isOver = true;
    this.#kept.delete(callId);
    void this.#track(this.#upToDate(kept).then(() => this.#options.store.remove(callId)));
  }

  #nextTurn(): Promise<void> {
    return new Promise((resolve) => void this.#options.clock.after(0, resolve));
  }

  #track(task: Promise<void>): Promise<void> {
    this.#open.add(task);
    void task.finally(() => this.#open.delete(task));
    return task;
  }
}

/** What the caller is in the middle of is not worth a write. The agent tells of each sentence as it begins: the one before was heard. */
function isMidSentence(event: CallEvent): boolean {
  if (event.type === 'phase.changed') return event.phase === 'hearing';
  return event.type === 'transcript.segment' && !event.entry.final && event.entry.role !== 'agent';
}
