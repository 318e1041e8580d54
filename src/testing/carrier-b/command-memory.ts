// Commands by their ids: one that is repeated within a minute is executed once and answered alike.
import type { Clock } from '../../base/clock.js';

/** Source: the vendor's page on idempotency. */
const MEMORY_MS = 60_000;

interface Known {
  fingerprint: string;
  atMs: number;
  answer: object;
}

/** The commands of one call leg, or the dials of an account. */
export class CommandMemory {
  readonly #clock: Clock;
  readonly #violate: (sentence: string) => void;
  readonly #known = new Map<string, Known>();

  constructor(clock: Clock, violate: (sentence: string) => void) {
    this.#clock = clock;
    this.#violate = violate;
  }

  /** The answer of the same command as it was given before; undefined for one that is to be executed. */
  recall(commandId: string, fingerprint: string): object | undefined {
    const known = this.#known.get(commandId);
    if (known === undefined) return undefined;
    if (known.fingerprint !== fingerprint)
      this.#violate('a command_id that stands for two different commands');
    if (this.#clock.now() - known.atMs <= MEMORY_MS) return known.answer;
    this.#violate('a command_id that is used again after a minute');
    return undefined;
  }

  remember(commandId: string, fingerprint: string, answer: object): void {
    this.#known.set(commandId, { fingerprint, atMs: this.#clock.now(), answer });
  }
}
