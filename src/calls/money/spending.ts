// Money that was spent lately, in windows that slide by the minute.
import type { Clock } from '../../base/clock.js';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

/** Lengths of the windows, in minutes. */
export const WINDOWS = { perHour: 60, perDay: DAY_MINUTES } as const;
export type Window = keyof typeof WINDOWS;

/** Keeps a day. Amounts are micro-dollars, and may be taken back from when they were spent. */
export class Spending {
  readonly #clock: Clock;
  /** By minute. */
  readonly #minutes = new Map<number, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `agoMs`: how long ago it was spent. */
  add(micros: number, { agoMs = 0 }: { agoMs?: number } = {}): void {
    const now = this.#minute(0);
    const minute = this.#minute(Math.max(0, agoMs));
    this.#minutes.set(minute, (this.#minutes.get(minute) ?? 0) + micros);
    for (const old of this.#minutes.keys()) if (now - old >= DAY_MINUTES) this.#minutes.delete(old);
  }

  /** Micro-dollars of the last hour or day, the minute that is running included. */
  within(window: Window): number {
    const now = this.#minute(0);
    let sum = 0;
    for (const [minute, micros] of this.#minutes) if (now - minute < WINDOWS[window]) sum += micros;
    return sum;
  }

  #minute(agoMs: number): number {
    return Math.floor((this.#clock.now() - agoMs) / MINUTE_MS);
  }
}
