// Resamples what need not leave at once, recordings and synthesized speech: in time with its input, the filter's delay taken off again.
// Live audio goes through a converter, whose frames come out as they go in.
import type { Resampler, TranscoderBackend } from '../transcoder/backend.js';

/** One per stream of audio. Any chunking of the same input gives the same output. */
export class AlignedResampler {
  readonly #resampler: Resampler;
  /** Samples of the delay that have not come out yet. */
  #early: number;
  #inputs = 0;
  #outputs = 0;

  /** @throws TranscoderError for a pair of rates that is not offered. */
  constructor(fromHz: number, toHz: number, backend: TranscoderBackend) {
    this.#resampler = backend.createResampler(fromHz, toHz);
    this.#early = Math.round((this.#resampler.delayMs * toHz) / 1000);
  }

  /** What can be told of the output so far, the receiver's to keep. */
  push(pcm: Int16Array): Int16Array {
    this.#inputs += pcm.length;
    return this.#take(this.#resampler.process(pcm));
  }

  /** The rest, `ceil(input * toHz / fromHz)` samples in all: what comes behind the input counts as silence. */
  end(): Int16Array {
    const { fromHz, toHz } = this.#resampler;
    const missing = Math.ceil((this.#inputs * toHz) / fromHz) - this.#outputs;
    return this.#take(this.#resampler.flush()).subarray(0, missing);
  }

  /** Frees the resampler. Idempotent; nothing must follow. */
  close(): void {
    this.#resampler.free();
  }

  #take(samples: Int16Array): Int16Array {
    const dropped = Math.min(this.#early, samples.length);
    this.#early -= dropped;
    this.#outputs += samples.length - dropped;
    return samples.subarray(dropped);
  }
}

/** A whole recording at another rate: `ceil(length * toHz / fromHz)` samples. @throws TranscoderError for a pair of rates that is not offered. */
export function resampleAligned(
  pcm: Int16Array,
  rates: { readonly fromHz: number; readonly toHz: number },
  backend: TranscoderBackend,
): Int16Array {
  const resampler = new AlignedResampler(rates.fromHz, rates.toHz, backend);
  const body = resampler.push(pcm);
  const rest = resampler.end();
  resampler.close();
  const whole = new Int16Array(body.length + rest.length);
  whole.set(body);
  whole.set(rest, body.length);
  return whole;
}
