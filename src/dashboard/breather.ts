// Long work in small slices. Fifty frames a second are waiting on the same event loop.
import type { Writable } from 'node:stream';
import type { Clock } from '../base/clock.js';

/** How long one slice may take, and how long the work rests behind it, in milliseconds. Nobody who asks for much is in a hurry. */
const SLICE_MS = 0.5;
const REST_MS = 1;

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
    await new Promise<void>((resolve) => this.#clock.after(REST_MS, resolve));
    this.#sliceStartedAt = this.#clock.now();
  }
}

/** A piece of a long text, as it comes or already as bytes. */
export type Piece = string | Uint8Array;

/**
 * Writes pieces and ends the stream, in slices and no faster than they are taken. Stops asking for pieces when the stream is closed.
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
  stream.cork();
  for await (const piece of pieces) {
    if (closed) return;
    const isFull = !stream.write(piece);
    if (!isFull && !breather.isDue) continue;
    stream.uncork();
    if (isFull && stream.writableNeedDrain)
      await new Promise<void>((resolve) => {
        wake = resolve;
        stream.once('drain', resolve);
      });
    if (breather.isDue) await breather.breathe();
    if (closed) return;
    stream.cork();
  }
  stream.uncork();
  stream.end();
}
