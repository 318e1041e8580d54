// The time that conversations take, which is what the service is paid for: told while it passes, each second once.
import type { Clock, Timer } from '../../../base/clock.js';

export interface ConversationTimeOptions {
  readonly clock: Clock;
  /** So much more time. */
  readonly passed: (seconds: number) => void;
}

/** How current a record is. */
const TELL_MS = 10_000;

export class ElevenLabsAgentsTime {
  readonly #options: ConversationTimeOptions;
  #toldAt: number | undefined;
  #timer: Timer | undefined;

  constructor(options: ConversationTimeOptions) {
    this.#options = options;
  }

  /** A conversation has begun. */
  start(): void {
    if (this.#toldAt === undefined) this.#count();
  }

  /** It is over. Idempotent. */
  stop(): void {
    this.#tell();
    this.#timer?.cancel();
    this.#toldAt = undefined;
  }

  #count(): void {
    const { clock } = this.#options;
    this.#toldAt = clock.now();
    this.#timer = clock.after(TELL_MS, () => {
      this.#tell();
      this.#count();
    });
  }

  #tell(): void {
    const { clock, passed } = this.#options;
    if (this.#toldAt === undefined) return;
    const now = clock.now();
    const seconds = (now - this.#toldAt) / 1000;
    this.#toldAt = now;
    if (seconds > 0) passed(seconds);
  }
}
