// Caller audio on its way to the service: sent as it comes, and kept for a while, when the network or the connection does not take it and
// when it was sent: a connection that breaks takes with it what no turn was made of.
import { type AudioFormat, bytesPerMs } from '../../audio/format.js';
import type { Logger } from '../../base/log.js';

export interface CallerOutboxOptions {
  readonly format: AudioFormat;
  /** Longest time that is kept; of more the oldest goes. */
  readonly keptMs: number;
  /** Sends a chunk, or returns false when it cannot be taken now. */
  readonly send: (chunk: Uint8Array) => boolean;
}

/** Something that the caller said, as far as this connection was sent it. */
interface Turn {
  readonly id: string;
  readonly untilMs: number;
}

/** More turns than this are not open at once. */
const KEPT_TURNS = 8;

export class CallerOutbox {
  readonly #options: CallerOutboxOptions;
  readonly #bytesPerMs: number;
  #chunks: Uint8Array[] = [];
  #waitingMs = 0;
  /** Sent, and not settled. */
  #open: Uint8Array[] = [];
  #openMs = 0;
  /** Over, and known by nothing but their audio. */
  #turns: Turn[] = [];
  #answeringMs = 0;
  #sentMs = 0;
  #droppedMs = 0;

  constructor(options: CallerOutboxOptions) {
    this.#options = options;
    this.#bytesPerMs = bytesPerMs(options.format);
  }

  /** Audio that the connection was sent, in milliseconds. */
  get sentMs(): number {
    return this.#sentMs;
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

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk.slice());
    this.#waitingMs += this.#msOf(chunk);
    this.flush();
    while (this.#waitingMs > this.#options.keptMs) this.#drop();
  }

  /** Sends what waits, as far as it is taken. */
  flush(): void {
    let chunk = this.#chunks[0];
    while (chunk !== undefined && this.#options.send(chunk)) {
      const ms = this.#take();
      this.#sentMs += ms;
      this.#open.push(chunk);
      this.#openMs += ms;
      this.#forget(this.#openMs - this.#options.keptMs);
      chunk = this.#chunks[0];
    }
  }

  /** Ids of turns of which neither the words nor an answer has come: another connection has to hear them. */
  get unheard(): readonly string[] {
    const openFromMs = this.#sentMs - this.#openMs;
    return this.#turns.filter(({ untilMs }) => untilMs > openFromMs).map(({ id }) => id);
  }

  /** What this connection was sent up to here, in milliseconds, is a turn. It is kept until its words or an answer have come. */
  ended(id: string, untilMs: number): void {
    this.#turns = [...this.#turns, { id, untilMs }].slice(-KEPT_TURNS);
  }

  /** The words of a turn are there. */
  worded(id: string): void {
    const turn = this.#turns.find((each) => each.id === id);
    if (turn !== undefined) this.settle(turn.untilMs);
  }

  /** An answer begins, to every turn that is over. */
  answers(): void {
    this.#answeringMs = this.#overMs;
  }

  /** Something of an answer is there. `withLater`: to what was said after its beginning as well. */
  answered({ withLater }: { readonly withLater: boolean }): void {
    this.settle(withLater ? this.#overMs : this.#answeringMs);
  }

  /** What this connection was sent up to here, in milliseconds, is known, or of no interest. */
  settle(untilMs: number): void {
    this.#turns = this.#turns.filter((turn) => turn.untilMs > untilMs);
    this.#forget(untilMs - (this.#sentMs - this.#openMs));
  }

  /**
   * Another connection counts from its own start, and is sent once more what was not settled. Comes before anything is pushed or
   * flushed on that connection: what it was sent already would be sent twice.
   */
  restart(): void {
    this.#forget(this.#openMs + this.#waitingMs - this.#options.keptMs);
    const openFromMs = this.#sentMs - this.#openMs;
    this.#turns = this.#turns.map(({ id, untilMs }) => ({ id, untilMs: untilMs - openFromMs }));
    this.#turns = this.#turns.filter(({ untilMs }) => untilMs > 0);
    this.#chunks = [...this.#open, ...this.#chunks];
    this.#waitingMs += this.#openMs;
    this.#open = [];
    this.#openMs = 0;
    this.#answeringMs = 0;
    this.#sentMs = 0;
  }

  /** End of the last turn that is over, in milliseconds. */
  get #overMs(): number {
    return this.#turns.at(-1)?.untilMs ?? 0;
  }

  /** Whole chunks of what is open, `ms` at most. */
  #forget(ms: number): void {
    let left = ms;
    for (;;) {
      const [oldest] = this.#open;
      if (oldest === undefined || left < this.#msOf(oldest)) break;
      left -= this.#msOf(oldest);
      this.#openMs -= this.#msOf(oldest);
      this.#open.shift();
    }
    if (this.#open.length === 0) this.#openMs = 0;
  }

  /** The oldest that waits makes room: what follows is nearer by it, and a turn that had nothing else is gone. */
  #drop(): void {
    const ms = this.#take();
    this.#droppedMs += ms;
    const sentMs = this.#sentMs;
    this.#turns = this.#turns.flatMap(({ id, untilMs }) => {
      if (untilMs <= sentMs) return [{ id, untilMs }];
      return untilMs - ms > sentMs ? [{ id, untilMs: untilMs - ms }] : [];
    });
  }

  #take(): number {
    const chunk = this.#chunks.shift();
    const ms = chunk === undefined ? 0 : this.#msOf(chunk);
    this.#waitingMs = this.#chunks.length === 0 ? 0 : this.#waitingMs - ms;
    return ms;
  }

  #msOf(chunk: Uint8Array): number {
    return chunk.length / this.#bytesPerMs;
  }
}
