// Which providers fail again and again: for a while no call begins with one of them. Shared by all calls of a process.
import type { Clock } from '../base/clock.js';

/** So many failures within `WINDOW_MS` open a circuit, for `OPEN_MS`. */
const FAILURES = 5;
const WINDOW_MS = 30_000;
const OPEN_MS = 20_000;

interface Circuit {
  /** When it failed, oldest first; at most `FAILURES`. */
  failedAt: number[];
  openUntil: number;
}

/** Circuits by the name of a provider, `vendor/model`. */
export class Circuits {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #circuits = new Map<string, Circuit>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** True while a call should begin with another provider, where there is one. */
  isOpen(name: string): boolean {
    return (this.#circuits.get(name)?.openUntil ?? 0) > this.#clock.now();
  }

  failed(name: string): void {
    const now = this.#clock.now();
    const circuit = this.#circuits.get(name) ?? { failedAt: [], openUntil: 0 };
    circuit.failedAt = [...circuit.failedAt.filter((at) => now - at < WINDOW_MS), now];
    if (circuit.failedAt.length >= FAILURES) {
      circuit.openUntil = now + OPEN_MS;
      circuit.failedAt = [];
    }
    this.#circuits.set(name, circuit);
  }

  /** It has done its work: failures before this are forgotten. */
  worked(name: string): void {
    this.#circuits.delete(name);
  }

  /** The first of `choices` whose circuit is not open; the first one where all are. */
  choose<T extends { readonly name: string }>(choices: readonly [T, ...T[]]): T {
    return choices.find(({ name }) => !this.isOpen(name)) ?? choices[0];
  }
}
