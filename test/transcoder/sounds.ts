// Sounds to try a voice detector on: what a line carries, and what it should not. The same on every run.
import { loadTranscoder } from '../../src/transcoder/select.js';
import { createRandom, speech } from './support.js';

type Random = () => number;
/** A sample from its place. */
type Source = (place: number) => number;

/** Makes a source of its own. `amplitude` up to full scale, `pitch` in radians a sample. */
type Kind = (random: Random, amplitude: number, pitch: number) => Source;

const between = (random: Random) => random() * 2 - 1;

function pinkNoise(random: Random, amplitude: number): Source {
  const rows = new Float64Array(8);
  return () => {
    let sum = 0;
    for (let row = 0; row < 8; row++) {
      if (random() < 2 ** -row) rows[row] = between(random);
      sum += rows[row]!;
    }
    return (sum / 5) * amplitude;
  };
}

function brownNoise(random: Random, amplitude: number): Source {
  let level = 0;
  return () => {
    level = level * 0.995 + between(random) * 0.1;
    return level * amplitude;
  };
}

/** Harmonics of a pitch that slides, in syllables, with breath between them. */
function voice(random: Random, amplitude: number, pitch: number): Source {
  let phase = 0;
  return (place) => {
    phase += (0.02 + (pitch % 0.08)) * (1 + 0.2 * Math.sin(place / 5000));
    let sum = 0;
    for (let harmonic = 1; harmonic < 15; harmonic++)
      sum += Math.sin(phase * harmonic) / (1 + Math.abs(harmonic - 5));
    const syllable = Math.max(0, Math.sin(place / 900) + 0.4 * Math.sin(place / 13_000));
    return (sum * syllable + 0.01 * between(random)) * amplitude * 0.4;
  };
}

/** Three voices in harmony, struck twice a second. */
function music(_: Random, amplitude: number, pitch: number): Source {
  return (place) => {
    const decay = Math.exp(-(place % 8000) / 3000);
    const chord = Math.sin(place * pitch) + Math.sin(place * pitch * 1.26) + Math.sin(place * pitch * 1.5);
    return (chord / 3) * decay * amplitude;
  };
}

/** A recording, at the rate of a frame, again and again. */
function recording(_: Random, amplitude: number): Source {
  const resampler = loadTranscoder('javascript').createResampler(8000, 16_000);
  const samples = resampler.process(speech());
  return (place) => (samples[place % samples.length]! * amplitude) / 16_384;
}

const KINDS: Readonly<Record<string, Kind>> = {
  recording,
  voice,
  music,
  'white noise': (random, amplitude) => () => between(random) * amplitude,
  'pink noise': pinkNoise,
  'brown noise': brownNoise,
  tone: (_, amplitude, pitch) => (place) => Math.sin(place * pitch) * amplitude,
  'two tones': (_, amplitude, pitch) => (place) =>
    (Math.sin(place * pitch) + Math.sin(place * pitch * 1.7)) * amplitude * 0.5,
  square: (_, amplitude, pitch) => (place) => (Math.sin(place * pitch) > 0 ? amplitude : -amplitude),
  clicks: (_, amplitude, pitch) => (place) => (place % Math.ceil(4000 * pitch) === 0 ? amplitude : 0),
  silence: () => () => 0,
  'least noise': (random) => () => Math.floor(random() * 3) - 1,
  'random bytes': (random) => () => Math.floor(random() * 65_536) - 32_768,
  extremes: (random) => () => (random() < 0.5 ? -32_768 : 32_767),
  'mostly highest': (random) => () => (random() < 0.01 ? -32_768 : 32_767),
  lowest: () => () => -32_768,
  saturated: (_, amplitude, pitch) => (place) => Math.sin(place * pitch) * amplitude * 20,
  slow: (_, amplitude) => (place) => Math.sin(place / 9000) * amplitude,
};

function toFrames(source: Source, count: number): Int16Array[] {
  const frames: Int16Array[] = [];
  for (let number = 0; number < count; number++) {
    const frame = new Int16Array(320);
    for (let at = 0; at < 320; at++)
      frame[at] = Math.max(-32_768, Math.min(32_767, Math.round(source(320 * number + at))));
    frames.push(frame);
  }
  return frames;
}

/** Names of sounds that stay what they are. */
export const SOUNDS: readonly string[] = Object.keys(KINDS);

/** Frames of one sound that swells from the quietest to full scale and back. */
export function sound(name: string, count: number): Int16Array[] {
  const random = createRandom(name.length);
  const source = KINDS[name]!(random, 1, 0.05 + random() * 0.5);
  const swell = (place: number) => 2 ** (15 - 13 * Math.abs(Math.sin(place / 100_000)));
  const isWhole = Math.abs(source(1)) > 2 || name === 'silence' || name === 'least noise';
  return toFrames(isWhole ? source : (place) => source(place) * swell(place), count);
}

/** Frames of all sounds in turn, each for up to eight seconds, of any loudness. */
export function medley(seed: number, count: number): Int16Array[] {
  const random = createRandom(seed);
  const frames: Int16Array[] = [];
  while (frames.length < count) {
    const name = SOUNDS[Math.floor(random() * SOUNDS.length)]!;
    const source = KINDS[name]!(random, 2 ** (16 * random()), 2 ** (-9 * random()));
    for (const frame of toFrames(source, Math.ceil(400 * random() * random()))) frames.push(frame);
  }
  return frames.slice(0, count);
}
