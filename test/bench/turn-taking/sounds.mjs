// What callers say and what lies behind it, as 16 kHz samples of a telephone's band whose level while they sound is 0 dB of full scale.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export const RATE_HZ = 16_000;
const BAND_HZ = [300, 3400];
const ACTIVE_DB = 30;
const FRAME = RATE_HZ / 50;

/** @param {number} seed the same numbers in every run, from -1 to 1 */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

/** One second-order section. @param {Float64Array} samples @param {'highpass' | 'lowpass'} kind @param {number} hz */
function filter(samples, kind, hz) {
  const w = (2 * Math.PI * hz) / RATE_HZ;
  const [cos, alpha] = [Math.cos(w), Math.sin(w) / Math.SQRT2];
  const edge = kind === 'lowpass' ? (1 - cos) / 2 : (1 + cos) / 2;
  const middle = kind === 'lowpass' ? 1 - cos : -(1 + cos);
  const a0 = 1 + alpha;
  let [x1, x2, y1, y2] = [0, 0, 0, 0];
  return samples.map((x) => {
    const y = (edge * x + middle * x1 + edge * x2 + 2 * cos * y1 - (1 - alpha) * y2) / a0;
    [x2, x1, y2, y1] = [x1, x, y1, y];
    return y;
  });
}

/** @param {Float64Array} samples */
function throughTelephone(samples) {
  let heard = samples;
  for (let order = 0; order < 2; order += 1)
    heard = filter(filter(heard, 'highpass', BAND_HZ[0] ?? 0), 'lowpass', BAND_HZ[1] ?? 0);
  return toUnitLevel(heard);
}

/** To a mean power of 1 over the frames that sound. @param {Float64Array} samples */
function toUnitLevel(samples) {
  const powers = [];
  for (let at = 0; at + FRAME <= samples.length; at += FRAME)
    powers.push(samples.subarray(at, at + FRAME).reduce((sum, x) => sum + x * x, 0) / FRAME);
  const least = Math.max(...powers) / 10 ** (ACTIVE_DB / 10);
  const active = powers.filter((power) => power >= least);
  const scale = 1 / Math.sqrt(active.reduce((sum, power) => sum + power, 0) / Math.max(1, active.length));
  return samples.map((x) => x * scale);
}

/** @param {Buffer} wav mono, 16 bits */
function readWav(wav) {
  const rateHz = wav.readUInt32LE(24);
  const from = wav.indexOf('data', 12, 'latin1') + 8;
  const count = Math.floor((wav.length - from) / 2);
  const step = rateHz / RATE_HZ;
  return Float64Array.from({ length: Math.floor((count - 1) / step) }, (_, at) => {
    const index = Math.floor(at * step);
    const part = at * step - index;
    return wav.readInt16LE(from + 2 * index) * (1 - part) + wav.readInt16LE(from + 2 * index + 2) * part;
  });
}

/** @param {Float64Array} samples */
function trimmed(samples) {
  const loudest = samples.reduce((peak, x) => Math.max(peak, Math.abs(x)), 0);
  const isHeard = (/** @type {number} */ x) => Math.abs(x) > loudest / 50;
  return samples.slice(samples.findIndex(isHeard), samples.findLastIndex(isHeard) + 1);
}

/** Speaks with Debian's espeak-ng, or with the embedded voice where that is missing. @param {string} packageUrl */
export async function openVoice(packageUrl) {
  try {
    const version = execFileSync('espeak-ng', ['--version'], { encoding: 'utf8' }).trim();
    /** @param {string} text @param {string} voice */
    const speak = (text, voice) =>
      readWav(execFileSync('espeak-ng', ['-v', voice, '--stdout', text], { maxBuffer: 2 ** 26 }));
    return { name: version.split('  ')[0] ?? 'espeak-ng', speak: cached(speak) };
  } catch {
    console.error('espeak-ng is missing (apt-get install espeak-ng): all voices are the embedded one.');
    const { locateFlite } = await import(`${packageUrl}providers/tts/flite/package.js`);
    const { compileFlite, runFlite } = await import(`${packageUrl}providers/tts/flite/wasi.js`);
    const flite = await compileFlite(readFileSync(locateFlite()));
    const female = (/** @type {string} */ voice) => voice.includes('+f');
    /** @param {string} text @param {string} voice */
    const speak = (text, voice) => {
      const { pcm, sampleRateHz } = runFlite(flite, female(voice) ? 'slt' : 'rms', text);
      const step = sampleRateHz / RATE_HZ;
      return Float64Array.from(
        { length: Math.floor(pcm.length / step) },
        (_, at) => pcm[Math.floor(at * step)] ?? 0,
      );
    };
    return { name: 'the embedded voice', speak: cached(speak) };
  }
}

