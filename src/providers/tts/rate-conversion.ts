// Speech of any rate at 16 kHz, while it still comes: through the transcoder, or a filter made for a rate that is no telephone's. Knows
// no vendor.
import { AlignedResampler } from '../../audio/aligned-resampler.js';
import { PCM_16K } from '../../audio/format.js';
import { findPath } from '../../transcoder/rates.js';
import { transcoder } from '../../transcoder/select.js';

/** Zero crossings of the filter on each side: enough for speech on a telephone. */
const REACH = 12;

/** One per stream of audio. Any chunking of the same input gives the same output, which is in time with it. */
export interface RateConverter {
  /** What can be told of the output so far, the receiver's to keep. */
  push(pcm: Int16Array): Int16Array;
  /** The rest: what comes behind the input counts as silence. */
  end(): Int16Array;
  /** Frees what is held. Idempotent; nothing must follow. */
  close(): void;
}

export function createRateConverter(fromHz: number): RateConverter {
  const toHz = PCM_16K.sampleRateHz;
  if (fromHz === toHz) return { push: (pcm) => pcm, end: () => new Int16Array(0), close() {} };
  const isOffered = findPath(fromHz, toHz) !== undefined;
  return isOffered ? new AlignedResampler(fromHz, toHz, transcoder) : new SincConverter(fromHz);
}

/** Windowed sinc, its weights computed once per phase and rate. */
class SincConverter implements RateConverter {
  /** Input samples per output sample are `#step / #phases`. */
  readonly #step: number;
  readonly #phases: number;
  readonly #radius: number;
  readonly #weights: readonly Float64Array[];
  #input = new Int16Array(0);
  /** Index of `#input[0]` in the stream. */
  #base = 0;
  #outputs = 0;

  constructor(fromHz: number) {
    const divisor = greatestCommonDivisor(fromHz, PCM_16K.sampleRateHz);
    this.#step = fromHz / divisor;
    this.#phases = PCM_16K.sampleRateHz / divisor;
    const cutoff = Math.min(1, PCM_16K.sampleRateHz / fromHz);
    this.#radius = Math.ceil(REACH / cutoff);
    this.#weights = weightsOf(this.#phases, this.#radius, cutoff);
  }

  push(pcm: Int16Array): Int16Array {
    const joined = new Int16Array(this.#input.length + pcm.length);
    joined.set(this.#input);
    joined.set(pcm, this.#input.length);
    this.#input = joined;
    return this.#take(this.#base + joined.length - this.#radius);
  }

  end(): Int16Array {
    return this.#take(this.#base + this.#input.length);
  }

  close(): void {}

  /** Outputs whose place in the input is before `limit`. */
  #take(limit: number): Int16Array {
    const last = Math.ceil((limit * this.#phases) / this.#step);
    const output = new Int16Array(Math.max(0, last - this.#outputs));
    for (let index = 0; index < output.length; index += 1)
      output[index] = this.#sample(this.#outputs + index);
    this.#outputs += output.length;
    const next = Math.floor((this.#outputs * this.#step) / this.#phases);
    const unused = Math.min(this.#input.length, Math.max(0, next - this.#radius - this.#base));
    this.#input = this.#input.subarray(unused);
    this.#base += unused;
    return output;
  }

  #sample(output: number): number {
    const at = output * this.#step;
    const first = Math.floor(at / this.#phases) - this.#radius + 1 - this.#base;
    const weights = this.#weights[at % this.#phases] ?? new Float64Array(0);
    let sum = 0;
    for (let tap = 0; tap < weights.length; tap += 1)
      sum += (weights[tap] ?? 0) * (this.#input[first + tap] ?? 0);
    return Math.max(-32768, Math.min(32767, Math.round(sum)));
  }
}

/** For each phase the weights of the samples around it, summing to one. */
function weightsOf(phases: number, radius: number, cutoff: number): Float64Array[] {
  return Array.from({ length: phases }, (_, phase) => {
    const weights = Float64Array.from({ length: 2 * radius }, (_, tap) => {
      const distance = tap - radius + 1 - phase / phases;
      const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / radius);
      return sinc(distance * cutoff) * window;
    });
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
  });
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
