// Sentences that were spoken before. The embedded voice always says a text the same way, so it need not say it twice.

/** Keeps the most recently used audio, up to a number of samples. The arrays in it are read only. */
export class SentenceCache {
  readonly #entries = new Map<string, Int16Array>();
  readonly #maxSamples: number;
  #samples = 0;

  constructor(maxSamples: number) {
    this.#maxSamples = maxSamples;
  }

  get(key: string): Int16Array | undefined {
    const pcm = this.#entries.get(key);
    if (pcm === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, pcm);
    return pcm;
  }

  set(key: string, pcm: Int16Array): void {
    if (this.#entries.has(key) || pcm.length > this.#maxSamples) return;
    this.#entries.set(key, pcm);
    this.#samples += pcm.length;
    for (const [oldest, audio] of this.#entries) {
      if (this.#samples <= this.#maxSamples) return;
      this.#entries.delete(oldest);
      this.#samples -= audio.length;
    }
  }
}
