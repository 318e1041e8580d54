// Measures what a resampler does to tones, through its public face alone. The audio report prints it, a test holds it.

/** @typedef {import('../../src/transcoder/backend.js').TranscoderBackend} TranscoderBackend */
/**
 * @typedef {object} Bars limits of one path
 * @property {number} fromHz
 * @property {number} toHz
 * @property {number} passHz the pass band is flat up to here
 * @property {{ fromHz: number, toHz: number, limitDb: number }[]} rejects tones in these bands leave no more than this where they do not belong
 * @property {number} delayMs
 */

export const RIPPLE_LIMIT_DB = 0.01;
export const SINAD_LIMIT_DB = 94;

/** @type {readonly Bars[]} */
export const BARS = [
  {
    fromHz: 8000,
    toHz: 16000,
    passHz: 3400,
    rejects: [{ fromHz: 100, toHz: 3400, limitDb: -90 }],
    delayMs: 3.5,
  },
  {
    fromHz: 16000,
    toHz: 8000,
    passHz: 3400,
    rejects: [{ fromHz: 4600, toHz: 7900, limitDb: -90 }],
    delayMs: 3.5,
  },
  {
    fromHz: 16000,
    toHz: 24000,
    passHz: 7000,
    rejects: [{ fromHz: 100, toHz: 7000, limitDb: -90 }],
    delayMs: 1.9,
  },
  {
    fromHz: 24000,
    toHz: 16000,
    passHz: 7000,
    rejects: [
      { fromHz: 8500, toHz: 9000, limitDb: -85 },
      { fromHz: 9000, toHz: 11900, limitDb: -90 },
    ],
    delayMs: 1.9,
  },
  {
    fromHz: 8000,
    toHz: 24000,
    passHz: 3400,
    rejects: [{ fromHz: 100, toHz: 3400, limitDb: -90 }],
    delayMs: 3.5,
  },
  {
    fromHz: 24000,
    toHz: 8000,
    passHz: 3400,
    rejects: [{ fromHz: 4600, toHz: 11900, limitDb: -90 }],
    delayMs: 3.5,
  },
];

/** Samples at the start that are not measured: the filter fills. */
const SETTLE = 400;

/** @param {number} hz @param {number} rateHz @param {number} level @param {number} seconds */
function tone(hz, rateHz, level, seconds) {
  const length = Math.round(rateHz * seconds);
  return Int16Array.from({ length }, (_, n) =>
    Math.round(level * 32767 * Math.sin((2 * Math.PI * hz * n) / rateHz)),
  );
}

/**
 * Least squares fit of one frequency: its amplitude, its phase, and the power of the rest.
 * @param {Int16Array | Float64Array} samples @param {number} hz @param {number} rateHz @param {number} [from]
 */
function fitTone(samples, hz, rateHz, from = 0) {
  let [cc, ss, cs, xc, xs, xx] = [0, 0, 0, 0, 0, 0];
  const count = samples.length - from;
  for (let n = from; n < samples.length; n++) {
    const angle = (2 * Math.PI * hz * n) / rateHz;
    const [cos, sin, x] = [Math.cos(angle), Math.sin(angle), /** @type {number} */ (samples[n])];
    cc += cos * cos;
    ss += sin * sin;
    cs += cos * sin;
    xc += x * cos;
    xs += x * sin;
    xx += x * x;
  }
  const determinant = cc * ss - cs * cs;
  const a = (xc * ss - xs * cs) / determinant;
  const b = (xs * cc - xc * cs) / determinant;
  const rest = xx - a * xc - b * xs;
  const [amplitude, phase] = [Math.hypot(a, b), Math.atan2(a, b)];
  return { a, b, amplitude, phase, power: (a * a + b * b) / 2, rest: rest / count };
}

/**
 * What is left without the tone: else its side lobes would hide what is looked for.
 * @param {Int16Array} samples @param {number} hz @param {number} rateHz @param {number} from
 */
function withoutTone(samples, hz, rateHz, from) {
  const { a, b } = fitTone(samples, hz, rateHz, from);
  return Float64Array.from(samples, (sample, n) => {
    const angle = (2 * Math.PI * hz * n) / rateHz;
    return sample - a * Math.cos(angle) - b * Math.sin(angle);
  });
}

/** @param {number} low @param {number} high @param {number} count */
function spread(low, high, count) {
  // Whole hertz and then some: no period that fits a frame.
  return Array.from(
    { length: count },
    (_, i) => low + ((high - low) * i) / (count - 1) + (i > 0 && i < count - 1 ? 0.37 : 0),
  );
}

