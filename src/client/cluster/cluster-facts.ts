// The facts of all nodes: tells the broker those of this one, in order, and hears those of the others, each once.
import type { Clock } from '../../base/clock.js';
import { pause } from '../../base/pause.js';
import { Rounds, type Wait } from '../../base/rounds.js';
import { type Coordinator, GATHER_MS, type HearFact } from '../../cluster/coordinator.js';
import type { CallEvent, FactPlace } from '../../contract/call-event.js';
import { isNewer, TAKEN_BACK, TAKEN_BACK_AT_END } from '../../events/reduce.js';
import { WaitingFacts } from './waiting-facts.js';

/** Facts in one message to the broker. */
const BATCH = 500;
const RETRY_MS = 250;
/** What a broker has had for so long, every node has heard. */
const HEARD_BY_ALL_MS = 30_000;
/** A fact that came before says nothing of how late they come now. */
const LATELY_MS = 5000;
/** Facts that wait for a broker that is away: the oldest ones leave first. */
const MAX_WAITING = 50_000;
/** Facts of calls that have ended here lately, for nodes that have missed them: the call that ended first leaves first. */
const MAX_ENDED_FACTS = 20_000;
/** Calls of which the last fact is remembered. */
const MAX_CALLS = 20_000;
/** Whoever may have to go on with a call has to know of these. */
const TURNING_POINTS: ReadonlySet<CallEvent['type']> = new Set(['call.status', 'call.started', 'call.ended']);

export interface ClusterFactsParts {
  readonly nodeId: string;
  readonly clock: Clock;
  /** A fact of another node, for the first time. `toldAt`: as in `HearFact`; undefined for one that did not come by the broker. */
  hear(fact: CallEvent, toldAt: number | undefined): void;
  /** What was stated of a call between the last fact that was heard, if one was, and this one. Never rejects. @default nothing */
  between?(last: FactPlace | undefined, fact: CallEvent): Promise<readonly CallEvent[]>;
  /** Facts may have been missed, of whatever call. @default nobody minds */
  missed?(): void;
  /** These calls have begun, moved or ended here, and the broker does not take that. @default nobody minds */
  untold?(callIds: readonly string[]): void;
}

export class ClusterFacts {
  readonly #parts: ClusterFactsParts;
  readonly #rounds: Rounds;
  #coordinator: Coordinator | undefined;
  /** In order: those that the broker may not have. */
  readonly #waiting = new WaitingFacts();
  /** Those that it has, with when that was, on the clock. */
  #told: { readonly fact: CallEvent; readonly at: number }[] = [];
  #telling: Promise<void> | undefined;
  /** Set while facts wait for others. */
  #gathering: Wait | undefined;
  /** Somebody waits for what is told next. */
  #isUrgent = false;
  /** The broker may have lost what it had. */
  #isDoubtful = false;
  #isClosed = false;
  /** The broker did not take what it was told last. */
  #isBrokerDeaf = false;
  #retries = 0;
  /** The last fact that the broker told: when it came, on the clock, and how old it was then, in milliseconds. */
  #heard = { at: Number.NEGATIVE_INFINITY, lateMs: 0 };
  /** Of each call, whoever has stated it. */
  readonly #last = new Map<string, FactPlace>();
  /** Of calls that are up here: what another node needs that has not heard it. */
  readonly #logs = new Map<string, CallEvent[]>();
  /** The same of calls that have ended here. */
  readonly #ended = new Map<string, CallEvent[]>();
  #endedFacts = 0;
  /** Facts that wait for those before them, by call. */
  readonly #behindGap = new Map<string, Parameters<HearFact>[]>();

  constructor(parts: ClusterFactsParts) {
    this.#parts = parts;
    this.#rounds = new Rounds(parts.clock, GATHER_MS);
  }

  start(coordinator: Coordinator): void {
    this.#coordinator = coordinator;
    coordinator.tail(
      (fact, toldAt) => {
        this.#heard = { at: this.#parts.clock.now(), lateMs: Math.max(0, coordinator.time.now() - toldAt) };
        this.#hearInOrder(fact, toldAt);
      },
      () => this.#parts.missed?.(),
    );
    this.#pump();
  }

