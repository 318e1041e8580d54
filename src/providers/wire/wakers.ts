// Waiting for something to change, for those who look again at what they wait for each time that they are woken.
export class Wakers {
  readonly #waiting = new Set<() => void>();

  /** Until `wake` is called, or `signal` aborts. */
  woken(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
