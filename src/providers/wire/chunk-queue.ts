// What comes by itself, for a reader who asks: audio that a socket brings, read by `for await`.

/** One reader. `end` lets it read what is there; `stop` does not. */
export class ChunkQueue<T> implements AsyncIterable<T> {
  #chunks: T[] = [];
  #ended = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  get ended(): boolean {
    return this.#ended;
  }

  push(chunk: T): void {
    if (this.#ended) return;
    this.#chunks.push(chunk);
    this.#wake?.();
  }

  /** No more will come; with `failure` the reader gets that after the rest. Idempotent. */
  end(failure?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#failure = failure;
    this.#wake?.();
  }

  /** Ends the reading now. */
  stop(): void {
    this.#chunks = [];
    this.#failure = undefined;
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        yield chunk;
        continue;
      }
      if (this.#ended) break;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    if (this.#failure !== undefined) throw this.#failure;
  }
}
