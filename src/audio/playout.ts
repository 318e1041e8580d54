// What an engine sees of the way to the caller's ear.
import type { Audio, AudioFormat } from './format.js';

/**
 * The outbound side of a call. Positions are milliseconds of agent audio since the start of the call: `pushedMs` is how
 * much was given, `playedMs` how much of it the caller has heard as far as is known (acknowledged marks, the playback
 * clock in between, never more than was sent). After `clear` the two are equal: what was dropped is no part of the
 * timeline.
 */
export interface Playout {
  /** Queues audio in the internal format, any length. The array is copied before the call returns. */
  push(pcm: Int16Array): void;
  /** Asks for `name` to come back (through the engine's `markPlayed`) when everything pushed so far has been heard. A cleared mark never comes back. */
  mark(name: string): void;
  /** Drops all that has not been heard, here and at the carrier, in the same tick. Returns `playedMs`. */
  clear(): number;
  /** Silences the caller's ear as `clear` does, but drops nothing: what was not heard waits for `resume`, and so does what is pushed meanwhile. Idempotent. */
  pause(): void;
  /** Goes on with the first sample that was not heard. Nothing where nothing was paused, or `clear` came since. */
  resume(): void;
  /** Calls `listener` once, with the clock's `now()`, when the next pushed frame is handed to the carrier. Forgotten by `clear`. */
  onNextFrameSent(listener: (sentAtMs: number) => void): void;
  readonly pushedMs: number;
  readonly playedMs: number;
}

/** The playout as the call has it, which also takes what needs no conversion. Both kinds of audio may follow each other. */
export interface LinePlayout extends Playout {
  /** What the line carries at the moment, where that is mu-law or A-law of 8 kHz. Undefined otherwise, and without a line. */
  readonly lineFormat: AudioFormat | undefined;
  /** Queues audio of either kind. Bytes are in `lineFormat` and reach the carrier as they are; while there is none they are dropped. */
  push(audio: Audio): void;
}
