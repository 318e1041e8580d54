// Caller audio on its way to the service: sent as it comes, and kept for a while, when the network or the connection does not take it and
// when it was sent: a connection that breaks takes with it what no turn was made of.
import { type AudioFormat, bytesPerMs, frameBytes } from '../../audio/format.js';
import type { Logger } from '../../base/log.js';

export interface CallerOutboxOptions {
  readonly format: AudioFormat;
  /** Longest time that is kept; of more the oldest goes. */
  readonly keptMs: number;
  /** Sends a chunk, valid until it returns, or returns false when it cannot be taken now. */
  readonly send: (chunk: Uint8Array) => boolean;
}

/** Something that the caller said, and up to where. */
interface Turn {
  readonly id: string;
  readonly until: number;
}

/** More turns than this are not open at once. */
const KEPT_TURNS = 8;

/** Positions are bytes since it was made. What is kept lies in a ring of one size: neither a chunk nor its memory is held on to. */
export class CallerOutbox {
  readonly #options: CallerOutboxOptions;
  readonly #bytesPerMs: number;
  readonly #frameBytes: number;
  readonly #ring: Uint8Array;
  /** The oldest that is kept: what was sent from here on is not settled. */
  #open = 0;
  #next = 0;
  #end = 0;
  /** From here on this connection counts what it was sent. */
  #begin = 0;
  /** Over, and known by nothing but their audio. */
  #turns: Turn[] = [];
  /** What an answer that begins is given to. */
  #answering = 0;
  #droppedMs = 0;

  constructor(options: CallerOutboxOptions) {
    this.#options = options;
    this.#bytesPerMs = bytesPerMs(options.format);
    this.#frameBytes = frameBytes(options.format);
    this.#ring = new Uint8Array(options.keptMs * this.#bytesPerMs);
  }

  /** Audio that the connection was sent, in milliseconds. */
  get sentMs(): number {
    return (this.#next - this.#begin) / this.#bytesPerMs;
  }

  /** Audio that made room before it could be sent. */
  get droppedMs(): number {
    return this.#droppedMs;
  }

  /** At the end of a call: what was lost is said, where anything was. */
  reportLoss({ callId, logger }: { readonly callId: string; readonly logger: Logger }): void {
    const droppedMs = this.#droppedMs;
    if (droppedMs > 0) logger.warn({ callId, droppedMs }, 'caller audio was lost on the way to a provider');
  }

  /** Whole samples, of any length. Copied. */
  push(chunk: Uint8Array): void {
    const isNext = this.#next === this.#end;
    this.#keep(chunk);
    if (isNext && this.#options.send(chunk)) {
      this.#next = this.#end;
      return;
    }
    this.flush();
    this.#drop(this.#end - this.#ring.length);
  }

  /** Sends what waits, as far as it is taken. */
  flush(): void {
    while (this.#next < this.#end) {
      // What has no room waits behind what has: a chunk may be longer than the ring.
      this.#drop(this.#end - this.#ring.length);
      const at = this.#next % this.#ring.length;
      const length = Math.min(this.#frameBytes, this.#end - this.#next, this.#ring.length - at);
      if (!this.#options.send(this.#ring.subarray(at, at + length))) return;
      this.#next += length;
    }
  }

  /** Ids of turns of which neither the words nor an answer has come: another connection has to hear them. */
  get unheard(): readonly string[] {
    return this.#turns.filter(({ until }) => until > this.#open).map(({ id }) => id);
  }

  /** What this connection was sent up to here, in milliseconds, is a turn. It is kept until its words or an answer have come. */
  ended(id: string, untilMs: number): void {
    this.#turns = [...this.#turns, { id, until: this.#at(untilMs) }].slice(-KEPT_TURNS);
  }

  /** The words of a turn are there. */
  worded(id: string): void {
    const turn = this.#turns.find((each) => each.id === id);
    if (turn !== undefined) this.#settle(turn.until);
  }

  /** An answer begins, to every turn that is over. */
  answers(): void {
    this.#answering = this.#over;
  }

  /** Something of an answer is there. `withLater`: to what was said after its beginning as well. */
  answered({ withLater }: { readonly withLater: boolean }): void {
    this.#settle(withLater ? this.#over : this.#answering);
  }

  /** What this connection was sent up to here, in milliseconds, is known, or of no interest. */
  settle(untilMs: number): void {
    this.#settle(this.#at(untilMs));
  }

  /**
   * Another connection counts from its own start, and is sent once more what was not settled. Comes before anything is pushed or
   * flushed on that connection: what it was sent already would be sent twice.
   */
  restart(): void {
    this.#next = this.#begin = this.#answering = this.#open;
    this.#turns = this.#turns.filter(({ until }) => until > this.#open);
  }

  /** End of the last turn that is over. */
  get #over(): number {
    return this.#turns.at(-1)?.until ?? this.#begin;
  }

  /** Where this connection is after so many milliseconds, behind a whole sample. */
  #at(ms: number): number {
    const bytes = Math.floor(ms * this.#bytesPerMs);
    return this.#begin + bytes - (this.#options.format.encoding === 'pcm' ? bytes % 2 : 0);
  }

  #settle(until: number): void {
    this.#open = Math.max(this.#open, Math.min(until, this.#next));
    if (this.#turns.length > 0) this.#turns = this.#turns.filter((turn) => turn.until > until);
  }

  #keep(chunk: Uint8Array): void {
    const { length } = this.#ring;
    // Of what is longer than the ring the end stays.
    const kept = chunk.length > length ? chunk.subarray(chunk.length - length) : chunk;
    const at = (this.#end + chunk.length - kept.length) % length;
    const first = Math.min(kept.length, length - at);
    if (first === kept.length) this.#ring.set(kept, at);
    else {
      this.#ring.set(kept.subarray(0, first), at);
      this.#ring.set(kept.subarray(first), 0);
    }
    this.#end += chunk.length;
    this.#open = Math.max(this.#open, Math.min(this.#next, this.#end - length));
  }

  /** What waits before `until` has made room: what follows is nearer by it, and a turn that had nothing else is gone. */
  #drop(until: number): void {
    const from = this.#next;
    if (until <= from) return;
    this.#droppedMs += (until - from) / this.#bytesPerMs;
    this.#begin += until - from;
    this.#next = this.#open = until;
    this.#turns = this.#turns.filter((turn) => turn.until <= from || turn.until > until);
  }
}
