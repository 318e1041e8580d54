// What a forwarder holds: the facts of active calls, and of ended ones as far as there is room. Bounded, whatever the dashboard does.
import type { CallEvent, FactPlace } from '../../contract/call-event.js';
import type { IngestPosition } from '../../contract/ingest.js';
import { termOf } from '../reduce.js';
import { CallLog, callKey, type KnownCall, lengthOf, WHOLE_CALL } from './call-log.js';

export interface BacklogBounds {
  events: number;
  /** Characters of JSON. */
  length: number;
  /** Calls, those counted of which nothing but the id is held. */
  calls: number;
}

const BOUNDS: BacklogBounds = { events: 100_000, length: 32 * 1024 * 1024, calls: 5000 };

/** A fact that fits into no batch, in characters of JSON: a character may be three bytes, and a batch has 1 MiB. */
const MAX_FACT_LENGTH = 300_000;

export class Backlog {
  readonly #bounds: BacklogBounds;
  /** True when the store can hand out facts again. */
  readonly #isStored: boolean;
  /** The one that had no fact the longest is first. */
  readonly #logs = new Map<string, CallLog>();
  #events = 0;
  #length = 0;
  #lost = 0;

  constructor(options: { isStored: boolean; bounds?: Partial<BacklogBounds> | undefined }) {
    this.#isStored = options.isStored;
    this.#bounds = { ...BOUNDS, ...options.bounds };
  }

  /** Facts that are held. */
  get size(): number {
    return this.#events;
  }

  /** Facts that were let go of and that no store has. */
  get lost(): number {
    return this.#lost;
  }

  get logs(): Iterable<CallLog> {
    return this.#logs.values();
  }

  has(call: KnownCall): boolean {
    return this.#logs.has(callKey(call));
  }

  find(call: KnownCall): CallLog | undefined {
    return this.#logs.get(callKey(call));
  }

  append(event: CallEvent): void {
    const length = lengthOf(event);
    if (length > MAX_FACT_LENGTH) {
      this.#lost += 1;
      return;
    }
    const log = this.find(event) ?? new CallLog(event, { term: termOf(event), seq: event.seq - 1 });
    this.#change(log, () => log.append(event, length));
    this.#logs.delete(log.key);
    this.#logs.set(log.key, log);
    this.#shrink();
  }

  /** Takes a call of the store in, whose facts the dashboard lacks. */
  adopt(events: readonly CallEvent[]): CallLog | undefined {
    const [first] = events;
    if (first === undefined || this.has(first)) return undefined;
    const log = new CallLog(first, WHOLE_CALL);
    this.#logs.set(log.key, log);
    this.#change(log, () => {
      for (const event of events) log.append(event);
    });
    return log;
  }

  recover(log: CallLog, events: readonly CallEvent[] | undefined): void {
    this.#change(log, () => log.recover(events));
  }

  skip(log: CallLog, place: FactPlace): void {
    this.#change(log, () => log.skip(place));
  }

  learn(log: CallLog, position: IngestPosition): void {
    this.#change(log, () => log.learn(position));
  }

  /** The dashboard has all of an ended call: where a store can hand it out again, it need not be held. */
  settle(log: CallLog): void {
    if (!this.#isStored || log.endedAt === null || log.isUnknown || log.isBehind) return;
    this.#drop(log);
  }

  /** What was said of calls may hold no longer. */
  forget(): void {
    for (const log of this.#logs.values()) log.forget();
  }

  #change(log: CallLog, run: () => void): void {
    const { count, length } = log;
    run();
    this.#events += log.count - count;
    this.#length += log.length - length;
  }

  get #isOver(): boolean {
    const { events, length, calls } = this.#bounds;
    return this.#events > events || this.#length > length || this.#logs.size > calls;
  }

  /** First what the dashboard has, then what a store has, then ended calls, then active ones; the oldest of each first. */
  #shrink(): void {
    if (!this.#isOver) return;
    const all = [...this.#logs.values()];
    const ended = all.filter((log) => log.endedAt !== null);
    const delivered = ended.filter((log) => !log.isUnknown && !log.isBehind);
    const drops = new Set(delivered);
    const steps: { log: CallLog; shed: boolean }[] = [
      ...delivered.map((log) => ({ log, shed: false })),
      ...ended.filter((log) => !drops.has(log)).map((log) => ({ log, shed: this.#isStored })),
      ...all.filter((log) => log.endedAt === null).map((log) => ({ log, shed: true })),
      ...ended.map((log) => ({ log, shed: false })),
    ];
    for (const { log, shed } of steps) {
      if (!this.#isOver) return;
      if (!this.#logs.has(log.key)) continue;
      if (!this.#isStored && !drops.has(log)) this.#lost += log.count;
      if (shed) this.#change(log, () => log.shed());
      else this.#drop(log);
    }
  }

  #drop(log: CallLog): void {
    this.#logs.delete(log.key);
    this.#events -= log.count;
    this.#length -= log.length;
  }
}
