// Is it noise or speech? Per band two Gaussians of either, the question which pair explains the levels better, and what the
// answer teaches. Levels and means are in sixteenths of a decibel, Q4 and Q7; deviations are in Q7.
import { BANDS } from './bands.js';
import { Lows } from './lows.js';

/** Gaussians of a mixture. Those of band b are at 2 * b and 2 * b + 1. */
const PARTS = 2;

/** How much of a mixture each Gaussian makes, in Q7. */
const NOISE_WEIGHTS = [34, 94, 62, 66, 72, 56, 66, 62, 53, 75, 25, 103];
const SPEECH_WEIGHTS = [48, 80, 82, 46, 45, 83, 87, 41, 50, 78, 47, 81];
/** What is known before anything was heard. */
const NOISE_MEANS = [6738, 7646, 4892, 3863, 7065, 7820, 6715, 7266, 6771, 5020, 3369, 4362];
const SPEECH_MEANS = [8306, 9473, 10_085, 9571, 10_078, 10_879, 11_823, 7581, 11_843, 8180, 6309, 7483];
const NOISE_DEVIATIONS = [378, 474, 1064, 697, 493, 475, 582, 688, 688, 421, 593, 455];
const SPEECH_DEVIATIONS = [555, 509, 505, 828, 567, 492, 524, 1540, 585, 1079, 1231, 850];

/** How much a band says about speech. */
const BAND_WEIGHTS = [6, 8, 10, 12, 14, 16];
/** Speech is so many times as likely as noise in one band, or in all of them, as a power of two: in quarters, and weighted. */
const ONE_BAND = 94;
const ALL_BANDS = 1050;

/** Where means stay: at least, by Gaussian; at most, by band. That of noise is 128 less per band, and 128 more per Gaussian. */
const LEAST_MEAN = [640, 768];
const MOST_NOISE_MEAN = 9216;
const MOST_SPEECH_MEAN = [13_440, 12_032, 12_032, 12_160, 12_160, 12_160];
/** Where the mean of a whole mixture stays. */
const MOST_NOISE = [9216, 9088, 8960, 8832, 8704, 8576];
const MOST_SPEECH = [11_392, 11_392, 11_520, 11_520, 11_520, 11_520];
/** How far the mixtures of a band stay apart, in Q5. */
const LEAST_DISTANCE = [544, 544, 576, 576, 576, 576];
/** Deviations do not fall below three decibels. */
const LEAST_DEVIATION = 384;

/** One, in Q14. */
const ONE = 16_384;

/** What becomes of a number in 16 bits. */
function wrap(value: number): number {
  return (value << 16) >> 16;
}

/** The quotient, rounded toward 0. No divisor here is 0. */
function divide(value: number, divisor: number): number {
  return (value / divisor) | 0;
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}

/** The mixtures of all bands, of noise or of speech. */
class Mixtures {
  readonly means: Int32Array;
  readonly #weights: Int32Array;
  readonly #deviations: Int32Array;
  /** One by the deviation, in Q10, and by its square, in Q14. */
  readonly #inverses = new Int32Array(PARTS * BANDS);
  readonly #squares = new Int32Array(PARTS * BANDS);
  /** How much of the likelihood of the last level each Gaussian makes, in Q14. */
  readonly #shares = new Int32Array(PARTS * BANDS);
  /** Of the first Gaussian, where a level is too unlikely to say. */
  readonly #noShare: number;

  constructor(start: { means: number[]; deviations: number[]; weights: number[]; noShare: number }) {
    this.means = Int32Array.from(start.means);
    this.#weights = Int32Array.from(start.weights);
    this.#deviations = new Int32Array(PARTS * BANDS);
    this.#noShare = start.noShare;
    for (const [at, deviation] of start.deviations.entries()) this.#setDeviation(at, deviation);
  }

  /** How likely `level` is in a band, in Q27. Keeps the shares. */
  likelihood(band: number, level: number): number {
    const at = PARTS * band;
    const first = this.#weights[at]! * this.#likelihood(at, level);
    const all = first + this.#weights[at + 1]! * this.#likelihood(at + 1, level);
    const rounded = all >> 12;
    if (rounded > 0) {
      const share = divide((first & ~0xfff) << 2, rounded);
      this.#shares[at] = share;
      this.#shares[at + 1] = ONE - share;
    } else {
      this.#shares[at] = this.#noShare;
      this.#shares[at + 1] = 0;
    }
    return all;
  }

  /** In Q14. */
  mean(band: number): number {
    const at = PARTS * band;
    return this.means[at]! * this.#weights[at]! + this.means[at + 1]! * this.#weights[at + 1]!;
  }

  shift(band: number, offset: number): void {
    const at = PARTS * band;
    this.means[at] = wrap(this.means[at]! + offset);
    this.means[at + 1] = wrap(this.means[at + 1]! + offset);
  }

  learnNoise(band: number, level: number): void {
    for (let at = PARTS * band; at < PARTS * (band + 1); at++) {
      const mean = this.means[at]!;
      const share = this.#shares[at]!;
      const distance = this.#distance(at, level);
      this.means[at] = mean + ((wrap((share * distance) >> 11) * 655) >> 22);
      const excess = ((distance * (level - (mean >> 3))) >> 3) - 4096;
      const change = Math.imul((share + 2) >> 2, excess) >> 14;
      this.#widen(at, (wrap(divide(change, this.#deviations[at]!)) + 32) >> 6);
    }
  }

