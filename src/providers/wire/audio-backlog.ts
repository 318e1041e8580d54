// The last seconds of what the caller said, and how much of it a recognizer was sent.
import { PCM_16K } from '../../audio/format.js';

/** Seconds of the session's audio at a number of samples. */
export function toSeconds(samples: number): number {
  return samples / PCM_16K.sampleRateHz;
}

function toSamples(ms: number): number {
  return (ms * PCM_16K.sampleRateHz) / 1000;
}

/** Positions are samples since the session began. Holds a fixed number of them; the oldest make room. */
export class AudioBacklog {
  readonly #ring: Int16Array;
  /** Position after the newest sample, and of the next one to send. */
  #end = 0;
  #next = 0;
  #dropped = 0;
  #droppedBefore = 0;

  constructor(keptMs: number) {
    this.#ring = new Int16Array(toSamples(keptMs));
  }

  /** Position of the next sample to send. */
  get next(): number {
    return this.#next;
  }

  /** Samples that wait. */
  get waiting(): number {
    return this.#end - this.#next;
  }

  /** Samples that made room before anybody was sent them. */
  get dropped(): number {
    return this.#dropped;
  }

  /** How many of those there were since this was last asked for. */
  takeDropped(): number {
    const dropped = this.#dropped - this.#droppedBefore;
    this.#droppedBefore = this.#dropped;
    return dropped;
  }

  /** Copies a frame. */
  push(frame: Int16Array): void {
    const size = this.#ring.length;
    const kept = frame.length > size ? frame.subarray(frame.length - size) : frame;
    this.#end += frame.length - kept.length;
    const at = this.#end % size;
    const head = Math.min(kept.length, size - at);
    this.#ring.set(kept.subarray(0, head), at);
    this.#ring.set(kept.subarray(head), 0);
    this.#end += kept.length;
    this.#skipTo(this.#end - size);
  }

  /** The next samples that wait, at most so many; empty when none do. Valid until the next `push`. */
  take(maxSamples: number): Int16Array {
    const from = this.#next % this.#ring.length;
    const length = Math.min(maxSamples, this.waiting, this.#ring.length - from);
    this.#next += length;
    return this.#ring.subarray(from, from + length);
  }

  /** Sends again from a position on, or from the oldest sample that is still there. */
  rewindTo(position: number): void {
    const oldest = Math.max(0, this.#end - this.#ring.length);
    this.#next = Math.min(this.#end, Math.max(oldest, position));
  }

  /** Gives up what waits, but for the newest `ms`. */
  keepNewest(ms: number): void {
    this.#skipTo(this.#end - toSamples(ms));
  }

  #skipTo(position: number): void {
    if (position <= this.#next) return;
    this.#dropped += position - this.#next;
    this.#next = position;
  }
}
