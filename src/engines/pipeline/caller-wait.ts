// The caller's one wait (`conversation/wait`) of a pipeline call, as those know it who give something a time.
import {
  type Awaited,
  beginWait,
  endWait,
  isWaiting,
  leftMs,
  minAnswerMs,
  NOBODY_WAITS,
  type Wait,
  waitedMs,
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
    conversation.tell({ type: 'starts', isReplaceable });
  }

  get minAnswerMs(): number {
    return minAnswerMs(this.value);
  }

  /** The caller waits since then, unless they did so already. */
  begin(since: number, minMs = 0): void {
    this.#conversation?.tell({ type: 'wait.begun', since, minMs });
  }

  /** The caller has been answered, is owed nothing, or makes a sound. */
  end(): void {
    this.#conversation?.tell({ type: 'wait.over' });
  }

  get isOn(): boolean {
    return isWaiting(this.value, this.#now);
  }

  hasWords(has: boolean): void {
    this.#conversation?.tell({ type: 'words.ready', has });
  }

  /** As it stands. */
  get value(): Wait {
    return this.#conversation?.state.watch.wait ?? NOBODY_WAITS;
  }

  /** The wait of a caller who was told nothing of a failure, in a silence that began then. */
  untold(silentSince: number): Wait {
    return beginWait(endWait(this.value, this.#now), { since: silentSince, at: this.#now });
  }

  get soundsUntil(): number {
    return this.value.soundsUntil ?? Number.NEGATIVE_INFINITY;
  }

  sounds(until: number): void {
    this.#conversation?.tell({ type: 'sounds', until });
  }

  silenced(): void {
    this.#conversation?.tell({ type: 'silenced' });
  }

  excuse(from: number): void {
    this.#conversation?.tell({ type: 'excused', from });
  }

  leftMs(): number {
    return leftMs(this.value, 'any', this.#now);
  }

  get #now(): number {
    return this.#conversation?.now ?? 0;
  }

  #patience(awaited: Awaited): CallersPatience {
    return {
      leftMs: () => leftMs(this.value, awaited, this.#now),
      waitedMs: () => waitedMs(this.value, awaited, this.#now),
    };
  }
}
