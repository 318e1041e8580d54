// What a realtime model owes (`conversation/watch`), as the parts of its call ask of it.
import type { Watch } from '../../conversation/watch.js';
import type { Conversation } from '../conversation.js';

export class RealtimeWatch {
  readonly #conversation: Conversation;
  /** The last sign of life, and until when there is sound, that the state was not told. */
  #aliveAt: number | undefined;
  #soundsUntil: number | undefined;
  readonly #tellSigns = () => {
    const [since, soundsUntil] = [this.#aliveAt, this.#soundsUntil];
    this.#aliveAt = this.#soundsUntil = undefined;
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

  /** The model gives a sign of life. */
  alive(): void {
    this.#aliveAt = this.#conversation.now;
    this.#conversation.defer(this.#tellSigns);
  }

  /** There is sound for the caller until then. */
  sounds(until: number): void {
    this.#soundsUntil = until;
    this.#conversation.defer(this.#tellSigns);
  }
}
