// Sound in the place of a vendor's voice: long as the text, loud as speech, and the same in every run.

const PITCH_HZ = 160;
const PEAK = 8000;
/** The ends are faded, so that chunks of one sentence can be told from two sentences. */
const FADE_MS = 10;

export function makeEmulatedSpeech(options: { durationMs: number; sampleRateHz: number }): Int16Array {
  const { durationMs, sampleRateHz } = options;
  const samples = new Int16Array(Math.round((durationMs * sampleRateHz) / 1000));
  const fade = (FADE_MS * sampleRateHz) / 1000;
  for (let index = 0; index < samples.length; index += 1) {
    const gain = Math.min(1, index / fade, (samples.length - index) / fade);
    const phase = (2 * Math.PI * PITCH_HZ * index) / sampleRateHz;
    samples[index] = Math.round(PEAK * gain * (Math.sin(phase) * 0.7 + Math.sin(phase * 3) * 0.3));
  }
  return samples;
}
