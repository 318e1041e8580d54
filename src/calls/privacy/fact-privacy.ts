// What of the facts of one call is told, where not everything is.
import type { CallFact } from '../../contract/call-event.js';
import { CallRedactor, type RedactorState } from './call-redactor.js';
import { maskPressed, type PrivacyPolicy, privateFact } from './private-facts.js';

export class FactPrivacy {
  readonly #policy: PrivacyPolicy;
  /** Undefined where words stay as they are, or none does. */
  readonly #redactor: CallRedactor | undefined;

  /** `state`: of the process that had the call before. */
  constructor(policy: PrivacyPolicy, state?: RedactorState) {
    this.#policy = policy;
    this.#redactor = policy.transcript === 'redacted' ? new CallRedactor(state) : undefined;
  }

  /** For another process that takes the call up, with words of it. Undefined where none are needed. */
  get state(): RedactorState | undefined {
    return this.#redactor?.state;
  }

  /** Facts in the place of `fact`. */
  tell(fact: CallFact): readonly CallFact[] {
    const told = privateFact(fact, this.#policy);
    if (told === undefined) return [];
    return this.#redactor === undefined ? [told] : this.#redactor.tell(told, maskPressed);
  }
}
