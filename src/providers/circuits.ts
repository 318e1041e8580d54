// Which providers fail again and again: for a while no call begins with one of them. Shared by all calls of a process. A provider is an
// object with an address of its own: another one of the same name may be another server.
import type { Clock } from '../base/clock.js';
import { ProviderError } from '../base/errors.js';

/** So many failures within `WINDOW_MS` open a circuit, for `OPEN_MS`. */
const FAILURES = 5;
const WINDOW_MS = 30_000;
const OPEN_MS = 20_000;

interface Circuit {
  /** When it failed, oldest first; at most `FAILURES`. */
  failedAt: number[];
  openUntil: number;
}

/** A provider, or an application in the place of one, did not go on while there was time for it. */
export class LateError extends ProviderError {
  /** It has had enough time itself that this says something about it, and not about what kept the caller waiting before. */
  readonly isFair: boolean;

  constructor(sentence: string, { isFair }: { readonly isFair: boolean }) {
    super(sentence, { status: null, retryable: true });
    this.isFair = isFair;
  }
}

/**
 * True for a failure that makes other calls skip a provider, be it a member of a chain or what a voice mode cannot do without: any, but that it
 * was late with the little time that others had left of the caller's patience. This call asks another one all the same.
 */
export function countsAgainst(error: unknown): boolean {
  return !(error instanceof LateError) || error.isFair;
}

export class Circuits {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #circuits = new WeakMap<object, Circuit>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** True while a call should begin with another provider, where there is one. */
  isOpen(provider: object): boolean {
    return (this.#circuits.get(provider)?.openUntil ?? 0) > this.#clock.now();
  }

  failed(provider: object): void {
    const now = this.#clock.now();
    const circuit = this.#circuits.get(provider) ?? { failedAt: [], openUntil: 0 };
    circuit.failedAt = [...circuit.failedAt.filter((at) => now - at < WINDOW_MS), now];
    if (circuit.failedAt.length >= FAILURES) {
      circuit.openUntil = now + OPEN_MS;
      circuit.failedAt = [];
    }
    this.#circuits.set(provider, circuit);
  }

  /** It has done its work: failures before this are forgotten. */
  worked(provider: object): void {
    this.#circuits.delete(provider);
  }

  /** The first of `choices` whose circuit is not open; the first one where all are. */
  choose<T extends object>(choices: readonly [T, ...T[]]): T {
    return choices.find((choice) => !this.isOpen(choice)) ?? choices[0];
  }
}
