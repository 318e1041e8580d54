// Every call that this process knows, by our ID and the carrier's: which state it is in, whether it holds a place, and how its webhooks were answered.
import type { Clock } from '../base/clock.js';
import type { CallEvent } from '../contract/call-event.js';
import type { KeptReply, WaitingCall } from './call-desk.js';
import type { ChosenAgent } from './choice/call-choice.js';
import type { ChoosingCall } from './choice/choosing-call.js';
import type { CallSession } from './call-session.js';
import type { EndReport } from './ending/brief-call.js';
import type { EndedCall } from './ending/ended-call.js';
import { RecentIds } from './facts/recent-ids.js';
import { TimedMap } from './facts/timed-map.js';
import type { PreparedCall } from './voice/prepared-call.js';

/** Carriers repeat webhooks for minutes, not hours. */
const HOURS_MS = 2 * 60 * 60_000;

const LIMITS = {
  /** A carrier opens the stream within a second or two. Who has not by then has gone, and the place is free again. */
  expected: { keepMs: 10_000, maxEntries: 10_000 },
  /** Calls that were announced or invited, and have no session. */
  waiting: { keepMs: 10 * 60_000, maxEntries: 10_000 },
  /** Calls whose late facts are taken: as many as a store keeps. */
  ended: { keepMs: HOURS_MS, maxEntries: 500 },
  /** As long as those that have ended here. */
  endedElsewhere: { keepMs: HOURS_MS, maxEntries: 10_000 },
  /** IDs of calls of which only this is known, that they are over. */
  endedIds: { keepMs: HOURS_MS, maxIds: 50_000 },
};

/** A call that was told to open a stream, and what is ready for it. */
export type InvitedCall = WaitingCall & {
  readonly prepared: PreparedCall | undefined;
  /** Undefined for the server's own agent. */
  readonly chosen: ChosenAgent | undefined;
  /** In which its facts are stated, where another process has invited it. @default the first */
  readonly term?: number | undefined;
};

/** What is known of a call. */
export type KnownCall =
  /** The carrier has spoken of it, perhaps of its end, and it has not rung here. */
  | { readonly state: 'announced'; readonly end?: EndReport }
  /** It rings here, and the application decides what becomes of it. */
  | { readonly state: 'choosing'; readonly choosing: ChoosingCall }
  /** It was told to open a stream. Any process may get that, so there is no session. */
  | { readonly state: 'invited'; readonly call: InvitedCall }
  | { readonly state: 'live'; readonly session: CallSession }
  | { readonly state: 'ended'; readonly call: EndedCall };

interface CallEntry {
  known: KnownCall;
  readonly ids: string[];
  /** By delivery. */
  replies?: Map<string, KeptReply>;
}

export class CallRegistry {
  readonly #byId = new Map<string, CallEntry>();
  readonly #live = new Set<CallSession>();
  /** Announced, invited, and those that are decided on. */
  readonly #waiting: TimedMap<CallEntry, object>;
  readonly #ended: TimedMap<CallEntry, EndedCall>;
  readonly #endedIds: RecentIds;
  /** Calls that another process has ended, by our ID: in which term. */
  readonly #endedElsewhere: TimedMap<string, number>;
  /** Calls without a session that count toward `maxCalls`. */
  readonly #expected: TimedMap<CallEntry, object>;
  /** Live ones that do. */
  readonly #placed = new Set<CallSession>();

  constructor(clock: Clock, limits = LIMITS) {
    const forgotten = (entry: CallEntry) => this.#leave(entry);
    this.#expected = new TimedMap(clock, limits.expected);
    this.#waiting = new TimedMap(clock, { ...limits.waiting, forgotten });
    const isNeeded = ({ isTakingLeave }: EndedCall) => isTakingLeave;
    this.#ended = new TimedMap(clock, { ...limits.ended, isNeeded, forgotten });
    this.#endedElsewhere = new TimedMap(clock, limits.endedElsewhere);
    this.#endedIds = new RecentIds(clock, limits.endedIds);
  }

  get liveCount(): number {
    return this.#live.size;
  }

  get takenPlaces(): number {
    return this.#placed.size + this.#expected.size;
  }

  /** Calls that hold a place, and have no session yet. */
  get expectedCount(): number {
    return this.#expected.size;
  }

