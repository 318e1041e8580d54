// Does 20 ms of sound contain speech? The detector in plain JavaScript, decision for decision the same as the Rust one, whose
// comment says what it does and where it comes from (crates/transcoder/src/vad). Source of design, constants and rounding: the
// WebRTC project's `common_audio/vad`, copyright 2011 The WebRTC project authors, BSD-3-Clause; its text is in `NOTICE.md`.
import type { CoreResampler, CoreVoiceDetector } from '../../core.js';
import { FilterBank } from './bands.js';
import { Models } from './mixtures.js';

/** Of so many frames of speech in a row the last makes a long tail. */
const LONG_RUN = 7;
/** Frames that still count as speech when speech has ended, behind a long run and behind others. */
const LONG_TAIL = 5;
const SHORT_TAIL = 3;

/** @see CoreVoiceDetector */
export class JavaScriptVoiceDetector implements CoreVoiceDetector {
  readonly #bands = new FilterBank();
  readonly #models = new Models();
  /** Frames of speech in a row, up to `LONG_RUN`. */
  #run = 0;
  /** Frames to come that count as speech whatever they are. */
  #tail = 0;

  hear(frame: Int16Array): number {
    const isAudible = this.#bands.measure(frame);
    const isSpeech = isAudible && this.#models.judge(this.#bands.levels);
    const voiced = isSpeech || this.#tail > 0;
    if (isSpeech) {
      this.#run = Math.min(this.#run + 1, LONG_RUN);
      this.#tail = this.#run === LONG_RUN ? LONG_TAIL : SHORT_TAIL;
    } else {
      this.#run = 0;
      this.#tail = Math.max(0, this.#tail - 1);
    }
    return voiced ? -1 - this.#bands.energy : this.#bands.energy;
  }

  hearMulaw(resampler: CoreResampler, input: Uint8Array, output: Int16Array): number {
    resampler.processFromMulaw(input, output);
    return this.hear(output);
  }

  free(): void {}
}
