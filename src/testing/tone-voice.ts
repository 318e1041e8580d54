// A voice that can be read back: every character is a pair of tones, so that what was heard on a line is found in its recording.
import type { TextToSpeechSession } from '../providers/text-to-speech.js';

/** One character sounds this long, if nothing else is said: about as fast as people speak. */
export const MS_PER_CHARACTER = 60;

/** What has a sound of its own, in the order of the pairs. The rest of a text is a pause of the same length. */
const SYMBOLS = "abcdefghijklmnopqrstuvwxyz0123456789'-.,?!";
/** Both groups lie in the band of a telephone, and none of them near the tones of its keys. */
const LOW_HZ = [340, 400, 460, 520, 580, 640];
const HIGH_HZ = [1800, 1920, 2040, 2160, 2280, 2400, 2520];
/** Every third character is softer: a sound without ups and downs is the noise of a line to a voice detector, and no voice. */
const PEAKS_OF_A_TONE = [6400, 6400, 2800];
/** The ends of a character are faded: nothing clicks, and two of a kind in a row are two. */
const FADE_MS = 4;
const VOICE_RATE_HZ = 16_000;
const DIGITS_AND_LETTERS = 36;

export interface ToneOptions {
  readonly sampleRateHz: number;
  /** Length of a character. @default 60 */
  readonly msPerCharacter?: number | undefined;
}

/** What a text sounds like, character by character: in lower case and without accents, a pause where nothing sounds. Letters of other scripts sound like a Latin letter or a digit, always the same. */
export function toSound(text: string): string {
  return text.split('').map(soundOf).join('');
}

function soundOf(character: string): string {
  if (character === '’') return "'";
  const plain = character.normalize('NFD').charAt(0).toLowerCase();
  if (SYMBOLS.includes(plain)) return plain;
  if (!/[\p{L}\p{N}]/u.test(plain)) return ' ';
  return SYMBOLS.charAt(plain.charCodeAt(0) % DIGITS_AND_LETTERS);
}

/** Speaks a text in tones, its length `msPerCharacter` for each character of the text, blanks included. */
export function speakInTones(text: string, options: ToneOptions): Int16Array {
  const { sampleRateHz, msPerCharacter = MS_PER_CHARACTER } = options;
  const slot = (sampleRateHz * msPerCharacter) / 1000;
  const samples = new Int16Array(Math.round(text.length * slot));
  for (const [position, character] of text.split('').entries()) {
    const symbol = SYMBOLS.indexOf(soundOf(character));
    if (symbol < 0) continue;
    const [from, to] = [Math.round(position * slot), Math.round((position + 1) * slot)];
    const peak = PEAKS_OF_A_TONE[position % PEAKS_OF_A_TONE.length] ?? 0;
    samples.set(toneOf({ symbol, peak, length: to - from, sampleRateHz }), from);
  }
  return samples;
}

interface Tone {
  readonly symbol: number;
  readonly peak: number;
  /** In samples. */
  readonly length: number;
  readonly sampleRateHz: number;
}

/** Tones that sounded before: all that is said is made of a few dozen, and sines are slow. */
const KEPT = 1000;
const kept = new Map<string, Int16Array>();

function toneOf(tone: Tone): Int16Array {
  const key = `${tone.symbol} ${tone.peak} ${tone.length} ${tone.sampleRateHz}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const samples = synthesize(tone);
  if (kept.size >= KEPT) kept.clear();
  kept.set(key, samples);
  return samples;
}

function synthesize({ symbol, peak, length, sampleRateHz }: Tone): Int16Array {
  const low = LOW_HZ[Math.floor(symbol / HIGH_HZ.length)] ?? 0;
  const high = HIGH_HZ[symbol % HIGH_HZ.length] ?? 0;
  const fade = (FADE_MS * sampleRateHz) / 1000;
  const samples = new Int16Array(length);
  for (let index = 0; index < length; index += 1) {
    const turn = (2 * Math.PI * index) / sampleRateHz;
    const gain = Math.min(1, (index + 1) / fade, (length - index) / fade);
    samples[index] = Math.round(peak * gain * (Math.sin(low * turn) + Math.sin(high * turn)));
  }
  return samples;
}

/** The voice of a caller that can be read back. It takes no time to synthesize. Give it to a simulator as `openVoice`. */
export function openToneVoice(): TextToSpeechSession {
  return {
    async *synthesize(text) {
      // A blank behind it keeps two sentences apart.
      yield speakInTones(`${text} `, { sampleRateHz: VOICE_RATE_HZ });
    },
    close() {},
  };
}

/** Which symbol a piece of sound is, or undefined when it is none. */
export function symbolOf(piece: Int16Array, sampleRateHz: number): string | undefined {
  const tones = findTones(piece, sampleRateHz);
  return tones === undefined ? undefined : SYMBOLS[tones.low * HIGH_HZ.length + tones.high];
}

/** Share of the energy that must lie in one tone of each group: above what noise and voices reach. */
const TONE_SHARE = 0.6;
/** -58 dBFS: an echo 20 dB below the voice is read, the rounding of a codec is not. */
const LEAST_RMS = 40;

/** The louder tone of each group when hardly anything else is in the sound. */
export function findTones(
  piece: Int16Array,
  sampleRateHz: number,
): { low: number; high: number } | undefined {
  let energy = 0;
  for (const sample of piece) energy += sample * sample;
  if (energy < LEAST_RMS * LEAST_RMS * piece.length) return undefined;
  const [low, high] = [loudest(piece, LOW_HZ, sampleRateHz), loudest(piece, HIGH_HZ, sampleRateHz)];
  if (Math.min(low.power, high.power) * 10 < Math.max(low.power, high.power)) return undefined;
  const share = ((low.power + high.power) * 2) / piece.length / energy;
  return share >= TONE_SHARE ? { low: low.index, high: high.index } : undefined;
}

function loudest(piece: Int16Array, frequencies: readonly number[], sampleRateHz: number) {
  let best = { index: 0, power: -1 };
  for (const [index, hz] of frequencies.entries()) {
    const power = goertzel(piece, 2 * Math.cos((2 * Math.PI * hz) / sampleRateHz));
    if (power > best.power) best = { index, power };
  }
  return best;
}

/** Power at one frequency. Goertzel's algorithm. */
function goertzel(piece: Int16Array, coefficient: number): number {
  let last = 0;
  let beforeLast = 0;
  for (const sample of piece) {
    const next = sample + coefficient * last - beforeLast;
    beforeLast = last;
    last = next;
  }
  return last * last + beforeLast * beforeLast - coefficient * last * beforeLast;
}
