// What outlives its call by a moment: a request to the carrier, a closing handshake, the last word on what was used. Whoever stops
// waits for it a little, and cuts what is left then, so that nothing outlives them.

export class LooseEnds {
  readonly #cuts = new Set<() => void>();
  #isOver = false;
  readonly #waiting: (() => void)[] = [];

  /** `cut` ends it at once. To be told when it has ended by itself: the function returned. Where all is over it is cut straight away. */
  add(cut: () => void): () => void {
    if (this.#isOver) {
      cut();
      return () => {};
    }
    this.#cuts.add(cut);
    return () => {
      this.#cuts.delete(cut);
      if (this.#cuts.size === 0) for (const tell of this.#waiting.splice(0)) tell();
    };
  }

  /** Resolves when all of them have ended. Never rejects. */
  settled(): Promise<void> {
    if (this.#cuts.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Cuts what is left, and whatever comes later. Idempotent. */
  cut(): void {
    this.#isOver = true;
    for (const cut of this.#cuts) cut();
    this.#cuts.clear();
  }
}
