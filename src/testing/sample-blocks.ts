// Audio in pieces of any size, handed on in blocks of one.

export class SampleBlocks {
  readonly #block: Int16Array;
  readonly #onBlock: (block: Int16Array) => void;
  #filled = 0;

  /** The block that `onBlock` is given is only good during the call. */
  constructor(blockSamples: number, onBlock: (block: Int16Array) => void) {
    this.#block = new Int16Array(blockSamples);
    this.#onBlock = onBlock;
  }

  push(pcm: Int16Array): void {
    for (let from = 0; from < pcm.length; ) {
      const piece = pcm.subarray(from, from + this.#block.length - this.#filled);
      this.#block.set(piece, this.#filled);
      this.#filled += piece.length;
      from += piece.length;
      if (this.#filled < this.#block.length) return;
      this.#filled = 0;
      this.#onBlock(this.#block);
    }
  }
}
