// What comes by itself, for a reader who asks: audio that a socket brings, read by `for await`.
import { ProviderError } from '../../base/errors.js';

/** Samples that may wait for a reader: five minutes at 16 kHz, and no sentence is so long. */
const MAX_WAITING = 4_800_000;

/** One reader. `end` lets it read what is there; `stop` does not. */
export class ChunkQueue<T extends { readonly length: number }> implements AsyncIterable<T> {
  #chunks: T[] = [];
  #waiting = 0;
  #ended = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  /** What is too much ends the queue, and the reader gets a ProviderError after the rest. */
  push(chunk: T): void {
    if (this.#ended || chunk.length === 0) return;
    if (this.#waiting + chunk.length > MAX_WAITING) {
      this.end(new ProviderError('The voice sends audio without end.', { status: null, retryable: false }));
      return;
    }
    this.#waiting += chunk.length;
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
        this.#waiting -= chunk.length;
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