  sessions(): CallSession[] {
    return [...this.#live];
  }

  /** Undefined also for a call of which only this is known, that it is over. */
  find(id: string | null): KnownCall | undefined {
    return this.#entry(id)?.known;
  }

  session(id: string | null): CallSession | undefined {
    const known = this.find(id);
    return known?.state === 'live' ? known.session : undefined;
  }

  ended(id: string | null): EndedCall | undefined {
    const known = this.find(id);
    return known?.state === 'ended' ? known.call : undefined;
  }

  hasEnded(id: string): boolean {
    return this.#endedIds.has(id) || this.ended(id) !== undefined;
  }

  /** Also for another process, as far as this one has heard. */
  isOver(callId: string): boolean {
    if (this.hasEnded(callId)) return true;
    return this.session(callId) === undefined && this.#endedElsewhere.get(callId) !== undefined;
  }

  /** What another process states of a call. One that only it took for over goes on in a higher term. */
  heardElsewhere({ callId, term, type }: Pick<CallEvent, 'callId' | 'term' | 'type'>): void {
    if (type === 'call.ended') this.#endedElsewhere.set(callId, term);
    else if (term > (this.#endedElsewhere.get(callId) ?? term)) this.#endedElsewhere.delete(callId);
  }

  holdsPlace(id: string): boolean {
    const entry = this.#entry(id);
    if (entry?.known.state === 'live') return this.#placed.has(entry.known.session);
    return entry !== undefined && this.#expected.get(entry) !== undefined;
  }

  /** How deliveries about the call were answered. A call that is not known is announced by that. */
  repliesTo(carrierCallId: string): Map<string, KeptReply> {
    const entry = this.#entry(carrierCallId) ?? this.#enter({ state: 'announced' }, carrierCallId);
    entry.replies ??= new Map();
    return entry.replies;
  }

  /** The call is over, and has not rung here. */
  announce(end: EndReport): void {
    this.#enter({ state: 'announced', end }, end.carrierCallId);
  }

  /** `holdsPlace`: for ten seconds. */
  choose(choosing: ChoosingCall, { holdsPlace }: { holdsPlace: boolean }): void {
    const { callId, carrierCallId } = choosing.call;
    const entry = this.#enter({ state: 'choosing', choosing }, callId, carrierCallId);
    if (holdsPlace) this.#expected.set(entry, choosing);
  }

  /** `holdsPlace`: until its stream comes, or for ten seconds. */
  invite(call: InvitedCall, { holdsPlace }: { holdsPlace: boolean }): void {
    const entry = this.#enter({ state: 'invited', call }, call.callId, call.carrierCallId);
    if (holdsPlace) this.#expected.set(entry, call);
  }

  open(session: CallSession, { holdsPlace }: { holdsPlace: boolean }): void {
    this.#enter({ state: 'live', session }, session.callId, session.carrierCallId);
    if (holdsPlace) this.takePlace(session);
  }

  /** The live call counts toward `maxCalls` from now on. */
  takePlace(session: CallSession): void {
    this.#placed.add(session);
  }

  /** Books the carrier's ID for a live call. False when another live call has it. */
  claim(carrierCallId: string, session: CallSession): boolean {
    const holder = this.session(carrierCallId);
    if (holder !== undefined) return holder === session;
    const entry = this.#entry(session.callId);
    if (entry !== undefined) this.#index(entry, carrierCallId);
    return true;
  }

  /** Another process has the call: here it is as if it had never been. */
  leave(session: CallSession): void {
    const entry = this.#entry(session.callId);
    if (entry?.known.state === 'live' && entry.known.session === session) this.#leave(entry);
  }

  /** Another process has a call that was invited here. */
  leaveInvited(callId: string): void {
    const entry = this.#entry(callId);
    if (entry?.known.state === 'invited') this.#leave(entry);
  }

  /** The call was deleted: of one that is over, only this is known from now on. */
  forgetEnded(callId: string): void {
    const entry = this.#entry(callId);
    if (entry?.known.state === 'ended') this.#leave(entry);
  }

  /** It is another process's after all: its messages are not for this one. */
  leaveEnded(callId: string): void {
    const { carrierCallId } = this.ended(callId) ?? {};
    this.forgetEnded(callId);
    this.#endedIds.delete(callId);
    if (carrierCallId != null) this.#endedIds.delete(carrierCallId);
  }

  /** To be called again when the carrier's ID of the call becomes known. */
  end(call: EndedCall): void {
    const { callId, carrierCallId } = call;
    this.#enter({ state: 'ended', call }, callId, carrierCallId);
    this.#endedIds.add(callId);
    if (carrierCallId !== null) this.#endedIds.add(carrierCallId);
  }

  #entry(id: string | null): CallEntry | undefined {
    const entry = id === null ? undefined : this.#byId.get(id);
    if (entry === undefined || entry.known.state === 'live') return entry;
    return this.#waiting.get(entry) === undefined && this.#ended.get(entry) === undefined ? undefined : entry;
  }

  /** The one way into a state. Nothing takes an ID from another live call. */
  #enter(known: KnownCall, callId: string, carrierCallId: string | null = null): CallEntry {
    const isFree = (id: string | null): id is string => id !== null && this.session(id) === undefined;
    const announced = isFree(carrierCallId) ? this.#byId.get(carrierCallId) : undefined;
    const entry = this.#byId.get(callId) ?? announced ?? { known, ids: [] };
    this.#leave(entry);
    entry.known = known;
    for (const id of [callId, carrierCallId].filter(isFree)) this.#index(entry, id);
    if (known.state === 'live') this.#live.add(known.session);
    else if (known.state === 'ended') this.#ended.set(entry, known.call);
    else this.#waiting.set(entry, known);
    return entry;
  }

  #leave(entry: CallEntry): void {
    const { known, ids } = entry;
    for (const id of ids.splice(0)) if (this.#byId.get(id) === entry) this.#byId.delete(id);
    if (known.state === 'live') {
      this.#live.delete(known.session);
      this.#placed.delete(known.session);
    }
    for (const queue of [this.#waiting, this.#expected, this.#ended]) queue.delete(entry);
  }

  #index(entry: CallEntry, id: string): void {
    this.#byId.set(id, entry);
    entry.ids.push(id);
  }
}
