// The tone of a telephone key in the audio: no speech, though a detector of voices may take it for some.
import { PCM_16K } from '../../../audio/format.js';

/** Every other sample is enough: all tones lie far below a quarter of the rate. What this folds down from above is in the energy, too. */
const STEP = 2;

/** Source: ITU-T Q.23. Rows, then columns. */
const ROWS_HZ = [697, 770, 852, 941];
const COLUMNS_HZ = [1209, 1336, 1477, 1633];

const coefficientsOf = (frequencies: readonly number[]) =>
  frequencies.map((hz) => 2 * Math.cos((2 * Math.PI * hz * STEP) / PCM_16K.sampleRateHz));
const ROWS = coefficientsOf(ROWS_HZ);
const COLUMNS = coefficientsOf(COLUMNS_HZ);

/** Share of a frame's energy that lies in the two tones. Source: above what vowels reach, below a tone off by 1.5 %. */
const TONE_SHARE = 0.7;

/** The weaker of the two tones has at least this share of the stronger one: 8 dB, as receivers must accept. Source: ITU-T Q.24. */
const TWIST = 0.15;

/** True when the frame is one tone of each group and hardly anything else. */
export function isKeyTone(frame: Int16Array): boolean {
  let energy = 0;
  for (let at = 0; at < frame.length; at += STEP) energy += (frame[at] ?? 0) ** 2;
  if (energy === 0) return false;
  // A pure tone of amplitude a has the energy n a² / 2 and the power (n a / 2)² in its bin.
  const needed = (energy * TONE_SHARE * (frame.length / STEP)) / 2;
  const row = loudest(frame, ROWS);
  // Both together can be no more than this, whatever the column: most speech is known by that.
  if (row + row / TWIST < needed) return false;
  const column = loudest(frame, COLUMNS);
  if (Math.min(row, column) < Math.max(row, column) * TWIST) return false;
  return row + column >= needed;
}

/**
 * The greatest power of four frequencies, by Goertzel's algorithm: all four in one pass, for each waits for its own last value only. Written
 * without destructuring, which takes twice the time.
 */
function loudest(frame: Int16Array, coefficients: readonly number[]): number {
  const [a = 0, b = 0, c = 0, d = 0] = coefficients;
  let a1 = 0;
  let a2 = 0;
  let b1 = 0;
  let b2 = 0;
  let c1 = 0;
  let c2 = 0;
  let d1 = 0;
  let d2 = 0;
  for (let at = 0; at < frame.length; at += STEP) {
    const sample = frame[at] ?? 0;
    const an = sample + a * a1 - a2;
    const bn = sample + b * b1 - b2;
    const cn = sample + c * c1 - c2;
    const dn = sample + d * d1 - d2;
    a2 = a1;
    a1 = an;
    b2 = b1;
    b1 = bn;
    c2 = c1;
    c1 = cn;
    d2 = d1;
    d1 = dn;
  }
  return Math.max(power(a, a1, a2), power(b, b1, b2), power(c, c1, c2), power(d, d1, d2));
}

function power(coefficient: number, last: number, beforeLast: number): number {
  return last * last + beforeLast * beforeLast - coefficient * last * beforeLast;
}
