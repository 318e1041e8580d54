// How clean this build converts audio, by a few figures of the paths that every call takes. `npm run audio-report` has them all.
import type { TranscoderBackend } from '../../transcoder/backend.js';
import type { CheckResult } from './check.js';

/** A converted tone of 997 Hz at -1 dBFS is at least this much above all that should not be there. */
const MIN_SINAD_DB = 94;
/** What of a tone of 9 kHz is left at 16 kHz, where it cannot be, relative to the tone. */
const MAX_ALIAS_DB = -90;

const TONE_HZ = 997;
const ALIAS_HZ = 9000;
/** The filter's delay, and more: so much is left out of a tone at both ends. A second is left, in which there are whole periods of each tone. */
const SETTLE_SECONDS = 0.1;
const AMPLITUDE = 32_767 * 10 ** (-1 / 20);

export function checkAudio(backend: TranscoderBackend): CheckResult {
  const sinadDb = {
    '8to16': sinad(convert(backend, 8000, 16_000, TONE_HZ), 16_000),
    '16to8': sinad(convert(backend, 16_000, 8000, TONE_HZ), 8000),
    '24to16': sinad(convert(backend, 24_000, 16_000, TONE_HZ), 16_000),
  };
  const alias = level(convert(backend, 24_000, 16_000, ALIAS_HZ)) - 20 * Math.log10(AMPLITUDE / Math.SQRT2);
  const worst = Math.min(...Object.values(sinadDb));
  const isClean = worst >= MIN_SINAD_DB && alias <= MAX_ALIAS_DB;
  const figures = `SINAD ${worst.toFixed(1)} dB (at least ${MIN_SINAD_DB}), aliases ${alias.toFixed(0)} dB (at most ${MAX_ALIAS_DB})`;
  return {
    name: 'audio',
    status: isClean ? 'ok' : 'failed',
    message: isClean ? `audio: ${figures}` : `audio: ${figures}: this build does not sound as it should.`,
    details: { backend: backend.name, sinadDb, aliasDb: Number.isFinite(alias) ? alias : null },
  };
}

/** A second of a tone, converted, from when the filter has settled. */
function convert(backend: TranscoderBackend, fromHz: number, toHz: number, toneHz: number): Int16Array {
  const tone = Int16Array.from({ length: (1 + 2 * SETTLE_SECONDS) * fromHz }, (_, index) =>
    Math.round(AMPLITUDE * Math.sin((2 * Math.PI * toneHz * index) / fromHz)),
  );
  const resampler = backend.createResampler(fromHz, toHz);
  try {
    return resampler.process(tone).slice(SETTLE_SECONDS * toHz, (1 + SETTLE_SECONDS) * toHz);
  } finally {
    resampler.free();
  }
}

/** The tone over all the rest, in decibels. */
function sinad(samples: Int16Array, rateHz: number): number {
  const step = (2 * Math.PI * TONE_HZ) / rateHz;
  const { a, b } = findTone(samples, step);
  let signal = 0;
  let rest = 0;
  samples.forEach((sample, index) => {
    const tone = a * Math.sin(step * index) + b * Math.cos(step * index);
    signal += tone ** 2;
    rest += (sample - tone) ** 2;
  });
  return 10 * Math.log10(signal / rest);
}

/** How much there is of a sine and of a cosine that turn by `step` per sample. Over whole periods neither has any of the other. */
function findTone(samples: Int16Array, step: number): { a: number; b: number } {
  let [a, b] = [0, 0];
  samples.forEach((sample, index) => {
    a += (2 * sample * Math.sin(step * index)) / samples.length;
    b += (2 * sample * Math.cos(step * index)) / samples.length;
  });
  return { a, b };
}

/** Root mean square in decibels of one step. */
function level(samples: Int16Array): number {
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
  return 10 * Math.log10(power);
}
