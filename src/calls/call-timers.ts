// The timers of one call by name: setting one again moves it, and closing leaves none behind.
import type { Clock, Timer } from '../base/clock.js';

export class CallTimers<Name extends string> {
  readonly #clock: Clock;
  readonly #timers = new Map<Name, Timer>();
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs `task` after `delayMs`, in the place of what the name stood for. Does nothing once closed. */
  set(name: Name, delayMs: number, task: () => void): void {
    this.cancel(name);
    if (this.#closed) return;
    const timer = this.#clock.after(delayMs, () => {
      this.#timers.delete(name);
      task();
    });
    this.#timers.set(name, timer);
  }

  cancel(name: Name): void {
    this.#timers.get(name)?.cancel();
    this.#timers.delete(name);
  }

  has(name: Name): boolean {
    return this.#timers.has(name);
  }

  /** Cancels all, for good. Idempotent. */
  close(): void {
    this.#closed = true;
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }
}
