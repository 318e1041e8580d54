// Caller audio on its way to the service: sent as it comes, and kept for a while when the network or the connection does not take it.
import type { AudioFormat } from '../../audio/format.js';

export interface CallerOutboxOptions {
  readonly format: AudioFormat;
  /** Longest time that is kept; of more the oldest goes. */
  readonly keptMs: number;
  /** Sends a chunk, or returns false when it cannot be taken now. */
  readonly send: (chunk: Uint8Array) => boolean;
}

export class CallerOutbox {
  readonly #options: CallerOutboxOptions;
  readonly #bytesPerMs: number;
  #chunks: Uint8Array[] = [];
  #waitingMs = 0;
  #sentMs = 0;
  #droppedMs = 0;

  constructor(options: CallerOutboxOptions) {
    this.#options = options;
    const { encoding, sampleRateHz } = options.format;
    this.#bytesPerMs = (sampleRateHz / 1000) * (encoding === 'pcm' ? 2 : 1);
  }

  /** Audio that the connection was sent, in milliseconds. */
  get sentMs(): number {
    return this.#sentMs;
  }

  /** Audio that made room before it could be sent. */
  get droppedMs(): number {
    return this.#droppedMs;
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk.slice());
    this.#waitingMs += this.#msOf(chunk);
    this.flush();
    while (this.#waitingMs > this.#options.keptMs) this.#droppedMs += this.#take();
  }

  /** Sends what waits, as far as it is taken. */
  flush(): void {
    let chunk = this.#chunks[0];
    while (chunk !== undefined && this.#options.send(chunk)) {
      this.#sentMs += this.#take();
      chunk = this.#chunks[0];
    }
  }

  /** Another connection counts from its own start. */
  restart(): void {
    this.#sentMs = 0;
  }

  #take(): number {
    const chunk = this.#chunks.shift();
    const ms = chunk === undefined ? 0 : this.#msOf(chunk);
    this.#waitingMs = this.#chunks.length === 0 ? 0 : this.#waitingMs - ms;
    return ms;
  }

  #msOf(chunk: Uint8Array): number {
    return chunk.length / this.#bytesPerMs;
  }
}