  /** A fact that was stated here. */
  tell(fact: CallEvent): void {
    this.#isNews(fact);
    this.#keep(fact);
    // Should this node die now, nobody is to end the call again.
    if (fact.type === 'call.ended') this.#hurry();
    this.tellFor(fact);
    if (this.#isBrokerDeaf) this.#sayUntold([fact]);
  }

  /** Facts that another node has stated, and the broker may not have. */
  tellFor(...facts: readonly CallEvent[]): void {
    for (const fact of facts) this.#waiting.add(fact);
    for (const oldest of this.#waiting.first(this.#waiting.size - MAX_WAITING)) this.#waiting.delete(oldest);
    this.#pump();
  }

  /** A fact that may be of another node, and may have been heard before. */
  take(fact: CallEvent, toldAt?: number): void {
    if (fact.nodeId === this.#parts.nodeId || !this.#isNews(fact)) return;
    const own = this.#logs.get(fact.callId)?.at(-1);
    // It rang here, and another node has taken it up.
    if (own !== undefined && own.term < fact.term) this.leave(fact.callId);
    this.#parts.hear(fact, toldAt);
  }

  /** How many the broker may not have. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** How often facts were told to the broker again. */
  get retries(): number {
    return this.#retries;
  }

  /** As in `ClusterStanding`. */
  get lateMs(): number {
    const coordinator = this.#coordinator;
    if (coordinator === undefined) return 0;
    const { at, lateMs } = this.#heard;
    const isLate = this.#parts.clock.now() - at < LATELY_MS;
    let mostMs = Math.max(isLate ? lateMs : 0, coordinator.behindMs);
    const now = coordinator.time.now();
    for (const [first] of this.#behindGap.values()) mostMs = Math.max(mostMs, now - (first?.[1] ?? now));
    return mostMs;
  }

  /** Facts of a call that the broker may not have, in order. */
  unheard(callId: string): CallEvent[] {
    return this.#waiting.of(callId);
  }

  /** All that is known here of a call that is up, but for half sentences that everybody has heard. */
  logOf(callId: string): readonly CallEvent[] {
    return this.#logs.get(callId) ?? [];
  }

  /** The same, also of a call that has ended here lately; undefined where this node has none of it. */
  newsOf(callId: string): readonly CallEvent[] | undefined {
    return this.#logs.get(callId) ?? this.#ended.get(callId);
  }

  /** The call has ended here lately. */
  hasEnded(callId: string): boolean {
    return this.#ended.has(callId);
  }

  /**
   * Tells the last facts of a call again, in a higher term: nodes may have heard those of another one in their place. Fewer than a record can take back. Returns
   * them.
   */
  restate(callId: string, term: number): readonly CallEvent[] {
    const { nodeId } = this.#parts;
    const log = this.#logs.get(callId) ?? this.#ended.get(callId) ?? [];
    const most = this.#logs.has(callId) ? TAKEN_BACK : TAKEN_BACK_AT_END;
    // A record that knows none in front of the first one takes nothing back, and those of the other node may be more.
    const from = log.length - Math.ceil((3 * most) / 4);
    // Whatever came behind the end, the end is among them.
    const end = log.findLastIndex(({ type }) => type === 'call.ended');
    const last = log.splice(Math.max(1, end === -1 ? from : Math.min(from, end)));
    const again = last.map((fact) => ({ ...fact, nodeId, term }));
    log.push(...again);
    for (const fact of again) this.#isNews(fact);
    this.tellFor(...again);
    return again;
  }

  /** The call is up here from now on, and goes on behind these. */
  adopt(callId: string, facts: readonly CallEvent[]): void {
    this.#logs.set(callId, [...facts]);
  }

  /** The call is not up here any more. */
  leave(callId: string): void {
    this.#logs.delete(callId);
  }

  /** The broker may have lost what it had: is told it again, unless it was already. */
  tellAgain(): void {
    this.#isDoubtful = true;
    this.#pump();
  }

  /** Resolves when the broker has everything so far, or is away. */
  async flushed(): Promise<void> {
    if (this.#telling !== undefined) this.#hurry();
    await this.#telling;
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
  }

  /** Whoever was away, or lacks what another node gave up while the broker was, asks before it goes on. */
  #hearInOrder(fact: CallEvent, toldAt: number): void {
    const { callId, seq, type } = fact;
    const behindGap = this.#behindGap.get(callId);
    if (behindGap !== undefined) {
      behindGap.push([fact, toldAt]);
      return;
    }
    const last = this.#last.get(callId);
    const isOwn = fact.nodeId === this.#parts.nodeId || this.#logs.has(callId);
    const isNext = type === 'call.forgotten' || seq <= (last?.seq ?? 0) + 1;
    const isOld = last !== undefined && !isNewer(fact, last);
    if (isOwn || isNext || isOld || this.#parts.between === undefined) this.take(fact, toldAt);
    else void this.#fill(last, [fact, toldAt], this.#parts.between);
  }

  async #fill(
    last: FactPlace | undefined,
    [fact, toldAt]: Parameters<HearFact>,
    between: NonNullable<ClusterFactsParts['between']>,
  ): Promise<void> {
    const behindGap: Parameters<HearFact>[] = [[fact, toldAt]];
    this.#behindGap.set(fact.callId, behindGap);
    const missed = await between(last, fact);
    this.#behindGap.delete(fact.callId);
    for (const each of missed) this.take(each);
    for (const each of behindGap) this.take(...each);
  }

  #keep(fact: CallEvent): void {
    const { callId, type } = fact;
    const ended = this.#ended.get(callId);
    if (type === 'call.forgotten') this.#forgetEnded(callId);
    else if (ended !== undefined) {
      ended.push(fact);
      this.#endedFacts += 1;
    } else if (type === 'call.ended') this.#keepEnded(callId, [...(this.#logs.get(callId) ?? []), fact]);
    if (type === 'call.ended' || type === 'call.forgotten') this.#logs.delete(callId);
    let log = this.#logs.get(callId) ?? (type === 'call.status' || type === 'call.started' ? [] : undefined);
    if (log === undefined || type === 'call.ended') return;
    if (type === 'transcript.segment' && fact.entry.final) log = this.#needed(log, fact.at);
    log.push(fact);
    this.#logs.set(callId, log);
  }

  /** Without half sentences that every node has heard. */
  #needed(log: readonly CallEvent[], at: number): CallEvent[] {
    return log.filter((fact) => {
      const isPartial = fact.type === 'transcript.segment' && !fact.entry.final;
      return !isPartial || fact.at > at - HEARD_BY_ALL_MS || this.#waiting.has(fact);
    });
  }

  #keepEnded(callId: string, facts: CallEvent[]): void {
    this.#ended.set(callId, facts);
    this.#endedFacts += facts.length;
    for (const oldest of this.#ended.keys()) {
      if (this.#endedFacts <= MAX_ENDED_FACTS || oldest === callId) break;
      this.#forgetEnded(oldest);
    }
  }

  #forgetEnded(callId: string): void {
    this.#endedFacts -= this.#ended.get(callId)?.length ?? 0;
    this.#ended.delete(callId);
  }

  #isNews({ callId, term, seq }: CallEvent): boolean {
    const last = this.#last.get(callId);
    if (last !== undefined && !isNewer({ term, seq }, last)) return false;
    this.#last.delete(callId);
    this.#last.set(callId, { term, seq });
    const [oldest] = this.#last.keys();
    if (this.#last.size > MAX_CALLS && oldest !== undefined) this.#last.delete(oldest);
    return true;
  }

  #sayUntold(facts: readonly CallEvent[]): void {
    const callIds = facts.filter(({ type }) => TURNING_POINTS.has(type)).map(({ callId }) => callId);
    if (callIds.length > 0) this.#parts.untold?.([...new Set(callIds)]);
  }

