// The goodbyes that are under way at the carrier, of calls that are over for us.
import type { CallEnvironment } from './call-environment.js';
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

  /** The leg of a call that is over turns out to be there. */
  say(call: EndedCall, wish: 'hang-up' | 'check'): void {
    const { callId, ledger } = call;
    const { carrier, clock, logger } = this.#env;
    const carrierCallId = () => call.carrierCallId;
    const note = (code: string, message: string) => ledger.note(code, message);
    const farewell = new Farewell({ callId, wish, carrierCallId, carrier, clock, logger, note });
    call.follow(farewell);
    this.keep(farewell);
  }

  /** Resolves when all are said; what is not after `timeoutMs` is given up. */
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
