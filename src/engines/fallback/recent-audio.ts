// The last seconds of what the caller said, for an engine that begins in the middle of it.
import { FRAME_MS, frameSamples, PCM_16K } from '../../audio/format.js';
import { KEPT_AUDIO_MS } from '../../audio/kept-audio.js';

const FRAME_SAMPLES = frameSamples(PCM_16K);

const KEPT_FRAMES = KEPT_AUDIO_MS / FRAME_MS;

export class RecentAudio {
  /** A ring of whole frames, made with the first one. */
  #ring: Int16Array | undefined;
  #count = 0;

  /** A frame in the internal format. Copied. */
  push(frame: Int16Array): void {
    if (frame.length !== FRAME_SAMPLES) return;
    this.#ring ??= new Int16Array(KEPT_FRAMES * FRAME_SAMPLES);
    this.#ring.set(frame, (this.#count % KEPT_FRAMES) * FRAME_SAMPLES);
    this.#count += 1;
  }

  /** The frames of the last `ms`, as far as they are there, oldest first. Valid until the next `push`. */
  *last(ms: number): Generator<Int16Array> {
    const ring = this.#ring;
    if (ring === undefined) return;
    const end = this.#count;
    const wanted = Math.min(Math.ceil(ms / FRAME_MS), KEPT_FRAMES, end);
    for (let index = end - wanted; index < end; index += 1) {
      const at = (index % KEPT_FRAMES) * FRAME_SAMPLES;
      yield ring.subarray(at, at + FRAME_SAMPLES);
    }
  }

  /** Forgets everything. */
  clear(): void {
    this.#ring = undefined;
    this.#count = 0;
  }
}
