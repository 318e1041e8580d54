// The goodbyes that are under way at the carrier, of calls that are over for us.
import type { CallEnvironment } from '../call-environment.js';
import type { EndedCall } from './ended-call.js';
import { Farewell } from './farewell.js';

export class Farewells {
  readonly #env: CallEnvironment;
  readonly #open = new Set<Farewell>();
  #isHurried = false;

  constructor(environment: CallEnvironment) {
    this.#env = environment;
  }

  keep(farewell: Farewell): void {
    this.#open.add(farewell);
    if (this.#isHurried) farewell.hurry();
    void farewell.done.then(() => this.#open.delete(farewell));
  }

  /** The leg of a call that is over turns out to be there. `askedMs`: for how long it has been asked for already. */
  say(call: EndedCall, wish: 'hang-up' | 'check', { askedMs = 0 } = {}): void {
    const { callId, ledger } = call;
    const { carrier, clock, logger, isRecordKept } = this.#env;
    const farewell = new Farewell({
      callId,
      wish,
      carrierCallId: () => call.carrierCallId,
      carrier,
      clock,
      logger,
      askedMs,
      isRecordKept,
      tell: (state) => ledger.hungUp(state),
      note: (code, message) => ledger.note(code, message),
    });
    call.follow(farewell);
    this.keep(farewell);
  }

  /** Tries once more what is open. Resolves when all are said; what is not after `timeoutMs` is left to the next process, or given up. */
  async finish(timeoutMs: number): Promise<void> {
    this.#isHurried = true;
    for (const farewell of this.#open) farewell.hurry();
    const timer = this.#env.clock.after(timeoutMs, () => {
      for (const farewell of [...this.#open]) farewell.abandon();
    });
    await Promise.all([...this.#open].map((farewell) => farewell.done));
    timer.cancel();
  }
}
