// The resampler in plain JavaScript, sample for sample the same as the Rust one.
//
// Taps are multiples of 2^-20 and samples 16-bit integers, so every product and every sum here is a multiple of 2^-20
// below 2^17: 37 bits, and a double holds 53. The sums are exact in any order, and rounded once, as in the other backends.
import type { CoreResampler } from '../core.js';
import { findPath, type RatePath } from '../rates.js';
import { decodeBase64 } from './base64.js';
import { SCALE_BITS } from './filters.js';
import { type Format, HISTORY, MULAW, SAMPLES } from './formats.js';

/** Groups that one pass handles: 20 ms. */
const BLOCK_GROUPS = 160;
/** Taps and outputs are taken four by four; reading a little past the block is harmless. */
const STRIDE = HISTORY + BLOCK_GROUPS + 8;

/** A stretch of taps on one stream: output n is the sum of `taps[i] * stream[from + n + i]`. */
interface Stretch {
  readonly stream: number;
  readonly from: number;
  /** Length a multiple of four, or one tap that is 1. */
  readonly taps: Float64Array;
}

/** Plans by path: for each output phase of a group its stretches. */
const plans = new Map<RatePath, readonly (readonly Stretch[])[]>();

function planOf(path: RatePath): readonly (readonly Stretch[])[] {
  let plan = plans.get(path);
  if (plan === undefined) {
    plan = Array.from({ length: path.up }, (_, phase) => stretchesOf(path, phase));
    plans.set(path, plan);
  }
  return plan;
}

function stretchesOf({ up, down, half }: RatePath, phase: number): Stretch[] {
  const reach = half.length - 1;
  const newest = phase * down + down - 1;
  /** Per stream: taps by their place relative to the group, from 0 back. */
  const streams: Map<number, number>[] = Array.from({ length: down }, () => new Map());
  for (let index = 0; index <= 2 * reach; index++) {
    const tap = half[Math.abs(index - reach)]!;
    if (tap === 0 || (newest - index) % up !== 0) continue;
    const sample = (newest - index) / up;
    const group = Math.floor(sample / down);
    streams[sample - group * down]!.set(group, tap / 2 ** SCALE_BITS);
  }
  return streams.flatMap((taps, stream) => {
    if (taps.size === 0) return [];
    const first = Math.min(...taps.keys());
    const length = Math.max(...taps.keys()) - first + 1;
    const alone = length === 1 && taps.get(first) === 1;
    const padded = new Float64Array(alone ? 1 : Math.ceil(length / 4) * 4);
    for (const [group, tap] of taps) padded[group - first] = tap;
    return [{ stream, from: HISTORY + first, taps: padded }];
  });
}

/** Adds a stretch to `sums`, four outputs at a time, so that every sample and tap is read once for four products. */
function addStretch(stream: Float64Array, { from, taps }: Stretch, sums: Float64Array, groups: number): void {
  for (let n = 0; n < groups; n += 4) {
    let sum0 = sums[n]!;
    let sum1 = sums[n + 1]!;
    let sum2 = sums[n + 2]!;
    let sum3 = sums[n + 3]!;
    let at = from + n;
    let sample0 = stream[at]!;
    let sample1 = stream[at + 1]!;
    let sample2 = stream[at + 2]!;
    for (let i = 0; i < taps.length; i += 4) {
      const sample3 = stream[at + 3]!;
      const sample4 = stream[at + 4]!;
      const sample5 = stream[at + 5]!;
      const sample6 = stream[at + 6]!;
      const tap0 = taps[i]!;
      const tap1 = taps[i + 1]!;
      const tap2 = taps[i + 2]!;
      const tap3 = taps[i + 3]!;
      sum0 += tap0 * sample0 + tap1 * sample1 + tap2 * sample2 + tap3 * sample3;
      sum1 += tap0 * sample1 + tap1 * sample2 + tap2 * sample3 + tap3 * sample4;
      sum2 += tap0 * sample2 + tap1 * sample3 + tap2 * sample4 + tap3 * sample5;
      sum3 += tap0 * sample3 + tap1 * sample4 + tap2 * sample5 + tap3 * sample6;
      sample0 = sample4;
      sample1 = sample5;
      sample2 = sample6;
      at += 4;
    }
    sums[n] = sum0;
    sums[n + 1] = sum1;
    sums[n + 2] = sum2;
    sums[n + 3] = sum3;
  }
}

/** A copy where an output on the same memory would change what is still to be read. */
function apart<T extends Int16Array | Uint8Array>(input: T, output: Int16Array | Uint8Array): T {
  return input.buffer === output.buffer ? (input.slice() as T) : input;
}

