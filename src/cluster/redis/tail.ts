// Hears what all nodes say happened, on a connection of its own: each question waits there for the next facts. Who was away for longer than the log reaches has missed some.
import type { Clock } from '../../base/clock.js';
import { pause } from '../../base/pause.js';
import { Rounds, type Wait } from '../../base/rounds.js';
import { GATHER_MS } from '../coordinator.js';
import { idBefore, isBefore, START, timeOf } from './entry-id.js';
import { RedisLink, type RedisLinkParts, type Reply } from './link.js';

/** How long one question waits for facts, in milliseconds. */
const WAIT_MS = 2000;
/** What the answer may take beside that. */
const ANSWER_MS = 2000;
const RETRY_MS = 1000;
/** Entries in one answer. */
const BATCH = 200;

/** As it was appended. */
export interface LogEntry {
  /** The node that has appended it. */
  readonly by: string;
  /** That node has stated all of it. */
  readonly isOwn: boolean;
  readonly sealed: Buffer;
}

export interface RedisTailEvents {
  /** Gets each entry, in order, and when the broker got it, by its clock. */
  take(entry: LogEntry, at: number): void;
  /** Everything that the broker keeps was taken, and something may have left it before. */
  missed(): void;
}

export class RedisTail {
  readonly #link: RedisLink;
  readonly #clock: Clock;
  readonly #key: string;
  readonly #take: RedisTailEvents['take'];
  readonly #missed: RedisTailEvents['missed'];
  readonly #closing = new AbortController();
  readonly #rounds: Rounds;
  /** Set until the next round. */
  #gathering: Wait | undefined;
  /** Of the last entry that was taken. */
  #position = START;
  #isCaughtUp = false;
  readonly #begunAt: number;
  /** When it was asked last for what the broker keeps, with an answer that had all, on the clock. */
  #wholeAt = Number.NEGATIVE_INFINITY;
  /** Entries may have left the log before they were taken. */
  #hasMissed = true;
  /** It was asked last on another connection, or had not everything: the log may have gone past its position since. */
  #isBehind = true;

  constructor(parts: RedisLinkParts, key: string, { take, missed }: RedisTailEvents) {
    this.#link = new RedisLink({ ...parts, silenceMs: WAIT_MS + ANSWER_MS });
    this.#clock = parts.clock;
    this.#begunAt = parts.clock.now();
    this.#rounds = new Rounds(parts.clock, GATHER_MS);
    this.#key = key;
    this.#take = take;
    this.#missed = missed;
    void this.#follow();
  }

  /** True once everything that the broker keeps was taken; not while it cannot be asked, or in a process that has just stood still. */
  get isCaughtUp(): boolean {
    const isRecent = this.#clock.now() - this.#wholeAt < WAIT_MS + ANSWER_MS + WAIT_MS;
    return this.#isCaughtUp && !this.#isBehind && isRecent;
  }

  /** For how long that is not so, in milliseconds; 0 while it is. */
  get behindMs(): number {
    return this.isCaughtUp ? 0 : this.#clock.now() - Math.max(this.#wholeAt, this.#begunAt);
  }

  /** The broker has lost what it had: positions in it mean nothing any more. */
  restart(): void {
    this.#position = START;
    this.#isCaughtUp = false;
    this.#hasMissed = true;
    // What is asked now was asked from the old position.
    this.#link.close();
  }

  /** Idempotent. */
  close(): void {
    this.#closing.abort();
    this.#gathering?.end();
    this.#link.close();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        // It may have ended between two questions.
        this.#isBehind ||= !this.#link.isUp;
        await this.#link.open(ANSWER_MS);
        if (signal.aborted) this.#link.close();
        else await this.#read();
        // Together with what comes next, unless it is known to be there.
        if (this.#isCaughtUp && !signal.aborted) await this.#gather();
      } catch {
        this.#isBehind = true;
        await pause(this.#clock, RETRY_MS, signal);
      }
    }
  }

  async #gather(): Promise<void> {
    this.#gathering = this.#rounds.next();
    await this.#gathering.over;
    this.#gathering = undefined;
  }

  async #read(): Promise<void> {
    const from = this.#position;
    const askedAt = this.#clock.now();
    // Who may be behind waits for nothing new.
    const limits = ['COUNT', String(BATCH), ...(this.isCaughtUp ? ['BLOCK', String(WAIT_MS)] : [])];
    const args = ['XREAD', ...limits, 'STREAMS', this.#key, from];
    const reply = await this.#link.run(args, WAIT_MS + ANSWER_MS);
    // Behind the answer: an entry that leaves the log now was in it.
    if (this.#isBehind && from !== START) await this.#doubt(from);
    if (this.#position !== from || this.#closing.signal.aborted) return;
    const entries = entriesOf(reply);
    for (const { id, ...entry } of entries) {
      this.#position = id;
      this.#take(entry, timeOf(id));
    }
    this.#isCaughtUp = entries.length < BATCH;
    if (this.#isCaughtUp) this.#wholeAt = askedAt;
    this.#isBehind = !this.#isCaughtUp;
    if (!this.#isCaughtUp || !this.#hasMissed) return;
    this.#hasMissed = false;
    this.#missed();
  }

  /** The log may have gone past the position, or back behind it: a replica that took the place of the broker may lack its last entries, and number other ones as it did. */
  async #doubt(position: string): Promise<void> {
    const oldest = await this.#next(START);
    if (oldest !== undefined && isBefore(position, oldest)) this.#hasMissed = true;
    else if ((await this.#next(idBefore(position))) !== position) this.restart();
  }

  /** The ID of the entry behind `id`. */
  async #next(id: string): Promise<string | undefined> {
    const reply = await this.#link.run(['XREAD', 'COUNT', '1', 'STREAMS', this.#key, id], ANSWER_MS);
    return entriesOf(reply)[0]?.id;
  }
}

function entriesOf(reply: Reply): (LogEntry & { readonly id: string })[] {
  const [stream] = (reply ?? []) as unknown as [[Buffer, [Buffer, Buffer[]][]]?];
  return (stream?.[1] ?? []).map(([id, [isOwn, by, , sealed]]) => ({
    id: id.toString('latin1'),
    isOwn: String(isOwn) === 'own',
    by: String(by),
    sealed: sealed ?? Buffer.alloc(0),
  }));
}
