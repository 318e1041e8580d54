// Noise without a pitch, the same in every run.
import { seededRandom } from './seeded-random.js';

/** A source of white noise of a level, in decibels of full scale. */
export class WhiteNoise {
  readonly #random: () => number;
  readonly #peak: number;

  constructor(levelDbfs: number, seed: number) {
    this.#random = seededRandom(seed);
    // Evenly spread samples have an RMS of their peak by the root of three.
    this.#peak = 32_768 * 10 ** (levelDbfs / 20) * Math.sqrt(3);
  }

  next(): number {
    return clampSample((this.#random() * 2 - 1) * this.#peak);
  }

  samples(length: number): Int16Array {
    return Int16Array.from({ length }, () => this.next());
  }
}

/** The nearest sample of 16 bits. */
export function clampSample(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}
