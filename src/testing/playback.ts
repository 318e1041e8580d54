// A carrier's side of playback: plays what the server sends at real-time speed, echoes marks, forgets on clear, and remembers what was heard.
import type { Clock, Timer } from '../base/clock.js';
import { isSound, joinSpan, type Span } from './speech-spans.js';

/** Samples per millisecond. */
const SAMPLES_PER_MS = 8;
/** The carrier names no limit; a server that is this far ahead has lost its pace, and the rest is dropped. */
const MAX_QUEUED_MS = 300_000;
const BLOCK_SAMPLES = 80;

/** Why a piece of audio begins where it does: first of the call, right behind the piece before, into a dry queue, or after a clear. */
export type PieceStart = 'first' | 'queued' | 'refill' | 'after-clear';

/** Audio of one media message as it was played. Positions are samples at 8 kHz since the start of the stream. */
export interface PlayedPiece {
  startSample: number;
  samples: Int16Array;
  start: PieceStart;
}

export interface PlayedClear {
  atMs: number;
  /** Audio that was queued and never heard. */
  droppedMs: number;
  /** Marks that were echoed because of the clear. */
  droppedMarks: number;
}

export interface PlayedMark {
  name: string;
  receivedAtMs: number;
  echoedAtMs: number | null;
  /** True when a clear echoed it. */
  cleared: boolean;
}

/** What was really played. Times are milliseconds since the start of the stream. */
export interface PlaybackLog {
  pieces: PlayedPiece[];
  clears: PlayedClear[];
  marks: PlayedMark[];
}

export interface PlaybackOptions {
  clock: Clock;
  /** Sends the echo of a mark to the server. */
  echoMark(name: string): void;
}

/** Playback of one stream. Starts with its construction; `close` keeps what was heard by then. */
export class PlaybackClock {
  readonly log: PlaybackLog = { pieces: [], clears: [], marks: [] };
  readonly #options: PlaybackOptions;
  readonly #originMs: number;
  readonly #pending: { mark: PlayedMark; dueSample: number }[] = [];
  readonly #sound: Span[] = [];
  #endSample = 0;
  #cleared = false;
  #timer: Timer | undefined;
  #closed = false;

  constructor(options: PlaybackOptions) {
    this.#options = options;
    this.#originMs = options.clock.now();
  }

  /** Milliseconds since the start of the stream. */
  get nowMs(): number {
    return this.#options.clock.now() - this.#originMs;
  }

  /** Audio that is queued and not played yet. */
  get queuedMs(): number {
    return Math.max(0, this.#endSample - this.#nowSample) / SAMPLES_PER_MS;
  }

  /** Where the sound of the agent that is not over at `sinceMs` begins, or undefined while nothing has been heard since. */
  soundStartSince(sinceMs: number): number | undefined {
    const span = this.#sound.find(({ endMs, startMs }) => endMs > sinceMs && startMs <= this.nowMs);
    return span === undefined ? undefined : Math.max(span.startMs, sinceMs);
  }

  /** When the agent was last heard, at most now; undefined while it never was. */
  get lastSoundMs(): number | undefined {
    const span = this.#sound.findLast(({ startMs }) => startMs <= this.nowMs);
    return span === undefined ? undefined : Math.min(span.endMs, this.nowMs);
  }

  /** The pieces that were not over at that sample. */
  piecesSince(sample: number): PlayedPiece[] {
    const { pieces } = this.log;
    const before = pieces.findLastIndex((piece) => piece.startSample + piece.samples.length <= sample);
    return pieces.slice(before + 1);
  }

  /** Queues 8 kHz PCM, which is kept. Returns false when the queue is full and the audio was dropped. */
  enqueue(samples: Int16Array): boolean {
    if (this.#closed || this.queuedMs > MAX_QUEUED_MS) return false;
    const dry = this.#endSample <= this.#nowSample;
    const startSample = dry ? this.#nowSample : this.#endSample;
    let start: PieceStart = startSample === this.#endSample ? 'queued' : 'refill';
    if (this.log.pieces.length === 0) start = 'first';
    else if (this.#cleared) start = 'after-clear';
    this.#cleared = false;
    this.log.pieces.push({ startSample, samples, start });
    this.#endSample = startSample + samples.length;
    this.#noteSound(startSample, samples);
    return true;
  }

  /** Echoes `name` when all that is queued has been played: at once when nothing is. */
  mark(name: string): void {
    if (this.#closed) return;
    const mark: PlayedMark = { name, receivedAtMs: this.nowMs, echoedAtMs: null, cleared: false };
    this.log.marks.push(mark);
    this.#pending.push({ mark, dueSample: Math.max(this.#endSample, this.#nowSample) });
    this.#echoDue();
  }

  /** Empties the queue within the present sample and echoes every pending mark. */
  clear(): void {
    if (this.#closed) return;
    const droppedMs = this.#cut();
    const dropped = this.#pending.splice(0);
    this.#timer?.cancel();
    this.log.clears.push({ atMs: this.nowMs, droppedMs, droppedMarks: dropped.length });
    this.#cleared = true;
    for (const { mark } of dropped) this.#echo(mark, true);
  }

  /** The call is over: what is queued will not be heard, and no mark is echoed any more. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.cancel();
    this.#pending.length = 0;
    this.#cut();
  }

  get #nowSample(): number {
    return Math.floor(this.nowMs * SAMPLES_PER_MS);
  }

  /** Drops what lies behind the present sample; returns its length in milliseconds. */
  #cut(): number {
    const now = this.#nowSample;
    const dropped = Math.max(0, this.#endSample - now);
    const { pieces } = this.log;
    for (let last = pieces.at(-1); last !== undefined; last = pieces.at(-1)) {
      const heard = now - last.startSample;
      if (heard > 0) {
        if (heard < last.samples.length) last.samples = last.samples.slice(0, heard);
        break;
      }
      pieces.pop();
    }
    const nowMs = now / SAMPLES_PER_MS;
    while ((this.#sound.at(-1)?.startMs ?? -1) >= nowMs) this.#sound.pop();
    const sounding = this.#sound.at(-1);
    if (sounding !== undefined) sounding.endMs = Math.min(sounding.endMs, nowMs);
    this.#endSample = Math.min(this.#endSample, now);
    return dropped / SAMPLES_PER_MS;
  }

  #noteSound(startSample: number, samples: Int16Array): void {
    for (let from = 0; from < samples.length; from += BLOCK_SAMPLES) {
      const block = samples.subarray(from, from + BLOCK_SAMPLES);
      if (!isSound(block)) continue;
      const startMs = (startSample + from) / SAMPLES_PER_MS;
      joinSpan(this.#sound, { startMs, endMs: startMs + block.length / SAMPLES_PER_MS }, 100);
    }
  }

  #echoDue(): void {
    this.#timer?.cancel();
    // A timer may fire a fraction of a millisecond early.
    const now = this.#nowSample + SAMPLES_PER_MS;
    while (this.#pending[0] !== undefined && this.#pending[0].dueSample <= now) {
      const due = this.#pending.shift();
      if (due !== undefined) this.#echo(due.mark, false);
    }
    const next = this.#pending[0];
    if (next === undefined || this.#closed) return;
    const delayMs = next.dueSample / SAMPLES_PER_MS - this.nowMs;
    this.#timer = this.#options.clock.after(delayMs, () => this.#echoDue());
  }

  #echo(mark: PlayedMark, cleared: boolean): void {
    mark.echoedAtMs = this.nowMs;
    mark.cleared = cleared;
    this.#options.echoMark(mark.name);
  }
}
