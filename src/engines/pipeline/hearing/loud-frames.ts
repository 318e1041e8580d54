// Is it speech that is loud, or a click?

/** So many voiced frames are speech: 60 ms, as it is recognized. */
const SPEECH_FRAMES = 3;

/** The last loud frames of a voice. */
export class LoudFrames {
  readonly #enough: number;
  #at: number[] = [];

  constructor(enough = SPEECH_FRAMES) {
    this.#enough = enough;
  }

  /** One came at this time, on the clock. */
  add(atMs: number): void {
    this.#at.push(atMs);
    if (this.#at.length > this.#enough) this.#at.shift();
  }

  /** True when enough of them for speech have come since then. */
  isSpeechSince(atMs: number): boolean {
    const [first] = this.#at;
    return this.#at.length === this.#enough && first !== undefined && first >= atMs;
  }

  forget(): void {
    this.#at = [];
  }
}