/** @param {(text: string, voice: string) => Float64Array} speak */
function cached(speak) {
  /** @type {Map<string, Float64Array>} */
  const said = new Map();
  return (/** @type {string} */ text, /** @type {string} */ voice) => {
    const key = `${voice}|${text}`;
    const known = said.get(key) ?? throughTelephone(trimmed(speak(text, voice)));
    said.set(key, known);
    return known;
  };
}

/** @typedef {(text: string, voice: string) => Float64Array} Speak */

const SECONDS = 24;
const LENGTH = SECONDS * RATE_HZ;

const STORY =
  'The council met again on Monday to talk about the new bridge. Nobody could say when it will be open. The weather stays mild until the weekend, with some rain in the north. In the second half the guests were the better side, and won in the end.';
const VOICES = [
  'en-us+m1',
  'en-us+f2',
  'en-gb+m3',
  'en-us+f4',
  'en-gb+f1',
  'en-us+m7',
  'en-gb+m5',
  'en-us+f3',
];

/** @param {Float64Array} part @param {number} from */
function looped(part, from) {
  return Float64Array.from({ length: LENGTH }, (_, at) => part[(at + from) % part.length] ?? 0);
}

function white(seed = 1) {
  const random = randomOf(seed);
  return Float64Array.from({ length: LENGTH }, () => random() + random() + random());
}

/** Voss and McCartney's sum of ever slower noises. */
function pink() {
  const random = randomOf(2);
  const rows = Array.from({ length: 12 }, random);
  return Float64Array.from({ length: LENGTH }, (_, at) => {
    rows.forEach((_row, index) => {
      if (at % 2 ** index === 0) rows[index] = random();
    });
    return rows.reduce((sum, row) => sum + row, 0);
  });
}

function brown() {
  let level = 0;
  return white(3).map((x) => {
    level = level * 0.998 + x;
    return level;
  });
}

/** Bursts of noise: each `everyMs`, rising and falling within `lastMs`. @param {{ everyMs: number, lastMs: number, sharp: number }} shape */
function bursts({ everyMs, lastMs, sharp }) {
  const every = (everyMs * RATE_HZ) / 1000;
  const last = (lastMs * RATE_HZ) / 1000;
  return white(4).map((x, at) => {
    const part = (at % every) / last;
    return part >= 1 ? 0 : x * Math.sin(Math.PI * part ** sharp) ** 2;
  });
}

function music() {
  const chords = [
    [220, 277, 330],
    [196, 247, 294],
    [175, 220, 262],
    [233, 294, 349],
  ];
  const melody = [440, 494, 554, 494, 392, 440, 349, 466];
  return Float64Array.from({ length: LENGTH }, (_, at) => {
    const t = at / RATE_HZ;
    const chord = chords[Math.floor(t / 2) % chords.length] ?? [];
    const note = melody[Math.floor(t * 2) % melody.length] ?? 440;
    const tones = [...chord.map((hz) => [hz, 0.5]), [note, 1]];
    const struck = Math.exp(-3 * ((t * 2) % 1));
    return tones.reduce((sum, [hz = 0, gain = 0]) => {
      const overtones = [1, 2, 3, 4, 5].map((n) => Math.sin(2 * Math.PI * hz * n * t) / n);
      return sum + gain * (0.3 + 0.7 * struck) * overtones.reduce((all, x) => all + x, 0);
    }, 0);
  });
}

function hum() {
  const overtones = [1, 2, 3, 5, 7, 9, 11];
  return Float64Array.from({ length: LENGTH }, (_, at) =>
    overtones.reduce((sum, n) => sum + Math.sin((2 * Math.PI * 50 * n * at) / RATE_HZ) / n, 0),
  );
}

/** The noises by their names. What depends on the agent's voice or on the line itself is `undefined`. @param {Speak} speak @returns {Record<string, Float64Array | undefined>} */
export function makeNoises(speak) {
  const babble = new Float64Array(LENGTH);
  VOICES.forEach((voice, index) => {
    looped(speak(STORY, voice), index * 31_013).forEach((x, at) => {
      babble[at] = (babble[at] ?? 0) + x;
    });
  });
  return {
    'no noise': new Float64Array(LENGTH),
    white: throughTelephone(white()),
    pink: throughTelephone(pink()),
    brown: throughTelephone(brown()),
    babble: throughTelephone(babble),
    music: throughTelephone(music()),
    'one TV voice': throughTelephone(looped(speak(STORY, 'en-gb+m3'), 0)),
    hum: throughTelephone(hum()),
    clicks: throughTelephone(bursts({ everyMs: 700, lastMs: 15, sharp: 0.3 })),
    breath: throughTelephone(bursts({ everyMs: 3500, lastMs: 1100, sharp: 1 })),
    cough: throughTelephone(bursts({ everyMs: 4300, lastMs: 420, sharp: 0.5 })),
    echo: undefined,
    loss: undefined,
  };
}
