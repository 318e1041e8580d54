// The caller's one wait (`conversation/wait`) of a pipeline call, as those know it who give something a time.
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
  takeOverWait,
  type Wait,
  waitedMs,
  withoutSound,
  withSound,
  withWords,
} from '../../conversation/wait.js';
import type { Patience } from '../../providers/patience.js';
import type { Conversation } from '../conversation.js';

/** How long the caller can be kept waiting, and has been. */
export interface CallersPatience extends Patience {
  /** Milliseconds since when they hear nothing, without what the application took; 0 while nobody waits. */
  waitedMs(): number;
}

/** One per call. Before its conversation has begun nobody waits. */
export class CallerWait {
  #conversation: Conversation | undefined;
  /** Until there has to be something to say. */
  readonly thinking = this.#patience('words');
  /** Until words have to be heard. */
  readonly voice = this.#patience('sound');

  /**
   * The call has begun. `isReplaceable`: another voice mode can take this one's place. What an engine that failed has left of a wait goes
   * on.
   */
  begins(conversation: Conversation, { isReplaceable }: { isReplaceable: boolean }): void {
    this.#conversation = conversation;
    this.#wait = takeOverWait({ ...NOBODY_WAITS, isReplaceable }, this.#wait, this.#now);
  }

  get minAnswerMs(): number {
    return minAnswerMs(this.#wait);
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

  /** As it stands. */
  get value(): Wait {
    return this.#wait;
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
    return this.#conversation?.now ?? 0;
  }

  get #wait(): Wait {
    return this.#conversation?.state.watch.wait ?? NOBODY_WAITS;
  }

  set #wait(wait: Wait) {
    const conversation = this.#conversation;
    conversation?.change({ watch: { ...conversation.state.watch, wait } });
  }

  #patience(awaited: Awaited): CallersPatience {
    return {
      leftMs: () => leftMs(this.#wait, awaited, this.#now),
      waitedMs: () => waitedMs(this.#wait, awaited, this.#now),
    };
  }
}
