// A caller without a voice: a sound that a voice detector takes for speech, and that says nothing.

const RATE_HZ = 8000;
/** Pitch of a deep voice, its harmonics shaped by two resonances that wander as vowels do. */
const PITCH_HZ = 130;
const SYLLABLES_PER_SECOND = 4;
const PEAK = 9000;

/** What was asked for before: it takes thousands of sines a second. */
const KEPT = 32;
const kept = new Map<number, Int16Array>();

/** Speech-like tones: harmonics of 130 Hz in four syllables a second, 8 kHz PCM, the same for every call. */
export function makeSpeechTones(durationMs: number): Int16Array {
  const known = kept.get(durationMs) ?? synthesize(durationMs);
  if (kept.size >= KEPT) kept.clear();
  kept.set(durationMs, known);
  return known.slice();
}

function synthesize(durationMs: number): Int16Array {
  const length = Math.round((durationMs * RATE_HZ) / 1000);
  const samples = new Float64Array(length);
  for (let index = 0; index < length; index += 1) {
    const t = index / RATE_HZ;
    const syllable = Math.floor(t * SYLLABLES_PER_SECOND);
    const first = 450 + 150 * (syllable % 3);
    const second = 1200 + 400 * ((syllable * 2) % 3);
    let sum = 0;
    for (let harmonic = 1; harmonic * PITCH_HZ < 3400; harmonic += 1) {
      const frequency = harmonic * PITCH_HZ;
      const gain = 1 / (1 + ((frequency - first) / 120) ** 2) + 0.5 / (1 + ((frequency - second) / 180) ** 2);
      sum += gain * Math.sin(2 * Math.PI * frequency * t);
    }
    samples[index] = sum * Math.sin(Math.PI * t * SYLLABLES_PER_SECOND) ** 2;
  }
  const loudest = samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 1e-9);
  return Int16Array.from(samples, (sample) => Math.round((sample / loudest) * PEAK));
}
