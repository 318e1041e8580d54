// What a realtime model owes (`conversation/watch`), as the parts of its call tell of it.
import { type Wait, withoutSound, withSound } from '../../conversation/wait.js';
import { alive, closed, due, lost, opening, owes, type Watch, watching } from '../../conversation/watch.js';
import type { Conversation } from '../conversation.js';

export interface RealtimeWatchOptions {
  readonly conversation: Conversation;
  /** An answer has not begun. It may have missed that the caller has finished: ask for it. Told once, then `silent`. */
  readonly late: () => void;
  readonly silent: () => void;
  /** Somebody else can answer in its place, and needs some of the time. */
  readonly isReplaceable: boolean;
  /** How long ago the caller finished what nobody has answered, as far as the line tells. @default nobody knows */
  readonly unansweredMs?: (() => number | undefined) | undefined;
}

export class RealtimeWatch {
  readonly #options: RealtimeWatchOptions;
  /** The caller's wait that an engine before this one has left; undefined where they waited for nothing. */
  readonly left: Wait | undefined;
  /** The last sign of life, and until when there is sound, that the state was not told. NaN for none: a number is written where it is, with every frame. */
  #aliveAt = Number.NaN;
  #soundsUntil = Number.NaN;
  readonly #tellSigns = () => {
    const [aliveAt, soundsUntil] = [this.#aliveAt, this.#soundsUntil];
    this.#aliveAt = this.#soundsUntil = Number.NaN;
    const watch = Number.isNaN(aliveAt) ? this.#watch : alive(this.#watch, aliveAt);
    this.#watch = Number.isNaN(soundsUntil) ? watch : { ...watch, wait: withSound(watch.wait, soundsUntil) };
  };

  constructor(options: RealtimeWatchOptions) {
    this.#options = options;
    const { wait } = options.conversation.state.watch;
    this.left = wait.since === null ? undefined : wait;
    this.#watch = watching(options);
    options.conversation.whenDue('watch', () => this.#ring());
  }

  /** As it stands. */
  get value(): Watch {
    return this.#watch;
  }

  /** When all the sound that there is for the caller will have been heard, on the clock. */
  get soundsUntil(): number {
    return this.#watch.wait.soundsUntil ?? Number.NEGATIVE_INFINITY;
  }

  /** An answer is to come that has not begun. */
  get isOwed(): boolean {
    return this.#watch.owed !== null;
  }

  /** Something happens, which does this to what is owed: most of `conversation/watch`. */
  tell(change: (watch: Watch, at: number) => Watch): void {
    this.#watch = change(this.#watch, this.#options.conversation.now);
  }

  opening(): void {
    this.tell((watch, at) => opening(watch, { left: this.left, at }));
  }

  lost(agoMs = 0): void {
    const { unansweredMs } = this.#options;
    const knownMs = unansweredMs === undefined ? null : (unansweredMs() ?? 0);
    this.tell((watch, at) => lost(watch, { agoMs, unansweredMs: knownMs, at }));
  }

  owes({ isAsked, waitedMs = 0 }: { isAsked: boolean; waitedMs?: number }): void {
    this.tell((watch, at) => owes(watch, { isAsked, waitedMs, at }));
  }

  /** The model gives a sign of life. `aheadMs`: of its sound so much was not heard. @default it is no sound */
  alive(aheadMs = 0): void {
    const { conversation } = this.#options;
    const { now } = conversation;
    this.#aliveAt = now;
    if (aheadMs > 0) this.#soundsUntil = now + aheadMs;
    conversation.defer(this.#tellSigns);
  }

  /** There is no sound any more. */
  silenced(): void {
    this.tell((watch, at) => ({ ...watch, wait: withoutSound(watch.wait, at) }));
  }

  /** Nothing is looked for any more. Idempotent. */
  close(): void {
    this.tell(closed);
  }

  get #watch(): Watch {
    return this.#options.conversation.state.watch;
  }

  set #watch(watch: Watch) {
    this.#options.conversation.change({ watch });
  }

  #ring(): void {
    const { watch, found } = due(this.#watch, this.#options.conversation.now);
    this.#watch = watch;
    if (found === 'late') this.#options.late();
    else if (found === 'silent') this.#options.silent();
  }
}
