// What takes down the audio of a call, beside its path.
import type { AudioFormat } from './format.js';

/** Takes down what a line carries. Times are the call's. No method throws or waits, and arrays are valid until it returns. */
export interface LineTape {
  /** Another stream is up. */
  line(inbound: AudioFormat, outbound: AudioFormat, atMs: number): void;
  /** Audio of the caller that came at `atMs`. */
  caller(bytes: Uint8Array, atMs: number): void;
  /** Audio of the agent that sounds at `atMs`. */
  agent(bytes: Uint8Array, atMs: number): void;
  /** What would have sounded after `atMs` does not. */
  cut(atMs: number): void;
  /** The caller heard `lagMs` later what was to sound at `atMs`. */
  lag(atMs: number, lagMs: number): void;
}

/** Where a tape may be put in at any time. */
export interface LineTap extends Pick<LineTape, 'line'> {
  /** Undefined while there is none. */
  readonly tape: LineTape | undefined;
}
