// Long work in small slices. Fifty frames a second are waiting on the same event loop.
import type { Clock } from '../base/clock.js';

/** How long one slice may take, in milliseconds. */
const SLICE_MS = 0.5;

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
    await new Promise((resolve) => setImmediate(resolve));
    this.#sliceStartedAt = this.#clock.now();
  }
}

/** Characters that are handed on at once. */
const BATCH_CHARACTERS = 16 * 1024;

/** Hands on the same text in pieces of a good size, made in slices. */
export async function* inSlices(
  pieces: Iterable<string> | AsyncIterable<string>,
  clock: Clock,
): AsyncGenerator<string> {
  const breather = new Breather(clock);
  let batch = '';
  for await (const piece of pieces) {
    batch += piece;
    if (batch.length >= BATCH_CHARACTERS) {
      yield batch;
      batch = '';
    }
    if (breather.isDue) await breather.breathe();
  }
  if (batch !== '') yield batch;
}
