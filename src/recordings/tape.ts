// The tape of one call: takes what the line carries, beside the path of the audio, and writes it to disk. It never waits and never throws:
// where the disk is full, fails or does not keep up, it gives up, and the call goes on.
import { close, open, write } from 'node:fs';
import type { AudioFormat } from '../audio/format.js';
import type { LineTape } from '../audio/line-tape.js';
import type { Clock } from '../base/clock.js';
import { recordingLane } from '../base/disk-lane.js';
import type { RecordingKey } from './seal.js';
import {
  BLOCK_END,
  BLOCK_START,
  createBlocks,
  MAX_RECORD_BYTES,
  MAX_TICKS,
  RECORD,
  RECORD_HEADER_BYTES,
  type TapeBlocks,
  type TapeHead,
  TICKS_PER_MS,
} from './tape-format.js';

/** What a page holds until it is written: half a second of G.711 in both directions, or what has come of it by then. */
const PAGE_BYTES = 14 * 1024;
/** A disk that takes longer over a page does not keep up. */
const SLOWEST_WRITE_MS = 10_000;
/** What may wait for it meanwhile, of one call: 10 s of 16 kHz PCM in both directions. */
const MAX_WAITING_PAGES = 100;
/** Pages that are kept for the next call. */
const MAX_SPARE_PAGES = 64;
/** Tapes of one call: one for each process that has had it, and each time that one got it back. */
const MAX_TAPES = 1000;

/** Why a recording was given up. */
export type TapeFailure = 'disk-full' | 'disk-slow' | 'disk-failed';

/** The disk as tapes see it. */
export interface TapeFiles {
  /** A file that was not there before. Rejects with the error of the file system. */
  create(path: string): Promise<number>;
  write(
    fd: number,
    bytes: Uint8Array,
    position: number,
    done: (error: Error | null, written: number) => void,
  ): void;
  close(fd: number): void;
}

export const diskFiles: TapeFiles = {
  create: (path) =>
    recordingLane.run(
      () =>
        new Promise((resolve, reject) => {
          // Never follows a link, and takes no file that is there.
          open(path, 'wx', 0o600, (error, fd) => (error === null ? resolve(fd) : reject(error)));
        }),
    ),
  write(fd, bytes, position, done) {
    const task = () =>
      new Promise<void>((resolve) => {
        write(fd, bytes, 0, bytes.length, position, (error, written) => {
          resolve();
          done(error, written);
        });
      });
    void recordingLane.run(task);
  },
  close: (fd) => void recordingLane.run(() => new Promise<void>((resolve) => close(fd, () => resolve()))),
};

/** Pages of all tapes of a process. */
export class PagePool {
  readonly #spare: Buffer[] = [];

  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(PAGE_BYTES);
  }

  giveBack(page: Buffer): void {
    if (this.#spare.length < MAX_SPARE_PAGES) this.#spare.push(page);
  }
}

export interface TapeOptions {
  /** Without number and ending. */
  readonly path: string;
  readonly head: TapeHead;
  readonly key: RecordingKey | undefined;
  readonly pages: PagePool;
  readonly files: TapeFiles;
  readonly clock: Clock;
  /** Once, and nothing is written any more. */
  gaveUp(failure: TapeFailure): void;
}

/** A page that is full, or due. `bytes` may be a part of it. */
interface Waiting {
  readonly bytes: Uint8Array;
  readonly page: Buffer | undefined;
  readonly since: number;
}

/** Times are milliseconds since the conversation began. */
export class Tape implements LineTape {
  readonly #options: TapeOptions;
  readonly #blocks: TapeBlocks;
  #page: Buffer | undefined;
  #used = 0;
  #block = 0;
  #waiting: Waiting[] = [];
  #isWriting = false;
  #fd: number | undefined;
  #position = 0;
  #isPaused = false;
  #isOver = false;
  #tellClosed: () => void = () => {};
  /** Resolves when everything is written, or nothing will be. */
  readonly closed: Promise<void>;

  constructor(options: TapeOptions) {
    this.#options = options;
    this.#blocks = createBlocks(options.key, options.head.callId);
    this.closed = new Promise((resolve) => {
      this.#tellClosed = resolve;
    });
    this.#queue(this.#blocks.header, undefined);
    this.#note(RECORD.head, 0, options.head);
    void this.#open();
  }

  /** Another stream is up. */
  line(inbound: AudioFormat, outbound: AudioFormat, atMs: number): void {
    this.#note(RECORD.line, atMs, { inbound, outbound });
  }

  /** Audio of the caller that came at `atMs`. */
  caller(bytes: Uint8Array, atMs: number): void {
    if (!this.#isPaused) this.#audio(RECORD.caller, bytes, atMs);
  }

  /** Audio of the agent that sounds at `atMs`. */
  agent(bytes: Uint8Array, atMs: number): void {
    if (!this.#isPaused) this.#audio(RECORD.agent, bytes, atMs);
  }

  /** What would have sounded after `atMs` does not. */
  cut(atMs: number): void {
    this.#put(RECORD.cut, atMs, undefined, 0, 0);
  }

  /** The caller heard `lagMs` later what was to sound at `atMs`. */
  lag(atMs: number, lagMs: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(toTicks(lagMs));
    this.#put(RECORD.lag, atMs, bytes, 0, bytes.length);
  }

  /** Takes nothing down until `resume`. */
  pause(atMs: number): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#put(RECORD.pause, atMs, undefined, 0, 0);
  }

  resume(atMs: number): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#put(RECORD.resume, atMs, undefined, 0, 0);
  }