  learnSpeech(band: number, level: number): void {
    for (let part = 0; part < PARTS; part++) {
      const at = PARTS * band + part;
      const mean = this.means[at]!;
      const share = this.#shares[at]!;
      const distance = this.#distance(at, level);
      const step = (wrap((share * distance) >> 11) * 6554) >> 21;
      this.means[at] = clamp(mean + ((step + 1) >> 1), LEAST_MEAN[part]!, MOST_SPEECH_MEAN[band]!);
      const excess = ((distance * (level - ((mean + 4) >> 3))) >> 3) - 4096;
      const change = Math.imul(share >> 2, excess) >> 4;
      // Ten deviations may be more than 16 bits hold.
      const quotient = wrap(divide(change, wrap(this.#deviations[at]! * 10)));
      this.#widen(at, wrap(quotient + 128) >> 8);
    }
  }

  /** How far `level` is from the mean, by the square of the deviation, in Q11. */
  #distance(at: number, level: number): number {
    return wrap((this.#squares[at]! * wrap((level << 3) - this.means[at]!)) >> 10);
  }

  /** How likely `level` is for one Gaussian, in Q20. */
  #likelihood(at: number, level: number): number {
    const exponent = (this.#distance(at, level) * wrap((level << 3) - this.means[at]!)) >> 9;
    if (exponent >= 22_005) return 0;
    // e to the power, by way of two to the power: the whole part shifts, the rest is taken as linear.
    const power = -((5909 * exponent) >> 12);
    return this.#inverses[at]! * ((0x400 | (power & 0x3ff)) >> ((~power >> 10) + 1));
  }

  #widen(at: number, change: number): void {
    const before = this.#deviations[at]!;
    const deviation = Math.max(LEAST_DEVIATION, wrap(before + change));
    // Most changes are too small to be one, and a division is saved then.
    if (deviation !== before) this.#setDeviation(at, deviation);
  }

  #setDeviation(at: number, deviation: number): void {
    this.#deviations[at] = deviation;
    const inverse = divide(131_072 + (deviation >> 1), deviation);
    this.#inverses[at] = inverse;
    this.#squares[at] = ((inverse >> 2) * (inverse >> 2)) >> 2;
  }
}

/** All that one detector knows of noise and speech. */
export class Models {
  readonly #noise = new Mixtures({
    means: NOISE_MEANS,
    deviations: NOISE_DEVIATIONS,
    weights: NOISE_WEIGHTS,
    noShare: ONE,
  });
  readonly #speech = new Mixtures({
    means: SPEECH_MEANS,
    deviations: SPEECH_DEVIATIONS,
    weights: SPEECH_WEIGHTS,
    noShare: 0,
  });
  readonly #lows = Array.from({ length: BANDS }, () => new Lows());
  /** Frames that were learnt from. Wraps, after years. */
  #frames = 0;

  /** True for speech. Learns from the frame, whatever it is. */
  judge(levels: Int32Array): boolean {
    let isSpeech = false;
    let sum = 0;
    for (let band = 0; band < BANDS; band++) {
      const noise = this.#noise.likelihood(band, levels[band]!);
      const speech = this.#speech.likelihood(band, levels[band]!);
      // The whole part of the logarithm, to the base of two, of how many times as likely speech is.
      const ratio = Math.clz32(noise) - Math.clz32(speech);
      sum += ratio * BAND_WEIGHTS[band]!;
      if (ratio * 4 > ONE_BAND) isSpeech = true;
    }
    if (sum >= ALL_BANDS) isSpeech = true;
    for (let band = 0; band < BANDS; band++) this.#learn(band, levels[band]!, isSpeech);
    this.#frames = (this.#frames + 1) >>> 0;
    return isSpeech;
  }

  #learn(band: number, level: number, isSpeech: boolean): void {
    const noise = this.#noise;
    const speech = this.#speech;
    const low = this.#lows[band]!.follow(level, this.#frames);
    // What is heard when nobody speaks draws the noise toward it.
    const drift = (wrap((low << 4) - (noise.mean(band) >> 6)) * 154) >> 9;
    if (isSpeech) speech.learnSpeech(band, level);
    else noise.learnNoise(band, level);
    for (let part = 0; part < PARTS; part++) {
      const at = PARTS * band + part;
      const most = MOST_NOISE_MEAN + ((part - band) << 7);
      noise.means[at] = clamp(noise.means[at]! + drift, LEAST_MEAN[part]!, most);
    }
    // Mixtures must not meet, nor leave where levels are.
    const lack = LEAST_DISTANCE[band]! - ((speech.mean(band) >> 9) - (noise.mean(band) >> 9));
    if (lack > 0) {
      speech.shift(band, (13 * lack) >> 2);
      noise.shift(band, -((3 * lack) >> 2));
    }
    const loudSpeech = (speech.mean(band) >> 7) - MOST_SPEECH[band]!;
    if (loudSpeech > 0) speech.shift(band, -loudSpeech);
    const loudNoise = (noise.mean(band) >> 7) - MOST_NOISE[band]!;
    if (loudNoise > 0) noise.shift(band, -loudNoise);
  }
}
