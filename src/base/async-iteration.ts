// Streams of providers and applications at their ends: how one is taken up, and how one is left that nobody reads on.
import type { Clock, Timer } from './clock.js';

/** How long, and for how many items, a stream that was given up is still listened to: one without end may never let a timer run. */
const LATE_MS = 5000;
const LATE_ITEMS = 100;

/** Throws for what is no stream. That a promise may reject as well is nobody else's trouble. */
export function iteratorOf<T>(stream: AsyncIterable<T>): AsyncIterator<T> {
  if (stream instanceof Promise) stream.catch(() => {});
  return stream[Symbol.asyncIterator]();
}

export interface HeardOut<T> {
  readonly clock: Clock;
  /** The item that is waited for, where there is one. */
  readonly asked: Promise<IteratorResult<T>> | undefined;
  /** Told what still comes. Must not throw. */
  readonly late: (item: T) => void;
}

/** Tells what a stream gives after it was given up, for a while, and lets it end. How it fails is of no interest. Never rejects. */
export async function hearOut<T>(
  iterator: AsyncIterator<T>,
  { clock, asked, late }: HeardOut<T>,
): Promise<void> {
  let timer: Timer | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = clock.after(LATE_MS, () => resolve(undefined));
  });
  try {
    let next = asked;
    for (let count = 0; count < LATE_ITEMS; count += 1) {
      const item = await Promise.race([next ?? iterator.next(), over]);
      next = undefined;
      if (item === undefined) break;
      if (item.done === true) return;
      late(item.value);
    }
    abandon(iterator);
  } catch {
    // It was given up.
  } finally {
    timer?.cancel();
  }
}

/** Asks a stream to end, without waiting for it. */
export function abandon(iterator: AsyncIterator<unknown>): void {
  try {
    iterator.return?.()?.then(undefined, () => {});
  } catch {
    // A source that cannot even be told to stop has nothing more to say to us.
  }
}
