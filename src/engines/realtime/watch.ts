// What a realtime model owes (`conversation/watch`), as the parts of its call ask of it.
import type { Watch } from '../../conversation/watch.js';
import type { Conversation } from '../conversation.js';

export class RealtimeWatch {
  readonly #conversation: Conversation;
  /** The last sign of life, and until when there is sound, that the state was not told. NaN for none: a number is written where it is, with every frame. */
  #aliveAt = Number.NaN;
  #soundsUntil = Number.NaN;
  readonly #tellSigns = () => {
    const [since, soundsUntil] = [toKnown(this.#aliveAt), toKnown(this.#soundsUntil)];
    this.#aliveAt = this.#soundsUntil = Number.NaN;
    this.#conversation.tell({ type: 'alive', since, soundsUntil });
  };

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  /** As it stands. */
  get value(): Watch {
    return this.#conversation.state.watch;
  }

  /** When all the sound that there is for the caller will have been heard, on the clock. */
  get soundsUntil(): number {
    return this.value.wait.soundsUntil ?? Number.NEGATIVE_INFINITY;
  }

  /** An answer is to come that has not begun. */
  get isOwed(): boolean {
    return this.value.owed !== null;
  }

  /** The model gives a sign of life. `aheadMs`: of its sound so much was not heard. @default it is no sound */
  alive(aheadMs = 0): void {
    const { now } = this.#conversation;
    this.#aliveAt = now;
    if (aheadMs > 0) this.#soundsUntil = now + aheadMs;
    this.#conversation.defer(this.#tellSigns);
  }
}

function toKnown(time: number): number | undefined {
  return Number.isNaN(time) ? undefined : time;
}
