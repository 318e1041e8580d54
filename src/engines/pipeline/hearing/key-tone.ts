// The tone of a telephone key in the audio: no speech, though a detector of voices may take it for some.
import { PCM_16K } from '../../../audio/format.js';
import { energyOf } from '../../../audio/level.js';

/** Source: ITU-T Q.23. Rows, then columns. */
const ROWS_HZ = [697, 770, 852, 941];
const COLUMNS_HZ = [1209, 1336, 1477, 1633];

const coefficientsOf = (frequencies: readonly number[]) =>
  frequencies.map((hz) => 2 * Math.cos((2 * Math.PI * hz) / PCM_16K.sampleRateHz));
const ROWS = coefficientsOf(ROWS_HZ);
const COLUMNS = coefficientsOf(COLUMNS_HZ);

/** Share of a frame's energy that lies in the two tones. Source: above what vowels reach, below a tone off by 1.5 %. */
const TONE_SHARE = 0.7;

/** The weaker of the two tones has at least this share of the stronger one: 8 dB, as receivers must accept. Source: ITU-T Q.24. */
const TWIST = 0.15;

/** True when the frame is one tone of each group and hardly anything else. */
export function isKeyTone(frame: Int16Array): boolean {
  const energy = energyOf(frame);
  if (energy === 0) return false;
  // A pure tone of amplitude a has the energy n a² / 2 and the power (n a / 2)² in its bin.
  const needed = (energy * TONE_SHARE * frame.length) / 2;
  const row = loudest(frame, ROWS);
  // Both together can be no more than this, whatever the column: most speech is known by that.
  if (row + row / TWIST < needed) return false;
  const column = loudest(frame, COLUMNS);
  if (Math.min(row, column) < Math.max(row, column) * TWIST) return false;
  return row + column >= needed;
}

/** The greatest power of four frequencies, by Goertzel's algorithm: all four in one pass, for each waits for its own last value only. */
function loudest(frame: Int16Array, coefficients: readonly number[]): number {
  const [a = 0, b = 0, c = 0, d = 0] = coefficients;
  let [a1, a2, b1, b2, c1, c2, d1, d2] = [0, 0, 0, 0, 0, 0, 0, 0];
  for (let index = 0; index < frame.length; index += 1) {
    const sample = frame[index] ?? 0;
    const [an, bn] = [sample + a * a1 - a2, sample + b * b1 - b2];
    const [cn, dn] = [sample + c * c1 - c2, sample + d * d1 - d2];
    [a2, a1, b2, b1, c2, c1, d2, d1] = [a1, an, b1, bn, c1, cn, d1, dn];
  }
  return Math.max(power(a, a1, a2), power(b, b1, b2), power(c, c1, c2), power(d, d1, d2));
}

function power(coefficient: number, last: number, beforeLast: number): number {
  return last * last + beforeLast * beforeLast - coefficient * last * beforeLast;
}
