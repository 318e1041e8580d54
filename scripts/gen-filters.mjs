// Designs the resampling filters and writes the one integer table that Rust and JavaScript share.
//
//   node scripts/gen-filters.mjs           writes both tables
//   node scripts/gen-filters.mjs --check   exits 1 when a table on disk differs from the design
//
// Method: linear-phase FIR of odd length, weighted least squares on a frequency grid, reweighted by its own error
// until the ripple is even (Lawson 1961, "Contributions to the theory of linear least maximum approximation").
// The stop band weighs more toward its end: there lie the images of speech, and they would count as noise.
// Pass and stop bands that mirror each other around the band edge get a Nyquist filter: every `factor`-th tap except
// the center is zero, so one output phase is a copy of the input. The taps are then rounded to integers so that every
// polyphase branch sums to exactly 2^SCALE_BITS: a constant signal stays what it is.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Unity gain is 2^20: finer taps would cost time, coarser ones let more than -95 dB through. */
const SCALE_BITS = 20;
/** A large tap is split as high * 2^7 + low, so that both parts fit 16-bit multiplication. */
const SPLIT_BITS = 7;
/** The rates are multiples of this one; 125 microseconds of audio are the smallest whole step of every path. */
const BASE_HZ = 8000;

/**
 * @typedef {object} Design
 * @property {string} name constant in the tables
 * @property {number} fromHz
 * @property {number} toHz
 * @property {number} taps odd length, at the prototype rate
 * @property {number} passHz upper edge of the pass band
 * @property {number} stopHz lower edge of the stop band
 * @property {number} passWeight weight of the pass-band error, the stop band's is 1
 * @property {number} slopeDb how much more the stop band weighs at its upper end: the images of low tones, where speech is, lie there
 * @property {boolean} nyquist every factor-th tap beside the center is zero
 */

/** @type {Design[]} */
const DESIGNS = [
  {
    name: 'UP_8_16',
    fromHz: 8000,
    toHz: 16000,
    taps: 79,
    passHz: 3400,
    stopHz: 4600,
    passWeight: 1,
    slopeDb: 20,
    nyquist: true,
  },
  {
    name: 'DOWN_16_8',
    fromHz: 16000,
    toHz: 8000,
    taps: 79,
    passHz: 3400,
    stopHz: 4600,
    passWeight: 1,
    slopeDb: 0,
    nyquist: true,
  },
  {
    name: 'UP_16_24',
    fromHz: 16000,
    toHz: 24000,
    taps: 143,
    passHz: 7000,
    stopHz: 9000,
    passWeight: 1,
    slopeDb: 40,
    nyquist: true,
  },
  {
    name: 'DOWN_24_16',
    fromHz: 24000,
    toHz: 16000,
    taps: 155,
    passHz: 7000,
    stopHz: 8500,
    passWeight: 1 / 64,
    slopeDb: 20,
    nyquist: false,
  },
  {
    name: 'UP_8_24',
    fromHz: 8000,
    toHz: 24000,
    taps: 119,
    passHz: 3400,
    stopHz: 4600,
    passWeight: 1,
    slopeDb: 20,
    nyquist: true,
  },
  {
    name: 'DOWN_24_8',
    fromHz: 24000,
    toHz: 8000,
    taps: 119,
    passHz: 3400,
    stopHz: 4600,
    passWeight: 1,
    slopeDb: 0,
    nyquist: true,
  },
];

/**
 * The element at a place that is known to be there. @template T @param {ArrayLike<T>} list @param {number} place @returns {T}
 */
function get(list, place) {
  return /** @type {T} */ (list[place]);
}

/** The same for numbers, which are many: of one kind of array, so that it costs nothing. @param {Float64Array} numbers @param {number} place */
function at(numbers, place) {
  return /** @type {number} */ (numbers[place]);
}

/** @param {Design} design */
function geometry(design) {
  const up = design.toHz / BASE_HZ;
  const down = design.fromHz / BASE_HZ;
  return { up, down, prototypeHz: design.fromHz * up };
}

/** Solves the symmetric positive definite system in place by Cholesky; the solution replaces `right`. @param {Float64Array[]} matrix @param {Float64Array} right */
function solve(matrix, right) {
  const size = right.length;
  for (let i = 0; i < size; i++) {
    const row = get(matrix, i);
    for (let j = 0; j <= i; j++) {
      const other = get(matrix, j);
      let sum = at(row, j);
      for (let k = 0; k < j; k++) sum -= at(row, k) * at(other, k);
      row[j] = i === j ? Math.sqrt(sum) : sum / at(other, j);
    }
  }
  for (let i = 0; i < size; i++) {
    const row = get(matrix, i);
    let sum = at(right, i);
    for (let k = 0; k < i; k++) sum -= at(row, k) * at(right, k);
    right[i] = sum / at(row, i);
  }
  for (let i = size - 1; i >= 0; i--) {
    let sum = at(right, i);
    for (let k = i + 1; k < size; k++) sum -= at(get(matrix, k), i) * at(right, k);
    right[i] = sum / at(get(matrix, i), i);
  }
}

