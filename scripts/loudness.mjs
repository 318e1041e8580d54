// How loud a recording is: integrated loudness in LUFS after ITU-R BS.1770-4, for one channel of PCM at any rate.

/** Below this nothing counts, in LUFS; and nothing that is more than so many LU below the mean of the rest. */
const SILENCE_LUFS = -70;
const RELATIVE_GATE_LU = -10;
const BLOCK_MS = 400;
const STEP_MS = 100;

/**
 * @typedef {{ b: [number, number, number], a: [number, number] }} Biquad
 */

/** The two filters of the K-weighting for a rate: their analog forms, by the bilinear transform. @param {number} rateHz @returns {Biquad[]} */
function weighting(rateHz) {
  const shelf = { hz: 1681.974450955533, q: 0.7071752369554196, high: 10 ** (3.999843853973347 / 20) };
  const middle = shelf.high ** 0.4996667741545416;
  const s = Math.tan((Math.PI * shelf.hz) / rateHz);
  const sNorm = 1 + s / shelf.q + s * s;
  const pass = { hz: 38.13547087602444, q: 0.5003270373238773 };
  const p = Math.tan((Math.PI * pass.hz) / rateHz);
  const pNorm = 1 + p / pass.q + p * p;
  return [
    {
      b: [
        (shelf.high + (middle * s) / shelf.q + s * s) / sNorm,
        (2 * (s * s - shelf.high)) / sNorm,
        (shelf.high - (middle * s) / shelf.q + s * s) / sNorm,
      ],
      a: [(2 * (s * s - 1)) / sNorm, (1 - s / shelf.q + s * s) / sNorm],
    },
    { b: [1, -2, 1], a: [(2 * (p * p - 1)) / pNorm, (1 - p / pass.q + p * p) / pNorm] },
  ];
}

/** @param {Float64Array} samples @param {Biquad} filter */
function filtered(samples, { b, a }) {
  let [x1, x2, y1, y2] = [0, 0, 0, 0];
  return samples.map((x) => {
    const y = b[0] * x + b[1] * x1 + b[2] * x2 - a[0] * y1 - a[1] * y2;
    [x2, x1, y2, y1] = [x1, x, y1, y];
    return y;
  });
}

/** @param {number} power */
const toLufs = (power) => -0.691 + 10 * Math.log10(power);

/** @param {readonly number[]} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Integrated loudness in LUFS; -Infinity when there is no sound, or less than 400 ms of it.
 * @param {Int16Array} pcm One channel. @param {number} rateHz
 */
export function loudness(pcm, rateHz) {
  let samples = Float64Array.from(pcm, (sample) => sample / 32768);
  for (const filter of weighting(rateHz)) samples = filtered(samples, filter);
  const block = Math.round((rateHz * BLOCK_MS) / 1000);
  const step = Math.round((rateHz * STEP_MS) / 1000);
  /** @type {number[]} */
  const powers = [];
  for (let at = 0; at + block <= samples.length; at += step) {
    const power = samples.subarray(at, at + block).reduce((sum, sample) => sum + sample * sample, 0) / block;
    if (toLufs(power) > SILENCE_LUFS) powers.push(power);
  }
  if (powers.length === 0) return Number.NEGATIVE_INFINITY;
  const gate = toLufs(mean(powers)) + RELATIVE_GATE_LU;
  return toLufs(mean(powers.filter((power) => toLufs(power) > gate)));
}

/** The channels of a WAV file of 16-bit PCM. @param {Uint8Array} bytes @returns {{ rateHz: number, channels: Int16Array[] }} */
export function readChannels(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [count, rateHz] = [0, 0];
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = String.fromCharCode(...bytes.subarray(at, at + 4));
    const length = Math.min(view.getUint32(at + 4, true), bytes.length - at - 8);
    if (name === 'fmt ') [count, rateHz] = [view.getUint16(at + 10, true), view.getUint32(at + 12, true)];
    if (name === 'data' && count > 0) {
      const frames = Math.floor(length / 2 / count);
      const start = at + 8;
      return {
        rateHz,
        channels: Array.from({ length: count }, (_, channel) =>
          Int16Array.from({ length: frames }, (_, index) =>
            view.getInt16(start + 2 * (index * count + channel), true),
          ),
        ),
      };
    }
    at += 8 + length + (length % 2);
  }
  throw new Error('not a WAV file of 16-bit PCM');
}
