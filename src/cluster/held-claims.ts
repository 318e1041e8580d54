// The calls that a node has claimed, for whoever has to tell the broker again.

export class HeldClaims {
  readonly #terms = new Map<string, number>();

  hold(callId: string, term: number): void {
    this.#terms.set(callId, term);
  }

  /** Another node has it in a term that outranks `term`, or it is released. False where it was not held in that term. */
  drop(callId: string, term = this.#terms.get(callId)): boolean {
    return this.#terms.get(callId) === term && this.#terms.delete(callId);
  }

  all(): readonly (readonly [callId: string, term: number])[] {
    return [...this.#terms];
  }
}