/**
 * Unity-gain taps of the design, from the center outwards: h[0] is the center, h[k] stands at ±k.
 * @param {Design} design
 */
function designTaps(design) {
  const { up, down, prototypeHz } = geometry(design);
  const factor = Math.max(up, down);
  const reach = (design.taps - 1) / 2;
  /** @type {number[]} */
  const free = [];
  for (let k = design.nyquist ? 1 : 0; k <= reach; k++) if (!design.nyquist || k % factor !== 0) free.push(k);

  // A dense grid over both bands: about 16 points per ripple.
  /** @type {{ cosines: Float64Array, target: number, weight: number }[]} */
  const grid = [];
  const points = 8 * design.taps;
  const nyquistHz = prototypeHz / 2;
  const covered = design.passHz + nyquistHz - design.stopHz;
  for (const band of ['pass', 'stop']) {
    const low = band === 'pass' ? 0 : design.stopHz;
    const high = band === 'pass' ? design.passHz : nyquistHz;
    const count = Math.max(32, Math.round((points * (high - low)) / covered));
    for (let i = 0; i <= count; i++) {
      const angle = (2 * Math.PI * (low + ((high - low) * i) / count)) / prototypeHz;
      const cosines = Float64Array.from(free, (k) => (k === 0 ? 1 : 2 * Math.cos(k * angle)));
      const fixed = design.nyquist ? 1 / factor : 0;
      grid.push({
        cosines,
        target: (band === 'pass' ? 1 : 0) - fixed,
        weight: band === 'pass' ? design.passWeight : 10 ** ((design.slopeDb * i) / count / 20),
      });
    }
  }

  const lawson = new Float64Array(grid.length).fill(1 / grid.length);
  const size = free.length;
  let best = new Float64Array(size);
  let bestPeak = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 200; round++) {
    const matrix = Array.from({ length: size }, () => new Float64Array(size));
    const right = new Float64Array(size);
    grid.forEach(({ cosines, target, weight }, point) => {
      const factorHere = at(lawson, point) * weight * weight;
      for (let i = 0; i < size; i++) {
        const scaled = factorHere * at(cosines, i);
        right[i] = at(right, i) + scaled * target;
        const row = get(matrix, i);
        for (let j = 0; j <= i; j++) row[j] = at(row, j) + scaled * at(cosines, j);
      }
    });
    solve(matrix, right);
    let peak = 0;
    let total = 0;
    const errors = grid.map(({ cosines, target, weight }) => {
      let value = -target;
      for (let i = 0; i < size; i++) value += at(right, i) * at(cosines, i);
      const error = Math.abs(value) * weight;
      peak = Math.max(peak, error);
      return error;
    });
    if (peak < bestPeak) {
      bestPeak = peak;
      best = right.slice();
    }
    for (let i = 0; i < lawson.length; i++) {
      const weight = at(lawson, i) * get(errors, i);
      lawson[i] = weight;
      total += weight;
    }
    for (let i = 0; i < lawson.length; i++) lawson[i] = Math.max(at(lawson, i) / total, 1e-12);
  }
  const taps = new Float64Array(reach + 1);
  if (design.nyquist) taps[0] = 1 / factor;
  free.forEach((k, i) => {
    taps[k] = at(best, i);
  });
  return taps;
}

/**
 * Integer taps, center outwards, such that each of the `up` branches sums to exactly 2^SCALE_BITS.
 * @param {Design} design
 * @param {Float64Array} taps
 */
function quantize(design, taps) {
  const { up } = geometry(design);
  const unity = 2 ** SCALE_BITS;
  const integers = Array.from(taps, (tap) => Math.round(tap * up * unity));
  // Branch b holds the taps at distances d = b (mod up) from the center, on both sides. Branches b and up - b mirror
  // each other. The rounding errors of a branch go where they matter least in proportion: into its largest taps.
  for (let branch = 0; branch <= up / 2; branch++) {
    const members = [];
    for (let k = 0; k < integers.length; k++) {
      const sides = k === 0 ? [0] : [k, -k];
      const hits = sides.filter((d) => (((d - branch) % up) + up) % up === 0).length;
      if (hits > 0) members.push({ k, hits });
    }
    let missing = unity - members.reduce((sum, { k, hits }) => sum + hits * get(integers, k), 0);
    members.sort((a, b) => Math.abs(get(integers, b.k)) - Math.abs(get(integers, a.k)));
    const single = members.find(({ hits }) => hits === 1);
    if (missing % 2 !== 0 && single) {
      integers[single.k] = get(integers, single.k) + Math.sign(missing);
      missing -= Math.sign(missing);
    }
    for (let turn = 0; missing !== 0; turn++) {
      const { k, hits } = get(members, turn % members.length);
      if (get(integers, k) === 0 || hits > Math.abs(missing)) continue;
      // The copy branch of a Nyquist filter is exactly the center.
      integers[k] = get(integers, k) + Math.sign(missing);
      missing -= Math.sign(missing) * hits;
    }
  }
  return integers;
}

