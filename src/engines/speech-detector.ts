// From voiced frames to speech: a single click is not speech, and a short gap does not end it.

/** Frames that are looked at, and how many of them must be voiced for speech to start. */
const WINDOW_FRAMES = 4;
const VOICED_TO_START = 3;

/** Unvoiced frames in a row after which the window starts afresh: 200 ms. */
const GAP_FRAMES = 10;

/** Turns voiced frames into the moment speech starts. Pure: one call per frame, no clock. */
export class SpeechDetector {
  #window = 0;
  #gap = 0;
  #speaking = false;

  /** True between the start of speech and a gap of 200 ms. */
  get speaking(): boolean {
    return this.#speaking;
  }

  /** Takes the next frame. Returns true for the frame with which speech starts. */
  update(voiced: boolean): boolean {
    this.#window = ((this.#window << 1) | (voiced ? 1 : 0)) & ((1 << WINDOW_FRAMES) - 1);
    this.#gap = voiced ? 0 : this.#gap + 1;
    if (this.#speaking) {
      if (this.#gap >= GAP_FRAMES) this.#speaking = false;
      return false;
    }
    this.#speaking = bitCount(this.#window) >= VOICED_TO_START;
    return this.#speaking;
  }
}

function bitCount(window: number): number {
  let count = 0;
  for (let bits = window; bits > 0; bits >>= 1) count += bits & 1;
  return count;
}
