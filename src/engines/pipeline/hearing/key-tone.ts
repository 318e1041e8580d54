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
  const row = loudest(frame, ROWS);
  const column = loudest(frame, COLUMNS);
  if (Math.min(row, column) < Math.max(row, column) * TWIST) return false;
  // A pure tone of amplitude a has the energy n a² / 2 and the power (n a / 2)² in its bin.
  return ((row + column) * 2) / frame.length >= energy * TONE_SHARE;
}

function loudest(frame: Int16Array, coefficients: readonly number[]): number {
  return Math.max(...coefficients.map((coefficient) => power(frame, coefficient)));
}

/** Goertzel's algorithm. */
function power(frame: Int16Array, coefficient: number): number {
  let last = 0;
  let beforeLast = 0;
  for (let index = 0; index < frame.length; index += 1) {
    const next = (frame[index] ?? 0) + coefficient * last - beforeLast;
    beforeLast = last;
    last = next;
  }
  return last * last + beforeLast * beforeLast - coefficient * last * beforeLast;
}