/** @see CoreResampler */
export class JavaScriptResampler implements CoreResampler {
  readonly #path: RatePath;
  readonly #plan: readonly (readonly Stretch[])[];
  readonly #streams: Float64Array[];
  readonly #sums = new Float64Array(BLOCK_GROUPS + 4);
  #pending: Int16Array;
  #pendingLength = 0;

  constructor(path: RatePath) {
    this.#path = path;
    this.#plan = planOf(path);
    this.#streams = Array.from({ length: path.down }, () => new Float64Array(STRIDE));
    this.#pending = new Int16Array(path.down);
  }

  process(input: Int16Array, output: Int16Array): void {
    this.#run(apart(input, output), output, SAMPLES, SAMPLES);
  }

  processFromMulaw(input: Uint8Array, output: Int16Array): void {
    this.#run(apart(input, output), output, MULAW, SAMPLES);
  }

  processFromMulawBase64(input: string, output: Int16Array): boolean {
    const bytes = decodeBase64(input);
    if (bytes !== undefined) this.#run(bytes, output, MULAW, SAMPLES);
    return bytes !== undefined;
  }

  processToMulaw(input: Int16Array, output: Uint8Array): void {
    this.#run(apart(input, output), output, SAMPLES, MULAW);
  }

  #run<In extends Int16Array | Uint8Array, Out extends Int16Array | Uint8Array>(
    input: In,
    output: Out,
    from: Format<In>,
    to: Format<Out>,
  ): void {
    const { up, down } = this.#path;
    let at = 0;
    let place = 0;
    if (this.#pendingLength > 0) {
      while (this.#pendingLength < down && at < input.length)
        this.#pending[this.#pendingLength++] = from.sampleOf(input[at++]!);
      if (this.#pendingLength < down) return;
      this.#pendingLength = 0;
      this.#deal(this.#pending, 0, 1, SAMPLES);
      this.#convert(1, output, 0, to);
      place = up;
    }
    let groups = Math.floor((input.length - at) / down);
    while (groups > 0) {
      const now = Math.min(groups, BLOCK_GROUPS);
      this.#deal(input, at, now, from);
      this.#convert(now, output, place, to);
      at += now * down;
      place += now * up;
      groups -= now;
    }
    while (at < input.length) this.#pending[this.#pendingLength++] = from.sampleOf(input[at++]!);
  }

  flush(output: Int16Array): void {
    const { up, down } = this.#path;
    const groups = Math.ceil(output.length / up);
    const tail = new Int16Array(groups * up);
    this.process(new Int16Array(groups * down - this.#pendingLength), tail);
    output.set(tail.subarray(0, output.length));
    this.reset();
  }

  reset(): void {
    for (const stream of this.#streams) stream.fill(0);
    this.#pendingLength = 0;
  }

  free(): void {}

  /** Puts whole groups on the streams, at most BLOCK_GROUPS. */
  #deal<In extends Int16Array | Uint8Array>(input: In, at: number, groups: number, format: Format<In>): void {
    const { down } = this.#path;
    for (let s = 0; s < down; s++) format.take(input, { at: at + s, step: down, groups }, this.#streams[s]!);
  }

  /** Converts what was dealt out. */
  #convert<Out extends Int16Array | Uint8Array>(
    groups: number,
    output: Out,
    at: number,
    format: Format<Out>,
  ): void {
    const { up } = this.#path;
    const sums = this.#sums;
    for (let phase = 0; phase < up; phase++) {
      const places = { at: at + phase, step: up, groups };
      const stretches = this.#plan[phase]!;
      const [only] = stretches;
      if (stretches.length === 1 && only!.taps.length === 1) {
        // A lone tap is a whole: the phase is the input.
        format.copy(this.#streams[only!.stream]!, only!.from, output, places);
        continue;
      }
      sums.fill(0.5);
      for (const stretch of stretches) addStretch(this.#streams[stretch.stream]!, stretch, sums, groups);
      format.give(sums, output, places);
    }
    for (const stream of this.#streams) stream.copyWithin(0, groups, groups + HISTORY);
  }
}

/** A resampler for a path that is offered. */
export function createJavaScriptResampler(fromHz: number, toHz: number): JavaScriptResampler {
  const path = findPath(fromHz, toHz);
  if (path === undefined) throw new RangeError(`no path from ${fromHz} to ${toHz} Hz`);
  return new JavaScriptResampler(path);
}
