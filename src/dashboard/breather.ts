// Long work in small slices. Fifty frames a second are waiting on the same event loop.
import type { Writable } from 'node:stream';
import type { Clock } from '../base/clock.js';
import { pause } from '../base/pause.js';

/** How long one slice may take, and how long the work rests behind it, in milliseconds. Nobody who asks for much is in a hurry. */
const SLICE_MS = 0.25;
const REST_MS = 2;

/** Says when a piece of work has held the event loop long enough, and lets everything else that waits run. */
export class Breather {
  readonly #clock: Clock;
  #sliceStartedAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sliceStartedAt = clock.now();
  }

  get isDue(): boolean {
    return this.#clock.now() - this.#sliceStartedAt >= SLICE_MS;
  }

  /** Resolves when timers and sockets have had their turn. */
  async breathe(): Promise<void> {
    await pause(this.#clock, REST_MS);
    this.#sliceStartedAt = this.#clock.now();
  }
}

/** A piece of a long text, as it comes or already as bytes. */
export type Piece = string | Uint8Array;

/** What is written at a time, in bytes: each write costs as much as some kilobytes do. */
const CHUNK_BYTES = 16 * 1024;

/** The pieces as bytes, small ones together. */
export async function* inChunks(pieces: Iterable<Piece> | AsyncIterable<Piece>): AsyncGenerator<Uint8Array> {
  let gathered: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece, 'utf8') : piece;
    gathered.push(bytes);
    length += bytes.length;
    if (length < CHUNK_BYTES) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(gathered);
}

/** Who takes nothing for so long is cut off, in milliseconds: what waits for them holds memory and a connection. */
const STALL_MS = 30_000;

/**
 * Writes pieces and ends the stream, in slices and no faster than they are taken. Stops asking for pieces when the stream is closed, and
 * destroys one whose reader has stopped reading.
 * @throws what making a piece throws, with the stream left open.
 */
export async function writeInSlices(
  stream: Writable,
  pieces: Iterable<Piece> | AsyncIterable<Piece>,
  clock: Clock,
): Promise<void> {
  const breather = new Breather(clock);
  let closed = stream.destroyed;
  let wake = () => {};
  stream.once('close', () => {
    closed = true;
    wake();
  });
  for await (const chunk of inChunks(pieces)) {
    if (closed) return;
    const isFull = !stream.write(chunk);
    if (isFull && stream.writableNeedDrain)
      await new Promise<void>((resolve) => {
        const stalled = clock.after(STALL_MS, () => stream.destroy());
        wake = () => {
          stalled.cancel();
          resolve();
        };
        stream.once('drain', () => wake());
      });
    if (!closed && breather.isDue) await breather.breathe();
    if (closed) return;
  }
  stream.end();
}
