// Is it speech that is loud, or a click?

/** Voiced frames that are too loud for an echo, in the sound of a piece of text, make it the caller's: 60 ms, as speech is recognised. */
const SPEECH_FRAMES = 3;

/** The last loud frames of a voice. */
export class LoudFrames {
  #at: number[] = [];

  /** One came at this time, on the clock. */
  add(atMs: number): void {
    this.#at.push(atMs);
    if (this.#at.length > SPEECH_FRAMES) this.#at.shift();
  }

  /** True when enough of them for speech have come since then. */
  isSpeechSince(atMs: number): boolean {
    const [first] = this.#at;
    return this.#at.length === SPEECH_FRAMES && first !== undefined && first >= atMs;
  }

  forget(): void {
    this.#at = [];
  }
}
