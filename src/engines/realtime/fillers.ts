// A short phrase while a tool of a realtime model takes its time: the caller hears something before they wonder whether anybody is there.
import type { Clock, Timer } from '../../base/clock.js';
import { LIMITS } from '../../conversation/limits.js';

export interface RealtimeFillersOptions {
  readonly clock: Clock;
  readonly phrases: readonly string[];
  /** Silence before the first one. */
  readonly afterMs: number;
  /** A tool still runs. */
  readonly isRunning: () => boolean;
  /** Somebody listens, and does not speak. */
  readonly isListening: () => boolean;
  /** When all the sound that there is for the caller will have been heard, on the clock. */
  readonly soundsUntil: () => number;
  readonly say: (phrase: string) => void;
}

/** The fillers of one call, one phrase after the other. */
export class RealtimeFillers {
  readonly #options: RealtimeFillersOptions;
  #next = 0;
  #timer: Timer | undefined;

  constructor(options: RealtimeFillersOptions) {
    this.#options = options;
  }

  /** Tools were called. */
  arm(): void {
    const { clock, afterMs } = this.#options;
    this.#timer?.cancel();
    this.#await(clock.now(), afterMs);
  }

  /** Idempotent. */
  close(): void {
    this.#timer?.cancel();
  }

  /** Says a phrase when nothing has sounded for so long since then. */
  #await(since: number, silentMs: number): void {
    const { clock, phrases, soundsUntil, isRunning, isListening, say } = this.#options;
    const phrase = phrases[this.#next % phrases.length];
    if (phrase === undefined) return;
    const from = Math.max(since, soundsUntil());
    this.#timer = clock.after(Math.max(0, from + silentMs - clock.now()), () => {
      if (!isRunning()) return;
      if (soundsUntil() > from) {
        this.#await(since, silentMs);
        return;
      }
      if (isListening()) {
        this.#next += 1;
        say(phrase);
      }
      this.#await(clock.now(), LIMITS.filler.againMs);
    });
  }
}
