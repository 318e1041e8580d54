// The energies of six bands. The frame is brought to 8 kHz, and then halved into a lower and an upper band again and again, by
// pairs of all-pass filters.
//
// A filter of the first order takes every other sample. With a coefficient `c` in Q15, 0.64 for the even samples and 0.17 for
// the odd, its output is `(state + c * sample) >> 16`, and what it leaves behind `(sample << 15) - 2 * c * output`, all in 32 bits
// that wrap. The output in 16 bits is half as large as the sample.

/** 80 to 250, 250 to 500, 500 to 1000, 1000 to 2000, 2000 to 3000 and 3000 to 4000 Hz. */
export const BANDS = 6;

/** Samples of a frame: 20 ms at 16 kHz. */
export const FRAME_SAMPLES = 320;

/** Added to the level of each band for being sampled more slowly, in sixteenths of a decibel. */
const OFFSETS = [368, 368, 272, 176, 176, 176];
/** A frame whose bands have no more energy than this in all is silence. */
const LEAST_ENERGY = 10;

/** From 16 to 8 kHz the coefficients are in Q13, and the reference rounds twice: products down, what it subtracts up. */
const HALVER_EVEN = 5243;
const HALVER_ODD = 1392;
const ROUNDING = 0x7ff8;
const EVEN = 20_972;
const ODD = 5571;