  /** Nothing more comes. Idempotent. */
  end(atMs: number): void {
    if (this.#isOver) return;
    this.#put(RECORD.end, atMs, undefined, 0, 0);
    this.#isOver = true;
    this.#turn();
    this.#writeNext();
  }

  /** Writes what has come since the last time. To be called twice a second: no more is lost where the process dies. */
  flush(): void {
    const [oldest] = this.#waiting;
    if (oldest !== undefined && this.#options.clock.now() - oldest.since > SLOWEST_WRITE_MS)
      this.#giveUp('disk-slow');
    if (this.#isOver) return;
    this.#turn();
    this.#writeNext();
  }

  #note(type: number, atMs: number, value: object): void {
    const bytes = Buffer.from(JSON.stringify(value));
    this.#put(type, atMs, bytes, 0, bytes.length);
  }

  #audio(type: number, bytes: Uint8Array, atMs: number): void {
    for (let from = 0; from < bytes.length; from += MAX_RECORD_BYTES)
      this.#put(type, atMs, bytes, from, Math.min(bytes.length, from + MAX_RECORD_BYTES));
  }

  /** Copies a record: nothing is allocated for one but a page now and then. */
  #put(type: number, atMs: number, bytes: Uint8Array | undefined, from: number, to: number): void {
    if (this.#isOver) return;
    const length = to - from;
    if (this.#page === undefined || this.#used + RECORD_HEADER_BYTES + length + BLOCK_END > PAGE_BYTES) {
      this.#turn();
      this.#writeNext();
      if (this.#isOver) return;
      this.#page = this.#options.pages.take();
      this.#used = BLOCK_START;
    }
    const page = this.#page;
    const at = this.#used;
    page[at] = type;
    page[at + 1] = 0;
    page.writeUInt16LE(length, at + 2);
    page.writeUInt32LE(toTicks(atMs), at + 4);
    if (bytes !== undefined)
      page.set(length === bytes.length ? bytes : bytes.subarray(from, to), at + RECORD_HEADER_BYTES);
    this.#used = at + RECORD_HEADER_BYTES + length;
  }

  /** The page is to be written as it is. */
  #turn(): void {
    const page = this.#page;
    if (page === undefined || this.#used === BLOCK_START) return;
    this.#page = undefined;
    this.#queue(this.#blocks.close(page, this.#used, this.#block), page);
    this.#block += 1;
    if (this.#waiting.length > MAX_WAITING_PAGES) this.#giveUp('disk-slow');
  }

  #queue(bytes: Uint8Array, page: Buffer | undefined): void {
    this.#waiting.push({ bytes, page, since: this.#options.clock.now() });
  }

  async #open(): Promise<void> {
    const { path, files } = this.#options;
    for (let number = 1; ; number += 1) {
      try {
        const fd = await files.create(`${path}.${number}.tape`);
        this.#fd = fd;
        // It was given up meanwhile, and nobody else closes it.
        if (this.#waiting.length === 0) this.#close();
        else this.#writeNext();
        return;
      } catch (error) {
        if (number < MAX_TAPES && codeOf(error) === 'EEXIST') continue;
        this.#giveUp(failureOf(error));
        return;
      }
    }
  }

  #writeNext(): void {
    const [next] = this.#waiting;
    const fd = this.#fd;
    if (fd === undefined || this.#isWriting) return;
    if (next === undefined) {
      if (this.#isOver) this.#close();
      return;
    }
    this.#isWriting = true;
    this.#write(fd, next, 0);
  }

  #write(fd: number, next: Waiting, from: number): void {
    const rest = from === 0 ? next.bytes : next.bytes.subarray(from);
    this.#options.files.write(fd, rest, this.#position, (error, written) => {
      if (error === null && written < rest.length && written > 0 && this.#waiting[0] === next) {
        this.#position += written;
        this.#write(fd, next, from + written);
        return;
      }
      this.#isWriting = false;
      if (next.page !== undefined) this.#options.pages.giveBack(next.page);
      // It was given up while this was under way.
      if (this.#waiting[0] !== next) this.#close();
      else if (error !== null || written === 0) this.#giveUp(failureOf(error));
      else {
        this.#position += written;
        this.#waiting.shift();
        this.#writeNext();
      }
    });
  }

  #giveUp(failure: TapeFailure): void {
    const wasOver = this.#isOver && this.#waiting.length === 0;
    this.#isOver = true;
    this.#page = undefined;
    this.#waiting = [];
    if (!this.#isWriting) this.#close();
    // Whoever waits does not wait for a write that never returns.
    this.#tellClosed();
    if (!wasOver) this.#options.gaveUp(failure);
  }

  #close(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) this.#options.files.close(fd);
    this.#tellClosed();
  }
}

function toTicks(ms: number): number {
  const ticks = Math.round(ms * TICKS_PER_MS);
  return ticks > 0 ? Math.min(ticks, MAX_TICKS) : 0;
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}

function failureOf(error: unknown): TapeFailure {
  const code = codeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT' ? 'disk-full' : 'disk-failed';
}
