// Reads what a provider or an application streams, without ever being held up by it.
import { abandon, hearOut, iteratorOf } from '../base/async-iteration.js';
import type { Clock, Timer } from '../base/clock.js';
import { EventLoopTurns } from '../base/event-loop-turns.js';
import { LIMITS } from '../conversation/limits.js';
import { LateError } from '../providers/circuits.js';
import type { CallersPatience } from './pipeline/caller-wait.js';

export interface GuardOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Who is read, for the error's words. */
  readonly source: string;
  /** Longest wait for the first item, and for every one after it, in milliseconds. */
  readonly firstMs: number;
  readonly nextMs: number;
  /** Who hears nothing meanwhile may not be kept waiting so long. */
  readonly patience?: CallersPatience | undefined;
  /** Told when patience is used up. Who then finds something to be heard has won more of it. Must not throw. */
  readonly outOfPatience?: (() => void) | undefined;
}

export interface StreamGuardOptions<T> extends GuardOptions {
  /** Told what the source still gives after nobody reads on: for a while, and never after an error. Must not throw. */
  readonly late?: ((item: T) => void) | undefined;
}

/**
 * The items of `source`. Ends at once when the signal aborts, also when the source does not, and then drops whatever the
 * source still does, its rejections included. @throws LateError when an item is too long in coming.
 */
export async function* guardedStream<T>(
  source: AsyncIterable<T>,
  options: StreamGuardOptions<T>,
): AsyncGenerator<T> {
  const iterator = iteratorOf(source);
  const stop = stopSwitch(options.signal);
  const turns = new EventLoopTurns();
  const askedAt = options.clock.now();
  let waitMs = options.firstMs;
  let finished = false;
  let asked: Promise<IteratorResult<T>> | undefined;
  try {
    while (!options.signal.aborted) {
      asked = Promise.resolve(iterator.next());
      const item = await raced(asked, { stopped: stop.stopped, waitMs, askedAt }, options);
      if (item === undefined) return;
      asked = undefined;
      if (item.done === true) {
        finished = true;
        return;
      }
      waitMs = options.nextMs;
      yield item.value;
      const turn = turns.next();
      if (turn !== undefined) await turn;
    }
  } finally {
    stop.release();
    const { clock, late } = options;
    if (!finished && late !== undefined) void hearOut(iterator, { clock, asked, late });
    else if (!finished) abandon(iterator);
  }
}

/** Runs `task` with the same guard: its value, or undefined when the signal aborts first. @throws LateError when it takes too long. */
export async function guardedValue<T>(task: Promise<T>, options: GuardOptions): Promise<T | undefined> {
  const stop = stopSwitch(options.signal);
  try {
    const { clock, firstMs } = options;
    return await raced(task, { stopped: stop.stopped, waitMs: firstMs, askedAt: clock.now() }, options);
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

/** So often patience is asked for. */
const ASKED_AGAIN_MS = 1000;

interface Race {
  readonly stopped: Promise<undefined>;
  readonly waitMs: number;
  /** When the source was asked for its first item. */
  readonly askedAt: number;
}

async function raced<T>(
  task: Promise<T>,
  { stopped, waitMs, askedAt }: Race,
  options: GuardOptions,
): Promise<T | undefined> {
  const { clock, patience, outOfPatience, source } = options;
  const startedAt = clock.now();
  let timer: Timer | undefined;
  const over = new Promise<never>((_, reject) => {
    // What is left changes meanwhile.
    const wait = () => {
      const waitedMs = clock.now() - startedAt;
      const patienceMs = () => patience?.leftMs() ?? Number.POSITIVE_INFINITY;
      if (waitedMs < waitMs && patienceMs() <= 0) outOfPatience?.();
      const leftMs = Math.min(waitMs - waitedMs, patienceMs());
      if (leftMs > 0) timer = clock.after(Math.min(leftMs, ASKED_AGAIN_MS), wait);
      else if (patience === undefined || waitedMs >= waitMs) reject(tooLate(source, waitedMs));
      else {
        const silentMs = patience.waitedMs();
        const ownMs = Math.min(silentMs, clock.now() - askedAt);
        reject(tooLate(source, ownMs, silentMs - ownMs));
      }
    };
    wait();
  });
  // The loser of the race may still reject, with nobody there to hear it.
  task.catch(() => {});
  over.catch(() => {});
  try {
    return await Promise.race([task, stopped, over]);
  } finally {
    timer?.cancel();
  }
}

/** `ms`: how long it was asked. `beforeMs`: how long the caller had heard nothing by then. */
function tooLate(source: string, ms: number, beforeMs = 0): LateError {
  const beforeS = toSeconds(beforeMs);
  const before = beforeS === 0 ? '' : ` (the caller had waited ${beforeS} s before it was asked)`;
  const sentence = `${source} did not answer within ${toSeconds(ms)} s${before}`;
  // Where nobody had waited before, its own time is all that there was.
  return new LateError(sentence, { isFair: beforeMs === 0 || ms >= LIMITS.model.fairMs });
}

/** With one decimal at most. */
function toSeconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
