// Reads what a provider or an application streams, without ever being held up by it.
import type { Clock, Timer } from '../base/clock.js';
import { ProviderError } from '../base/errors.js';

export interface GuardOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Who is read, for the error's words. */
  readonly source: string;
  /** Longest wait for the first item, and for every one after it, in milliseconds. */
  readonly firstMs: number;
  readonly nextMs: number;
}

/**
 * The items of `source`. Ends at once when the signal aborts, also when the source does not, and then drops whatever the
 * source still does, its rejections included. @throws ProviderError when an item is too long in coming.
 */
export async function* guardedStream<T>(source: AsyncIterable<T>, options: GuardOptions): AsyncGenerator<T> {
  // A promise is no stream, which the next line says; that it may reject as well is nobody else's trouble.
  if (source instanceof Promise) source.catch(() => {});
  const iterator = source[Symbol.asyncIterator]();
  const stop = stopSwitch(options.signal);
  let waitMs = options.firstMs;
  let finished = false;
  try {
    while (!options.signal.aborted) {
      const item = await nextItem(iterator, stop.stopped, waitMs, options);
      if (item === undefined) return;
      if (item.done === true) {
        finished = true;
        return;
      }
      waitMs = options.nextMs;
      yield item.value;
    }
  } finally {
    stop.release();
    if (!finished) abandon(iterator);
  }
}

/** Runs `task` with the same guard: its value, or undefined when the signal aborts first. @throws ProviderError when it takes too long. */
export async function guardedValue<T>(task: Promise<T>, options: GuardOptions): Promise<T | undefined> {
  const stop = stopSwitch(options.signal);
  try {
    return await raced(task, stop.stopped, options.firstMs, options);
  } finally {
    stop.release();
  }
}

function stopSwitch(signal: AbortSignal): { stopped: Promise<undefined>; release: () => void } {
  let release = () => {};
  const stopped = new Promise<undefined>((resolve) => {
    const onAbort = () => resolve(undefined);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    release = () => {
      signal.removeEventListener('abort', onAbort);
      resolve(undefined);
    };
  });
  return { stopped, release };
}

function nextItem<T>(
  iterator: AsyncIterator<T>,
  stopped: Promise<undefined>,
  waitMs: number,
  options: GuardOptions,
): Promise<IteratorResult<T> | undefined> {
  return raced(Promise.resolve(iterator.next()), stopped, waitMs, options);
}

async function raced<T>(
  task: Promise<T>,
  stopped: Promise<undefined>,
  waitMs: number,
  options: GuardOptions,
): Promise<T | undefined> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = options.clock.after(waitMs, () =>
      reject(
        new ProviderError(`${options.source} did not answer within ${Math.round(waitMs / 1000)} s`, {
          status: null,
          retryable: true,
        }),
      ),
    );
  });
  // The loser of the race may still reject, with nobody there to hear it.
  task.catch(() => {});
  late.catch(() => {});
  try {
    return await Promise.race([task, stopped, late]);
  } finally {
    timer?.cancel();
  }
}

/** Asks a source to end, without waiting for it. */
function abandon(iterator: AsyncIterator<unknown>): void {
  try {
    iterator.return?.()?.then(undefined, () => {});
  } catch {
    // A source that cannot even be told to stop has nothing more to say to us.
  }
}
