// Brings whole recordings to another sample rate. Live audio does not come here: it goes through the transcoder frame by frame.
import { resampleAligned } from '../audio/aligned-resampler.js';
import { transcoder } from '../transcoder/select.js';

/** Steps that the transcoder offers, by `from-to`. 24 kHz reaches 8 kHz in two of them. */
const TRANSCODER_STEPS: Readonly<Record<string, readonly [number, number][]>> = {
  '8000-16000': [[8000, 16000]],
  '16000-8000': [[16000, 8000]],
  '16000-24000': [[16000, 24000]],
  '24000-16000': [[24000, 16000]],
  '24000-8000': [
    [24000, 16000],
    [16000, 8000],
  ],
  '8000-24000': [
    [8000, 16000],
    [16000, 24000],
  ],
};

/** Zero crossings of the sinc on each side; with the window below the transition is about 0.16 of the lower rate's half. */
const HALF_WIDTH = 32;
/** Kaiser window parameter for about 80 dB of stop-band attenuation. Source: Kaiser and Schafer, 1980. */
const KAISER_BETA = 7.86;
/** The pass band ends before the lower Nyquist frequency, so that the transition band ends at it. */
const ROLL_OFF = 0.92;

function saturate(value: number): number {
  return Math.max(-32768, Math.min(32767, Math.round(value)));
}

/** Modified Bessel function of the first kind, order 0, by its power series. */
function bessel0(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-12; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function resampleWithTranscoder(samples: Int16Array, fromHz: number, toHz: number): Int16Array {
  const length = Math.round((samples.length * toHz) / fromHz);
  return resampleAligned(samples, { fromHz, toHz }, transcoder).subarray(0, length);
}

/** Weights of the input samples around one output sample, the first of them at `floor(center) + firstTap`. */
interface Kernel {
  firstTap: number;
  weights: Float64Array;
}

function createKernel(fraction: number, scale: number): Kernel {
  const reach = HALF_WIDTH / scale;
  const firstTap = Math.ceil(fraction - reach);
  const weights = Float64Array.from({ length: Math.floor(fraction + reach) - firstTap + 1 }, (_, index) => {
    const distance = firstTap + index - fraction;
    const angle = Math.PI * distance * scale;
    const sinc = angle === 0 ? 1 : Math.sin(angle) / angle;
    return sinc * bessel0(KAISER_BETA * Math.sqrt(Math.max(0, 1 - (distance / reach) ** 2)));
  });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return { firstTap, weights: weights.map((weight) => weight / sum) };
}

/**
 * Band-limited interpolation with a Kaiser-windowed sinc, centered on each output sample: no delay, every pair of
 * rates, pass band to 0.85 of the lower rate's half (3.4 kHz for a telephone), images and aliases below -70 dB. Every
 * kernel is normalized to unity gain; outputs with the same place between two inputs share one.
 */
function resampleWithSinc(samples: Int16Array, fromHz: number, toHz: number): Int16Array {
  const scale = Math.min(1, toHz / fromHz) * ROLL_OFF;
  const kernels = new Map<number, Kernel>();
  const output = new Int16Array(Math.round((samples.length * toHz) / fromHz));
  for (let index = 0; index < output.length; index += 1) {
    const whole = Math.floor((index * fromHz) / toHz);
    const phase = (index * fromHz) % toHz;
    let kernel = kernels.get(phase);
    if (kernel === undefined) {
      kernel = createKernel(phase / toHz, scale);
      kernels.set(phase, kernel);
    }
    let sum = 0;
    const { firstTap, weights } = kernel;
    for (let tap = 0; tap < weights.length; tap += 1) {
      sum += (samples[whole + firstTap + tap] ?? 0) * (weights[tap] ?? 0);
    }
    output[index] = saturate(sum);
  }
  return output;
}

/**
 * A recording at another sample rate: `round(length * toHz / fromHz)` samples, in time with the original. Through the
 * transcoder where it offers the pair, else through a windowed sinc.
 */
export function resampleRecording(samples: Int16Array, fromHz: number, toHz: number): Int16Array {
  if (fromHz === toHz) return samples;
  const steps = TRANSCODER_STEPS[`${fromHz}-${toHz}`];
  if (steps === undefined) return resampleWithSinc(samples, fromHz, toHz);
  return steps.reduce((audio, [from, to]) => resampleWithTranscoder(audio, from, to), samples);
}
