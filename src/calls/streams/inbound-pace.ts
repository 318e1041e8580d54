// How much audio a stream may bring: as much as time passes, and what a hiccup of the network had held back. Who sends faster than a
// telephone can speak has the recognizer paid for hours in minutes.
import { type AudioFormat, FRAME_MS, frameBytes } from '../../audio/format.js';

/** So much may come at once: a stream that brings nothing for three seconds is lost, so no more than those can be late. */
const BUNCH_MS = 5000;
/** A stream is closed when so much of it was dropped, and a tenth of the time that passes is forgiven: clocks differ. */
const PATIENCE_MS = 10_000;
const FORGIVEN_SHARE = 0.1;

export class InboundPace {
  readonly #bytesPerMs: number;
  #allowedMs = BUNCH_MS;
  #droppedMs = 0;
  #at: number;

  /** Times are on one clock. */
  constructor(format: AudioFormat, now: number) {
    this.#bytesPerMs = frameBytes(format) / FRAME_MS;
    this.#at = now;
  }

  /** True when the sender keeps it up, and shall not be heard any more. */
  get isExhausted(): boolean {
    return this.#droppedMs > PATIENCE_MS;
  }

  /** This process did not read for so long: what waited in the socket comes at once, and is none of the sender's doing. */
  stalled(stallMs: number): void {
    this.#allowedMs += stallMs;
  }

  /** Milliseconds of audio that is to be dropped: none, or all of the message. */
  take(bytes: number, now: number): number {
    const passedMs = now - this.#at;
    this.#at = now;
    this.#allowedMs = Math.max(this.#allowedMs, Math.min(BUNCH_MS, this.#allowedMs + passedMs));
    this.#droppedMs = Math.max(0, this.#droppedMs - passedMs * FORGIVEN_SHARE);
    const audioMs = bytes / this.#bytesPerMs;
    if (audioMs <= this.#allowedMs) {
      this.#allowedMs -= audioMs;
      return 0;
    }
    this.#droppedMs += audioMs;
    return audioMs;
  }
}
