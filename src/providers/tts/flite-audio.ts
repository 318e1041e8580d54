// What the synthesiser gives, made fit for a call: 16 kHz, without the long silences around a sentence.
import { PCM_16K } from '../../audio/format.js';

/** Samples below this are silence: about -50 dB of full scale. */
const SILENCE = 100;

/** Silence that is kept before the first sound and after the last, in samples: 20 ms and 160 ms. */
const KEPT_BEFORE = (PCM_16K.sampleRateHz * 20) / 1000;
const KEPT_AFTER = (PCM_16K.sampleRateHz * 160) / 1000;

/** Audio of one sentence at 16 kHz. Empty when there is no sound in it. */
export function toHouseAudio(pcm: Int16Array, sampleRateHz: number): Int16Array {
  return trimSilence(sampleRateHz * 2 === PCM_16K.sampleRateHz ? upsampleTwice(pcm) : pcm);
}

function trimSilence(pcm: Int16Array): Int16Array {
  const isSound = (sample: number) => Math.abs(sample) > SILENCE;
  const first = pcm.findIndex(isSound);
  if (first === -1) return pcm.subarray(0, 0);
  const last = pcm.findLastIndex(isSound);
  return pcm.subarray(Math.max(0, first - KEPT_BEFORE), Math.min(pcm.length, last + 1 + KEPT_AFTER));
}

/** Taps on each side of a new sample. */
const REACH = 16;

/** Weights of a half-sample delay: sinc under a Hann window, summing to one. */
const HALF_SAMPLE = halfSampleWeights();

/** Doubles the rate of a whole sentence: the samples stay, those between are interpolated. */
function upsampleTwice(pcm: Int16Array): Int16Array {
  const output = new Int16Array(pcm.length * 2);
  for (let index = 0; index < pcm.length; index += 1) {
    let between = 0;
    for (let tap = 0; tap < REACH; tap += 1) {
      const weight = HALF_SAMPLE[tap] ?? 0;
      between += weight * ((pcm[index - tap] ?? 0) + (pcm[index + 1 + tap] ?? 0));
    }
    output[index * 2] = pcm[index] ?? 0;
    output[index * 2 + 1] = Math.max(-32768, Math.min(32767, Math.round(between)));
  }
  return output;
}

function halfSampleWeights(): number[] {
  const weights = Array.from({ length: REACH }, (_, tap) => {
    const distance = tap + 0.5;
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / (REACH + 0.5));
    return (window * Math.sin(Math.PI * distance)) / (Math.PI * distance);
  });
  const sum = 2 * weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
