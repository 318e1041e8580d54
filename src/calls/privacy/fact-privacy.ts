// What of the facts of one call is told, where not everything is.
import type { CallFact } from '../../contract/call-event.js';
import { CallRedactor, type RedactorState } from './call-redactor.js';
import { maskPressed, type PrivacyPolicy, privateFact, tellsKeys } from './private-facts.js';

/** For another process that takes the call up. Plain JSON. */
export interface PrivacyState {
  /** What was said last, where private numbers are looked for. @default nothing */
  readonly words?: RedactorState | undefined;
  /** Keys were pressed or sent. @default it is not known */
  readonly hasKeys?: boolean | undefined;
}

export class FactPrivacy {
  readonly #policy: PrivacyPolicy;
  /** Undefined where words stay as they are, or none does. */
  readonly #redactor: CallRedactor | undefined;
  #hasKeys: boolean;

  /** `before`: of the process that had the call before. */
  constructor(policy: PrivacyPolicy, before?: PrivacyState) {
    this.#policy = policy;
    this.#redactor = policy.transcript === 'redacted' ? new CallRedactor(before?.words) : undefined;
    this.#hasKeys = before !== undefined && before.hasKeys !== false;
  }

  get state(): PrivacyState {
    return { words: this.#redactor?.state, hasKeys: this.#hasKeys };
  }

  /** Facts in the place of `fact`. */
  tell(fact: CallFact): readonly CallFact[] {
    this.#hasKeys ||= tellsKeys(fact);
    const told = privateFact(fact, { ...this.#policy, hasKeys: this.#hasKeys });
    if (told === undefined) return [];
    return this.#redactor === undefined ? [told] : this.#redactor.tell(told, maskPressed);
  }
}
