// Moments, some time apart, at which everything leaves the process for which nobody waits: together, since a message costs about as much as what is in it.
import type { Clock, Timer } from './clock.js';
import { toNextRound } from './pause.js';

/** A wait that may be cut short. */
export interface Wait {
  readonly over: Promise<void>;
  /** Idempotent. */
  end(): void;
}

/** One timer for all who wait: of several, each would ring a moment before the next. No signal for each wait: making one costs more than sealing a fact. */
export class Rounds {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #waiting = new Set<() => void>();
  #timer: Timer | undefined;

  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** Until the next one. */
  next(): Wait {
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = () => {
        this.#waiting.delete(end);
        if (this.#waiting.size === 0) this.#stop();
        resolve();
      };
    });
    this.#waiting.add(end);
    this.#timer ??= this.#clock.after(toNextRound(this.#clock, this.#everyMs), () => {
      for (const each of [...this.#waiting]) each();
    });
    return { over, end };
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
