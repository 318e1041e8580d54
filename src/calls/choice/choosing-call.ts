// An inbound call that rings while the application decides what becomes of it.
import type { CallAnswer } from '../../carriers/carrier.js';
import type { WaitingCall } from '../call-desk.js';
import type { CallChoice, ChooseCall } from './call-choice.js';

export class ChoosingCall {
  readonly call: WaitingCall;
  /** What the carrier is told where it waits for a reply. Never rejects. */
  readonly answer: Promise<CallAnswer>;
  readonly #abort = new AbortController();
  readonly #abandoned: Promise<undefined>;

  /** `decided` hears the choice once; undefined when it was abandoned. */
  constructor(
    call: WaitingCall,
    choose: ChooseCall,
    decided: (choosing: ChoosingCall, choice: CallChoice | undefined) => CallAnswer,
  ) {
    this.call = call;
    const { signal } = this.#abort;
    this.#abandoned = new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    const choice = Promise.race([choose(call, { signal }), this.#abandoned]);
    this.answer = choice.then((made) => decided(this, signal.aborted ? undefined : made));
  }

  /** Nobody waits for the choice any more. Idempotent. */
  abandon(): void {
    this.#abort.abort();
  }
}