  #pump(): void {
    if (this.#coordinator === undefined || this.#isClosed || !this.#hasNews) return;
    this.#telling ??= this.#tellAll(this.#coordinator).finally(() => {
      this.#telling = undefined;
      // What was told as it came to its end waits for nobody else.
      this.#pump();
    });
  }

  get #hasNews(): boolean {
    return this.#waiting.size > 0 || this.#isDoubtful;
  }

  /**
   * What the broker has lost, in order: all of the calls that are up here, all of those that have ended here of which something was told lately, and what was told of
   * others then. Not of a call that another node has by now: that one tells it, and a beginning without the rest would be taken for a call that is up.
   */
  #lost(): CallEvent[] {
    const told = this.#told.splice(0).map(({ fact }) => fact);
    const isOurs = ({ callId, term }: CallEvent) =>
      this.#logs.has(callId) || term >= (this.#last.get(callId)?.term ?? 0);
    const ended = [...new Set(told.map(({ callId }) => callId))].map(
      (callId) => this.#ended.get(callId) ?? [],
    );
    const facts = new Map<string, CallEvent>();
    for (const fact of [...this.#logs.values(), ...ended, told.filter(isOurs)].flat())
      facts.set(placeOf(fact), fact);
    for (const fact of this.#waiting.first(this.#waiting.size)) facts.delete(placeOf(fact));
    return [...facts.values()].toSorted((one, other) => one.term - other.term || one.seq - other.seq);
  }

  async #gather(): Promise<void> {
    if (this.#isUrgent) return;
    this.#gathering = this.#rounds.next();
    await this.#gathering.over;
    this.#gathering = undefined;
  }

  #hurry(): void {
    this.#isUrgent = true;
    this.#gathering?.end();
  }

  async #tellAll(coordinator: Coordinator): Promise<void> {
    const { clock } = this.#parts;
    while (this.#hasNews && !this.#isClosed) {
      await this.#gather();
      if (this.#isClosed) break;
      const batch = this.#waiting.first(BATCH);
      const [wasDoubtful, wasUrgent] = [this.#isDoubtful, this.#isUrgent];
      // What becomes urgent while this is on its way is not in it.
      this.#isUrgent = false;
      this.#isDoubtful = false;
      try {
        if (!(await coordinator.append(batch))) {
          // Whoever reads the log from its beginning takes nothing that stands behind what is newer.
          this.#retries += 1;
          this.#isUrgent ||= wasUrgent;
          this.#waiting.addBefore(this.#lost());
          continue;
        }
      } catch {
        this.#retries += 1;
        this.#isUrgent ||= wasUrgent;
        this.#isDoubtful ||= wasDoubtful;
        if (!this.#isBrokerDeaf) this.#sayUntold(this.#waiting.first(this.#waiting.size));
        this.#isBrokerDeaf = true;
        await pause(clock, RETRY_MS);
        continue;
      }
      this.#isBrokerDeaf = false;
      const at = clock.now();
      for (const fact of batch) {
        this.#waiting.delete(fact);
        this.#told.push({ fact, at });
      }
      const kept = this.#told.findIndex((each) => at - each.at < HEARD_BY_ALL_MS);
      this.#told.splice(0, kept === -1 ? this.#told.length : kept);
    }
  }
}

function placeOf({ callId, term, seq }: CallEvent): string {
  return `${callId} ${term} ${seq}`;
}