/** The filters of one detector. They take frame after frame. */
export class FilterBank {
  /** Level of every band in the last frame, in sixteenths of a decibel. */
  readonly levels = new Int32Array(BANDS);
  /** Sum of the squares of the samples of the last frame. */
  energy = 0;
  /** Of the halver. */
  #even = ROUNDING;
  #odd = ROUNDING;
  /** Of every splitter, named after where what it splits ends. */
  readonly #states = {
    at4000: new Int32Array(2),
    upper: new Int32Array(2),
    at2000: new Int32Array(2),
    at1000: new Int32Array(2),
    at500: new Int32Array(2),
  };
  /** Of the high-pass filter: two samples and two outputs, the newer ones first. */
  readonly #past = new Int32Array(4);
  // Named after where a band begins and ends, in hundreds of hertz.
  readonly #b0to40 = new Int16Array(160);
  readonly #b20to40 = new Int16Array(80);
  readonly #b0to20 = new Int16Array(80);
  readonly #b30to40 = new Int16Array(40);
  readonly #b20to30 = new Int16Array(40);
  readonly #b10to20 = new Int16Array(40);
  readonly #b0to10 = new Int16Array(40);
  readonly #b5to10 = new Int16Array(20);
  readonly #b0to5 = new Int16Array(20);
  readonly #b2to5 = new Int16Array(10);
  readonly #b0to2 = new Int16Array(10);
  readonly #bands = [
    this.#b0to2,
    this.#b2to5,
    this.#b5to10,
    this.#b10to20,
    this.#b20to30,
    this.#b30to40,
  ] as const;

  /** Sets the levels. False for silence, which the detector neither judges nor learns from. */
  measure(frame: Int16Array): boolean {
    this.#halve(frame);
    const states = this.#states;
    split(this.#b0to40, states.at4000, this.#b20to40, this.#b0to20);
    split(this.#b20to40, states.upper, this.#b30to40, this.#b20to30);
    split(this.#b0to20, states.at2000, this.#b10to20, this.#b0to10);
    split(this.#b0to10, states.at1000, this.#b5to10, this.#b0to5);
    split(this.#b0to5, states.at500, this.#b2to5, this.#b0to2);
    this.#passHigh(this.#b0to2);
    let energy = 0;
    for (let band = 0; band < BANDS; band++) energy += this.#level(band);
    return energy > LEAST_ENERGY;
  }

  #halve(frame: Int16Array): void {
    const output = this.#b0to40;
    let even = this.#even;
    let odd = this.#odd;
    let evenEnergy = 0;
    let oddEnergy = 0;
    for (let n = 0; n < output.length; n++) {
      const left = frame[2 * n]!;
      const right = frame[2 * n + 1]!;
      const upper = (even + ((Math.imul(HALVER_EVEN, left) >> 14) << 16)) >> 16;
      even = ((left << 15) + ROUNDING - Math.imul(8 * HALVER_EVEN, upper)) | 0;
      const lower = (odd + ((Math.imul(HALVER_ODD, right) >> 14) << 16)) >> 16;
      odd = ((right << 15) + ROUNDING - Math.imul(8 * HALVER_ODD, lower)) | 0;
      output[n] = upper + lower;
      evenEnergy += left * left;
      oddEnergy += right * right;
    }
    this.#even = even;
    this.#odd = odd;
    this.energy = evenEnergy + oddEnergy;
  }

  /** Takes away what is below 80 Hz, at a rate of 500 Hz. */
  #passHigh(band: Int16Array): void {
    const past = this.#past;
    let input = past[0]!;
    let olderInput = past[1]!;
    let output = past[2]!;
    let olderOutput = past[3]!;
    for (let n = 0; n < band.length; n++) {
      const sample = band[n]!;
      const sum = 6631 * (sample - 2 * input + olderInput) + 7756 * output - 5620 * olderOutput;
      band[n] = sum >> 14;
      olderInput = input;
      input = sample;
      olderOutput = output;
      output = band[n]!;
    }
    past[0] = input;
    past[1] = olderInput;
    past[2] = output;
    past[3] = olderOutput;
  }

  /** Sets the level of a band. Returns its energy, which is exact below 2^14, and no less than that otherwise. */
  #level(band: number): number {
    const samples = this.#bands[band]!;
    // So that the sum fits 31 bits. The lowest sample has no magnitude in 16 bits, and is not seen; the sum may wrap then.
    let peak = -1;
    for (let n = 0; n < samples.length; n++) {
      const magnitude = Math.abs(samples[n]!);
      if (magnitude > peak && magnitude < 32_768) peak = magnitude;
    }
    const room = Math.clz32(peak * peak) - 1;
    const scaling = Math.max(0, 32 - Math.clz32(samples.length) - room);
    let sum = 0;
    for (let n = 0; n < samples.length; n++)
      sum = (sum + (Math.imul(samples[n]!, samples[n]!) >> scaling)) | 0;
    if (sum === 0) {
      this.levels[band] = OFFSETS[band]!;
      return 0;
    }
    // As 15 bits, the first of them set, and a shift.
    const zeros = Math.clz32(sum);
    const mantissa = (sum << zeros) >>> 17;
    const shifts = 17 + scaling - zeros;
    // log2 in Q10, and 160 * log10(2) in Q9.
    const logarithm = 14_336 + ((mantissa & 0x3fff) >> 4);
    const level = ((24_660 * logarithm) >> 19) + ((24_660 * shifts) >> 9);
    this.levels[band] = Math.max(0, level) + OFFSETS[band]!;
    return shifts < 0 ? mantissa >> -shifts : mantissa;
  }
}

/** From one band to its upper and its lower half. */
function split(input: Int16Array, state: Int32Array, high: Int16Array, low: Int16Array): void {
  let even = state[0]!;
  let odd = state[1]!;
  for (let n = 0; n < high.length; n++) {
    const left = input[2 * n]!;
    const right = input[2 * n + 1]!;
    const upper = (even + Math.imul(EVEN, left)) >> 16;
    even = ((left << 15) - Math.imul(2 * EVEN, upper)) | 0;
    const lower = (odd + Math.imul(ODD, right)) >> 16;
    odd = ((right << 15) - Math.imul(2 * ODD, lower)) | 0;
    high[n] = upper - lower;
    low[n] = upper + lower;
  }
  // From frame to frame a state keeps its upper 16 bits only.
  state[0] = even & ~0xffff;
  state[1] = odd & ~0xffff;
}
