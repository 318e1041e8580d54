// What the synthesizer gives, made fit for a call: 16 kHz, without the long silences around a sentence.
import { resampleAligned } from '../../../audio/aligned-resampler.js';
import { PCM_16K } from '../../../audio/format.js';
import { transcoder } from '../../../transcoder/select.js';

/** Samples below this are silence: about -50 dB of full scale. */
const SILENCE = 100;

/** Silence that is kept before the first sound and after the last, in samples: 20 ms and 160 ms. */
const KEPT_BEFORE = (PCM_16K.sampleRateHz * 20) / 1000;
const KEPT_AFTER = (PCM_16K.sampleRateHz * 160) / 1000;

/** Audio of one sentence at 16 kHz, `gain` times as loud. Empty when there is no sound in it. */
export function toHouseAudio(pcm: Int16Array, sampleRateHz: number, gain = 1): Int16Array {
  const rates = { fromHz: sampleRateHz, toHz: PCM_16K.sampleRateHz };
  const trimmed = trimSilence(rates.fromHz === rates.toHz ? pcm : resampleAligned(pcm, rates, transcoder));
  return gain === 1 ? trimmed : trimmed.map((sample) => limited(Math.round(sample * gain)));
}

function limited(sample: number): number {
  return Math.max(-32768, Math.min(32767, sample));
}

function trimSilence(pcm: Int16Array): Int16Array {
  const isSound = (sample: number) => Math.abs(sample) > SILENCE;
  const first = pcm.findIndex(isSound);
  if (first === -1) return pcm.subarray(0, 0);
  const last = pcm.findLastIndex(isSound);
  return pcm.subarray(Math.max(0, first - KEPT_BEFORE), Math.min(pcm.length, last + 1 + KEPT_AFTER));
}