/** @param {Design} design @param {number[]} integers */
function measure(design, integers) {
  const { up, prototypeHz } = geometry(design);
  const unity = 2 ** SCALE_BITS * up;
  let ripple = 0;
  let stop = 0;
  for (let i = 0; i <= 20000; i++) {
    const hz = (i / 20000) * (prototypeHz / 2);
    let gain = get(integers, 0);
    for (let k = 1; k < integers.length; k++)
      gain += 2 * get(integers, k) * Math.cos((2 * Math.PI * k * hz) / prototypeHz);
    gain = Math.abs(gain / unity);
    if (hz <= design.passHz) ripple = Math.max(ripple, Math.abs(20 * Math.log10(gain)));
    if (hz >= design.stopHz) stop = Math.max(stop, gain);
  }
  return { rippleDb: ripple, stopDb: 20 * Math.log10(stop) };
}

/** @param {number[]} numbers @param {string} indent */
function wrap(numbers, indent) {
  const lines = [];
  for (let i = 0; i < numbers.length; i += 10) lines.push(`${indent}${numbers.slice(i, i + 10).join(', ')},`);
  return lines.join('\n');
}

const designed = DESIGNS.map((design) => {
  const half = quantize(design, designTaps(design));
  const { rippleDb, stopDb } = measure(design, half);
  const facts =
    `${design.fromHz} Hz to ${design.toHz} Hz, ${design.taps} taps at ${geometry(design).prototypeHz} Hz: ` +
    `pass band to ${design.passHz} Hz within ${rippleDb.toFixed(4)} dB, stop band from ${design.stopHz} Hz at ${stopDb.toFixed(1)} dB.`;
  console.log(facts);
  return { ...design, half, facts };
});

const rust = `//! The filters of all paths, as integers.
// Generated by scripts/gen-filters.mjs. Do not edit: change the design there.

/// Unity gain is 2 to this power.
pub const SCALE_BITS: u32 = ${SCALE_BITS};
/// A large tap is \`high * 2^SPLIT_BITS + low\`.
pub const SPLIT_BITS: u32 = ${SPLIT_BITS};

/// A symmetric FIR of odd length at the rate \`from_hz * to_hz / 8000\`.
#[derive(Debug)]
pub struct Filter {
    /// Input rate in hertz.
    pub from_hz: u32,
    /// Output rate in hertz.
    pub to_hz: u32,
    /// The center tap, then the taps beside it, outwards.
    pub half: &'static [i32],
}

/// One filter for every pair of rates that is offered.
pub static FILTERS: [Filter; ${designed.length}] = [
${designed
  .map(
    ({ fromHz, toHz, half, facts }) =>
      `    // ${facts}\n    Filter {\n        from_hz: ${fromHz},\n        to_hz: ${toHz},\n        half: &[\n${wrap(half, '            ')}\n        ],\n    },`,
  )
  .join('\n')}
];
`;

const typescript = `// Generated by scripts/gen-filters.mjs. Do not edit: change the design there.

/** Unity gain is 2 to this power. */
export const SCALE_BITS = ${SCALE_BITS};

/** A symmetric FIR of odd length at the rate \`fromHz * toHz / 8000\`. */
export interface Filter {
  readonly fromHz: number;
  readonly toHz: number;
  /** The center tap, then the taps beside it, outwards. */
  readonly half: readonly number[];
}

/** One filter for every pair of rates that is offered. */
export const FILTERS: readonly Filter[] = [
${designed
  .map(
    ({ fromHz, toHz, half, facts }) =>
      `  // ${facts}\n  {\n    fromHz: ${fromHz},\n    toHz: ${toHz},\n    half: [\n${wrap(half, '      ')}\n    ],\n  },`,
  )
  .join('\n')}
];
`;

const check = process.argv.includes('--check');
let stale = 0;
const tables = {
  '../crates/transcoder/src/filters.rs': rust,
  '../src/transcoder/javascript/filters.ts': typescript,
};
for (const [path, text] of Object.entries(tables)) {
  const file = fileURLToPath(new URL(path, import.meta.url));
  if (!check) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`${file} does not belong to the design: run node scripts/gen-filters.mjs`);
    stale++;
  }
}
process.exitCode = stale === 0 ? 0 : 1;
