// The caller's one wait (`conversation/wait`) on the clock of a pipeline call.
import type { Clock } from '../../base/clock.js';
import {
  type Awaited,
  beginWait,
  endWait,
  excuse,
  isTakenOver,
  isWaiting,
  leftMs,
  minAnswerMs,
  NOBODY_WAITS,
  silentMs,
  takeOverWait,
  type Wait,
  waitedMs,
  withoutSound,
  withSound,
  withWords,
} from '../../conversation/wait.js';
import type { Patience } from '../../providers/patience.js';

/** How long the caller can be kept waiting, and has been. */
export interface CallersPatience extends Patience {
  /** Milliseconds since when they hear nothing, without what the application took; 0 while nobody waits. */
  waitedMs(): number;
}

/** One per call. Times are those of the clock. */
export class CallerWait {
  readonly #clock: Pick<Clock, 'now'>;
  #wait = NOBODY_WAITS;
  /** Until there has to be something to say. */
  readonly thinking = this.#patience('words');
  /** Until words have to be heard. */
  readonly voice = this.#patience('sound');

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Another voice mode can take this one's place. */
  replaceable(): void {
    this.#wait = { ...this.#wait, isReplaceable: true };
  }

  get minAnswerMs(): number {
    return minAnswerMs(this.#wait);
  }

  /** An engine that failed has left this wait. */
  takeOver(left: Wait): void {
    this.#wait = takeOverWait(this.#wait, left, this.#now);
  }

  /** The caller waits since then, unless they did so already. */
  begin(since: number, minMs = 0): void {
    this.#wait = beginWait(this.#wait, { since, minMs, at: this.#now });
  }

  /** The caller has been answered, is owed nothing, or makes a sound. */
  end(): void {
    this.#wait = endWait(this.#wait, this.#now);
  }

  get isTakenOver(): boolean {
    return isTakenOver(this.#wait, this.#now);
  }

  get isOn(): boolean {
    return isWaiting(this.#wait, this.#now);
  }

  hasWords(has: boolean): void {
    this.#wait = withWords(this.#wait, { has, at: this.#now });
  }

  /** When the silence began in which the caller waits; now, where nothing is awaited and nobody waits. */
  silentSince({ isAwaited }: { readonly isAwaited: boolean }): number {
    return this.#now - (isAwaited || this.isOn ? silentMs(this.#wait, this.#now) : 0);
  }

  /** The wait of a caller who was told nothing of a failure, in a silence that began then. */
  untold(silentSince: number): Wait {
    return beginWait(endWait(this.#wait, this.#now), { since: silentSince, at: this.#now });
  }

  get soundsUntil(): number {
    return this.#wait.soundsUntil ?? Number.NEGATIVE_INFINITY;
  }

  sounds(until: number): void {
    this.#wait = withSound(this.#wait, until);
  }

  silenced(): void {
    this.#wait = withoutSound(this.#wait, this.#now);
  }

  excuse(from: number): void {
    this.#wait = excuse(this.#wait, { from, at: this.#now });
  }

  leftMs(): number {
    return leftMs(this.#wait, 'any', this.#now);
  }

  get #now(): number {
    return this.#clock.now();
  }

  #patience(awaited: Awaited): CallersPatience {
    return {
      leftMs: () => leftMs(this.#wait, awaited, this.#now),
      waitedMs: () => waitedMs(this.#wait, awaited, this.#now),
    };
  }
}