/** Where a tone may leave something in the output that is not the tone. @param {Bars} bars @param {number} hz */
function strayHz({ fromHz, toHz }, hz) {
  const places = new Set();
  for (let k = 0; k <= 6; k++) {
    for (const image of [k * fromHz + hz, k * fromHz - hz]) {
      const folded = Math.abs(image - toHz * Math.round(image / toHz));
      if (image > 0 && Math.abs(folded - hz) > 1 && folded > 1 && folded < toHz / 2 - 1) places.add(folded);
    }
  }
  return [...places];
}

/**
 * All figures of one path.
 * @param {TranscoderBackend} backend @param {Bars} bars @param {{ tones?: number, seconds?: number }} [options]
 */
export function measurePath(backend, bars, { tones = 40, seconds = 1 } = {}) {
  const { fromHz, toHz, passHz } = bars;
  /** @param {Int16Array} input */
  const run = (input) => {
    const resampler = backend.createResampler(fromHz, toHz);
    const output = resampler.process(input).slice();
    resampler.free();
    return output;
  };

  const gains = spread(100, passHz, tones).map((hz) => {
    const input = tone(hz, fromHz, 0.9, seconds);
    const gain = fitTone(run(input), hz, toHz, SETTLE).amplitude / fitTone(input, hz, fromHz).amplitude;
    return { hz, db: 20 * Math.log10(gain) };
  });

  const strays = bars.rejects.flatMap((band) =>
    spread(band.fromHz, band.toHz, tones).map((hz) => {
      const input = tone(hz, fromHz, 0.89, seconds);
      // A tone above half the output rate must not be there at all: its alias is the stray.
      const output = run(input);
      const rest = hz < toHz / 2 ? withoutTone(output, hz, toHz, SETTLE) : output;
      const reference = fitTone(input, hz, fromHz).amplitude;
      const worst = Math.max(
        ...strayHz(bars, hz).map((place) => fitTone(rest, place, toHz, SETTLE).amplitude),
        1e-9,
      );
      return { hz, db: 20 * Math.log10(worst / reference), limitDb: band.limitDb };
    }),
  );

  const level = 10 ** (-1 / 20);
  const { power, rest } = fitTone(run(tone(997, fromHz, level, seconds)), 997, toHz, SETTLE);

  const phaseAt = (/** @type {number} */ hz) =>
    fitTone(run(tone(hz, fromHz, 0.9, seconds)), hz, toHz, SETTLE).phase;
  // A turn is lost where the phase wraps: the delay is below a period of the difference, 10 ms.
  const turns = (phaseAt(700) - phaseAt(800)) / (2 * Math.PI);
  const delayMs = (((turns % 1) + 1) % 1) * 10;

  return {
    fromHz,
    toHz,
    gains,
    strays,
    rippleDb: Math.max(...gains.map(({ db }) => Math.abs(db))),
    /** The stray that comes nearest to its limit, and how far it stays below. */
    strayDb: Math.max(...strays.map(({ db }) => db)),
    strayMarginDb: Math.min(...strays.map(({ db, limitDb }) => limitDb - db)),
    sinadDb: 10 * Math.log10(power / rest),
    delayMs,
    chunksSame: chunksAreTheSame(backend, bars),
    framesWhole: framesAreWhole(backend, bars),
  };
}

/** @param {number} length */
function noise(length) {
  let state = 12345;
  return Int16Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 15) - 0x8000;
  });
}

/** @param {TranscoderBackend} backend @param {Bars} bars */
function chunksAreTheSame(backend, { fromHz, toHz }) {
  const input = noise(fromHz);
  const whole = backend.createResampler(fromHz, toHz);
  const expected = Buffer.from(whole.process(input).buffer);
  whole.free();
  return [1, 2, 3, 7, 61, 160, 1001].every((size) => {
    const pieces = backend.createResampler(fromHz, toHz);
    const parts = [];
    for (let at = 0; at < input.length; at += size) {
      const part = pieces.process(input.subarray(at, at + size)).slice();
      parts.push(Buffer.from(part.buffer, part.byteOffset, part.byteLength));
    }
    pieces.free();
    return Buffer.concat(parts).equals(expected);
  });
}

/** @param {TranscoderBackend} backend @param {Bars} bars */
function framesAreWhole(backend, { fromHz, toHz }) {
  const resampler = backend.createResampler(fromHz, toHz);
  const lengths = Array.from({ length: 10 }, () => resampler.process(noise(fromHz / 50)).length);
  resampler.free();
  return lengths.every((length) => length === toHz / 50);
}
