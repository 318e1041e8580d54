// Sound in the place of a vendor's voice: long as the text, loud as speech, and the same in every run.

const PITCH_HZ = 160;
const PEAK = 8000;
/** The ends are faded, so that chunks of one sentence can be told from two sentences. */
const FADE_MS = 10;
/** It falls between its syllables: what is steady is noise. */
const SYLLABLE_MS = 240;
const FALL_MS = 80;
const FALLEN = 0.4;

/** Speech that was asked for before: a vendor under load does not compute sines. */
const KEPT = 32;
const kept = new Map<string, Int16Array>();

/** The same samples for the same length: not to be changed. */
export function makeEmulatedSpeech(options: { durationMs: number; sampleRateHz: number }): Int16Array {
  const key = `${options.durationMs} ${options.sampleRateHz}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const samples = synthesize(options);
  if (kept.size >= KEPT) kept.clear();
  kept.set(key, samples);
  return samples;
}

function synthesize({ durationMs, sampleRateHz }: { durationMs: number; sampleRateHz: number }): Int16Array {
  const samples = new Int16Array(Math.round((durationMs * sampleRateHz) / 1000));
  const toSamples = (ms: number) => (ms * sampleRateHz) / 1000;
  const [fade, syllable, fall] = [toSamples(FADE_MS), toSamples(SYLLABLE_MS), toSamples(FALL_MS)];
  for (let index = 0; index < samples.length; index += 1) {
    const ends = Math.min(1, index / fade, (samples.length - index) / fade);
    const gain = ends * (index % syllable < syllable - fall ? 1 : FALLEN);
    const phase = (2 * Math.PI * PITCH_HZ * index) / sampleRateHz;
    samples[index] = Math.round(PEAK * gain * (Math.sin(phase) * 0.7 + Math.sin(phase * 3) * 0.3));
  }
  return samples;
}
