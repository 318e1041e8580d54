// What goes into a resampler and comes out of it: samples, or mu-law codes, which take no pass of their own.
import { CODES, LINEAR } from './mulaw.js';

/** Samples of the past that every stream keeps. No filter reaches further. */
export const HISTORY = 40;

/** Elements `at`, `at + step` and so on. */
interface Places {
  readonly at: number;
  readonly step: number;
  readonly groups: number;
}

/** A kind of element. */
export interface Format<T extends Int16Array | Uint8Array> {
  sampleOf(element: number): number;
  /** Puts elements of `input` on a stream, behind its past. */
  take(input: T, places: Places, stream: Float64Array): void;
  /** Rounds sums down, which after the one half is rounding to the nearest, keeps them to 16 bits, and puts them out. */
  give(sums: Float64Array, output: T, places: Places): void;
  /** Puts samples of a stream out as they are. */
  copy(stream: Float64Array, from: number, output: T, places: Places): void;
}

export const SAMPLES: Format<Int16Array> = {
  sampleOf: (sample) => sample,
  take(input, { at, step, groups }, stream) {
    for (let n = 0, from = at; n < groups; n++, from += step) stream[HISTORY + n] = input[from]!;
  },
  give(sums, output, { at, step, groups }) {
    for (let n = 0, place = at; n < groups; n++, place += step) {
      let sum = Math.floor(sums[n]!);
      if (sum > 32767) sum = 32767;
      else if (sum < -32768) sum = -32768;
      output[place] = sum;
    }
  },
  copy(stream, from, output, { at, step, groups }) {
    for (let n = from, place = at; n < from + groups; n++, place += step) output[place] = stream[n]!;
  },
};

export const MULAW: Format<Uint8Array> = {
  sampleOf: (code) => LINEAR[code]!,
  take(input, { at, step, groups }, stream) {
    for (let n = 0, from = at; n < groups; n++, from += step) stream[HISTORY + n] = LINEAR[input[from]!]!;
  },
  give(sums, output, { at, step, groups }) {
    for (let n = 0, place = at; n < groups; n++, place += step) {
      let sum = Math.floor(sums[n]!);
      if (sum > 32767) sum = 32767;
      else if (sum < -32768) sum = -32768;
      output[place] = CODES[(sum >> 2) & 0x3fff]!;
    }
  },
  copy(stream, from, output, { at, step, groups }) {
    for (let n = from, place = at; n < from + groups; n++, place += step)
      output[place] = CODES[(stream[n]! >> 2) & 0x3fff]!;
  },
};
