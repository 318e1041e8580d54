// The calls that have something ready and no stream yet: so many at a time, and none that anybody could have made up.
import type { EngineRecipe } from '../../engines/engine.js';
import type { CallEnvironment } from '../call-environment.js';
import { PreparedCall, type PreparedParties } from './prepared-call.js';

/** Calls beyond it begin unprepared: each of them holds a connection or two. */
const MAX_WAITING = 100;

export class Preparations {
  readonly #environment: CallEnvironment;
  readonly #waiting = new Set<PreparedCall>();
  #isClosed = false;

  constructor(environment: CallEnvironment) {
    this.#environment = environment;
  }

  /**
   * Readies what the call needs, once whoever asks has been answered. Undefined where that is not possible, which costs the call
   * nothing but time. `ringMs` as in `PreparedCallOptions`.
   */
  begin(
    call: PreparedParties,
    recipe: EngineRecipe,
    { ringMs }: { ringMs: number | undefined },
  ): PreparedCall | undefined {
    const { carrier, maxCalls = MAX_WAITING } = this.#environment;
    if (this.#isClosed || recipe.prepare === undefined || this.#waiting.size >= maxCalls) return undefined;
    // Without a signature a webhook is anybody's, and what is prepared costs money.
    if (call.direction === 'inbound' && !carrier.verifies) return undefined;
    const prepared: PreparedCall = new PreparedCall({
      call,
      recipe,
      ringMs,
      environment: this.#environment,
      over: () => this.#waiting.delete(prepared),
    });
    this.#waiting.add(prepared);
    return prepared;
  }

  /** No call begins any more. Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const prepared of [...this.#waiting]) prepared.close();
  }
}
