// What the caller said and nobody has written down for good: kept, so that another recognizer can hear it.
import { frameSamples, PCM_16K } from '../../audio/format.js';
import { KEPT_AUDIO_MS } from '../../audio/kept-audio.js';
import { AudioBacklog, toSeconds } from '../wire/audio-backlog.js';

const FRAME_SAMPLES = frameSamples(PCM_16K);

/** Positions are samples since the call began to be heard. */
export class UnsettledAudio {
  readonly #backlog = new AudioBacklog(KEPT_AUDIO_MS);
  #settled = 0;

  /** Position after the newest sample. */
  get end(): number {
    return this.#backlog.next + this.#backlog.waiting;
  }

  /** Length of what has no final text, in milliseconds. */
  get unsettledMs(): number {
    return Math.min(KEPT_AUDIO_MS, toSeconds(Math.max(0, this.end - this.#settled)) * 1000);
  }

  push(frame: Int16Array): void {
    this.#backlog.push(frame);
  }

  /** Audio up to here has its final text. */
  settle(position: number): void {
    if (position > this.#settled) this.#settled = Math.min(position, this.end);
  }

  /** Goes back to the beginning of what has no final text, as far as it is kept, and returns that position. */
  rewind(): number {
    this.#backlog.rewindTo(this.#settled - (this.#settled % FRAME_SAMPLES));
    return this.#backlog.next;
  }

  /** The frames from there on, each valid until the next. */
  *replay(): Generator<Int16Array> {
    while (this.#backlog.waiting > 0) yield this.#backlog.take(FRAME_SAMPLES);
  }
}
