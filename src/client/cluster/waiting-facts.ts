// Facts that the broker may not have, in order, and those of each call without looking at the others: a call that is kept asks for its own with each change.
import type { CallEvent } from '../../contract/call-event.js';

export class WaitingFacts {
  readonly #all = new Set<CallEvent>();
  readonly #byCall = new Map<string, Set<CallEvent>>();

  get size(): number {
    return this.#all.size;
  }

  has(fact: CallEvent): boolean {
    return this.#all.has(fact);
  }

  /** Behind all others. */
  add(fact: CallEvent): void {
    this.#all.add(fact);
    const ofCall = this.#byCall.get(fact.callId) ?? new Set();
    this.#byCall.set(fact.callId, ofCall.add(fact));
  }

  /** Before all others. */
  addBefore(facts: readonly CallEvent[]): void {
    const behind = [...this.#all];
    this.#all.clear();
    this.#byCall.clear();
    for (const fact of [...facts, ...behind]) this.add(fact);
  }

  delete(fact: CallEvent): void {
    this.#all.delete(fact);
    const ofCall = this.#byCall.get(fact.callId);
    ofCall?.delete(fact);
    if (ofCall?.size === 0) this.#byCall.delete(fact.callId);
  }

  /** The oldest ones. */
  first(count: number): CallEvent[] {
    const facts: CallEvent[] = [];
    for (const fact of this.#all) {
      if (facts.length >= count) break;
      facts.push(fact);
    }
    return facts;
  }

  of(callId: string): CallEvent[] {
    return [...(this.#byCall.get(callId) ?? [])];
  }
}
