// What agents say in this bench.

/** As most voices give it. */
export const SPEECH_RATE_HZ = 24_000;

/** A voice-like mixture with syllables. @param {number} samples at 24 kHz */
export function createSpeech(samples) {
  return Int16Array.from({ length: samples }, (_, index) => {
    const t = index / SPEECH_RATE_HZ;
    const syllable = 0.55 + 0.45 * Math.sin(2 * Math.PI * 4 * t);
    const voiced = 6000 * Math.sin(2 * Math.PI * 180 * t) + 3000 * Math.sin(2 * Math.PI * 1300 * t);
    return Math.round(syllable * voiced);
  });
}
