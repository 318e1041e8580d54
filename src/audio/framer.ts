// Chunks of any size in, whole frames out. Knows samples only; what they mean is the listener's business.

export type FrameListener = (frame: Int16Array) => void;

/** Cuts a stream of samples into frames of one length. The listener's array is valid until it returns. */
export class Framer {
  readonly #frame: Int16Array;
  readonly #listener: FrameListener;
  #filled = 0;

  constructor(frameSamples: number, listener: FrameListener) {
    this.#frame = new Int16Array(frameSamples);
    this.#listener = listener;
  }

  /** Takes samples and hands out every frame that is full. */
  push(samples: Int16Array): void {
    const length = this.#frame.length;
    let offset = 0;
    while (offset < samples.length) {
      // A whole frame with nothing waiting before it is handed on as it lies.
      if (this.#filled === 0 && samples.length - offset >= length) {
        this.#listener(samples.length === length ? samples : samples.subarray(offset, offset + length));
        offset += length;
        continue;
      }
      const taken = Math.min(length - this.#filled, samples.length - offset);
      this.#frame.set(samples.subarray(offset, offset + taken), this.#filled);
      this.#filled += taken;
      offset += taken;
      if (this.#filled < length) return;
      this.#filled = 0;
      this.#listener(this.#frame);
    }
  }

  /** Hands out what waits, filled up with silence. Nothing when nothing waits. */
  flush(): void {
    if (this.#filled === 0) return;
    this.#frame.fill(0, this.#filled);
    this.#filled = 0;
    this.#listener(this.#frame);
  }

  /** Forgets what waits. */
  reset(): void {
    this.#filled = 0;
  }
}
