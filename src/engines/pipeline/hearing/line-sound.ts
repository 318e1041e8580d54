// What a line has brought lately beside what was played on it: is the one the sound of the other?
import { FRAME_MS } from '../../../audio/format.js';

/** So much is looked back on. */
const KEPT_FRAMES = 250;
/** A line brings a voice back within this time, 600 ms, or seems to so much too early: the playback clock may be behind. */
const LAG_FRAMES = 30;
const EARLY_FRAMES = 5;
/** Less sound is like any other: half a second of two voices rises and falls together by chance. */
const LEAST_FRAMES = 40;
/** Frames are compared in groups, because the two sides are not aligned. */
const SMOOTHED_FRAMES = 3;
/** A click is louder than this share of the frames, and says nothing of the rest. */
const PLAIN_SHARE = 0.95;
/**
 * A sound is as loud as it is for so long: 100 ms, as the loudest syllable of a voice. A click is shorter, and the unvoiced sounds of a voice
 * lie 10 dB and more below its vowels, so that none of them is told apart here.
 */
const LOUDEST_FRAMES = 5;
/** A line without a sound, as amplitude: -80 dB of full scale. */
const SILENCE = 1e-4;

const SIZE = KEPT_FRAMES + LAG_FRAMES + EARLY_FRAMES + SMOOTHED_FRAMES;

/** One per call. Takes the levels of the frames of both sides, in order. */
export class LineSound {
  /** In decibels of full scale. */
  readonly #heard = new Float32Array(SIZE).fill(Number.NEGATIVE_INFINITY);
  readonly #played = new Float32Array(SIZE).fill(Number.NEGATIVE_INFINITY);
  #frames = 0;

  /** A frame has come, while this was played. */
  add(heardDbfs: number, playedDbfs: number): void {
    const at = this.#frames % SIZE;
    this.#heard[at] = heardDbfs;
    this.#played[at] = playedDbfs;
    this.#frames += 1;
  }

  /** Level that 100 ms of what was heard in the last `ms` reach, which need not be in a row. */
  loudestDbfs(ms: number): number {
    const level = this.#last(this.#heard, toFrames(ms)).toSorted().at(-LOUDEST_FRAMES) ?? 0;
    return 20 * Math.log10(Math.max(SILENCE, level));
  }

  /**
   * How much the loudness of what was heard in the last `ms` follows that of what was played, whatever the delay: 1 where it does
   * exactly, 0 and less where it does not. Undefined where either was silent or even.
   */
  likeness(ms: number): number | undefined {
    const frames = Math.min(KEPT_FRAMES, Math.max(LEAST_FRAMES, toFrames(ms)));
    const edges = EARLY_FRAMES + SMOOTHED_FRAMES - 1;
    const heard = smoothed(withoutClicks(this.#last(this.#heard, frames + edges))).subarray(0, frames);
    const played = smoothed(this.#last(this.#played, LAG_FRAMES + frames + edges));
    let best: number | undefined;
    for (let from = 0; from <= LAG_FRAMES + EARLY_FRAMES; from += 1) {
      const likeness = correlation(heard, played.subarray(from, from + frames));
      if (likeness !== undefined) best = Math.max(best ?? -1, likeness);
    }
    return best;
  }

  /** As amplitudes, oldest first. Before the call there was silence. */
  #last(levels: Float32Array, count: number): Float32Array {
    return Float32Array.from({ length: count }, (_, index) =>
      toAmplitude(levels[(this.#frames - count + index + SIZE) % SIZE] ?? Number.NEGATIVE_INFINITY),
    );
  }
}

function toFrames(ms: number): number {
  return Math.min(KEPT_FRAMES, Math.ceil(ms / FRAME_MS));
}

function toAmplitude(dbfs: number): number {
  return 10 ** (dbfs / 20);
}

function withoutClicks(levels: Float32Array): Float32Array {
  const most = levels.toSorted()[Math.floor(levels.length * PLAIN_SHARE)] ?? 0;
  return levels.map((level) => Math.min(level, most));
}

function smoothed(levels: Float32Array): Float32Array {
  return Float32Array.from({ length: levels.length - SMOOTHED_FRAMES + 1 }, (_, index) =>
    levels.subarray(index, index + SMOOTHED_FRAMES).reduce((sum, level) => sum + level / SMOOTHED_FRAMES, 0),
  );
}

/** Pearson's. */
function correlation(a: Float32Array, b: Float32Array): number | undefined {
  const meanA = mean(a);
  const meanB = mean(b);
  let [together, ofA, ofB] = [0, 0, 0];
  a.forEach((level, index) => {
    const fromA = level - meanA;
    const fromB = (b[index] ?? 0) - meanB;
    together += fromA * fromB;
    ofA += fromA * fromA;
    ofB += fromB * fromB;
  });
  const isEven = Math.min(ofA, ofB) < a.length * SILENCE * SILENCE;
  return isEven ? undefined : together / Math.sqrt(ofA * ofB);
}

function mean(levels: Float32Array): number {
  return levels.reduce((sum, level) => sum + level, 0) / levels.length;
}
