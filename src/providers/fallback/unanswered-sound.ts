// Sound of the caller that a recognizer has made nothing of: a sign that it does not listen, whatever its connection says.
import { FRAME_MS } from '../../audio/format.js';
import { isLoud } from '../../audio/pcm-bytes.js';

/** A sound of this length is more than a cough: there should be words of it. */
const SPEECH_MS = 600;

/** A speaker who is silent for this long has come to an end of something. */
const PAUSE_MS = 600;

export class UnansweredSound {
  #loudMs = 0;
  #quietMs = 0;

  /** True when there was speech since the last sign of the recognizer. */
  get isSpeech(): boolean {
    return this.#loudMs >= SPEECH_MS;
  }

  /** True when, after such speech, there is a pause. */
  get isOver(): boolean {
    return this.isSpeech && this.#quietMs >= PAUSE_MS;
  }

  push(frame: Int16Array): void {
    if (isLoud(frame)) {
      this.#loudMs += FRAME_MS;
      this.#quietMs = 0;
    } else this.#quietMs += FRAME_MS;
  }

  /** The recognizer has given a sign of life. */
  answered(): void {
    this.#loudMs = 0;
  }
}
