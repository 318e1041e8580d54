// Lines of the log that anyone can cause: one a minute per subject, and how many there were.
import type { Clock } from '../base/clock.js';

/** Pause between two lines about one subject. */
const QUIET_MS = 60_000;

export class Seldom {
  readonly #clock: Clock;
  readonly #subjects = new Map<string, { quietUntil: number; unsaid: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How often it happened since the last time that this returned a number, this time included; undefined while it is too soon. */
  count(subject: string): number | undefined {
    const { quietUntil = 0, unsaid = 0 } = this.#subjects.get(subject) ?? {};
    const now = this.#clock.now();
    if (now < quietUntil) {
      this.#subjects.set(subject, { quietUntil, unsaid: unsaid + 1 });
      return undefined;
    }
    this.#subjects.set(subject, { quietUntil: now + QUIET_MS, unsaid: 0 });
    return unsaid + 1;
  }
}
