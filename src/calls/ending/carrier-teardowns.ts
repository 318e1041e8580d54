// The teardowns that are under way at the carrier, of calls that are over for us.
import type { CallEnvironment } from '../call-environment.js';
import type { EndedCall } from './ended-call.js';
import { CarrierTeardown } from './carrier-teardown.js';

export class CarrierTeardowns {
  readonly #env: CallEnvironment;
  readonly #open = new Set<CarrierTeardown>();
  #isHurried = false;

  constructor(environment: CallEnvironment) {
    this.#env = environment;
  }

  keep(teardown: CarrierTeardown): void {
    this.#open.add(teardown);
    if (this.#isHurried) teardown.hurry();
    void teardown.done.then(() => this.#open.delete(teardown));
  }

  /** The leg of a call that is over turns out to be there. `askedMs`: for how long it has been asked for already. */
  begin(call: EndedCall, wish: 'hang-up' | 'check', { askedMs = 0 } = {}): void {
    const { callId, ledger } = call;
    const { carrier, clock, logger, isRecordKept } = this.#env;
    const teardown = new CarrierTeardown({
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
    call.follow(teardown);
    this.keep(teardown);
  }

  /** Tries once more what is open. Resolves when all are done; what is not after `timeoutMs` is left to the next process, or given up. */
  async finish(timeoutMs: number): Promise<void> {
    this.#isHurried = true;
    for (const teardown of this.#open) teardown.hurry();
    const timer = this.#env.clock.after(timeoutMs, () => {
      for (const teardown of [...this.#open]) teardown.abandon();
    });
    await Promise.all([...this.#open].map((teardown) => teardown.done));
    timer.cancel();
  }
}
