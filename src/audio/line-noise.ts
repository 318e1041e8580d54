// What stands out of the noise of a line, by its level alone; also where there has never been silence.

/** Below this level nothing is speech, in decibels of full scale. */
const GATE_DBFS = -45;

/** Speech stands out of the noise of the line by at least this much, in decibels. */
const ABOVE_FLOOR_DB = 6;

/** The noise is what the line is never without: the level that a fifth of the last two seconds stay below. Speech has more pauses than that. */
const WINDOW_FRAMES = 100;
const FLOOR_SHARE = 0.2;

/** Noise that has just set in is known by its evenness before it fills the window: 400 ms in which all but the extremes lie this close. */
const EVEN_FRAMES = 20;
const EVEN_DB = 2.5;
const EVEN_EXTREMES = 2;

/** Levels are counted in decibels from full scale down. */
const STEPS = 97;
const SILENCE = STEPS - 1;

/** One per line. Takes the levels of its 20 ms frames, in order. Before them there was silence. */
export class LineNoise {
  readonly #levels = new Uint8Array(WINDOW_FRAMES).fill(SILENCE);
  readonly #counts = new Uint8Array(STEPS).fill(WINDOW_FRAMES, SILENCE);
  readonly #latest = new Float32Array(EVEN_FRAMES).fill(-SILENCE);
  readonly #sorted = new Float32Array(EVEN_FRAMES);
  #frames = 0;

  /** True when a frame of this level is loud enough for speech. */
  isOpen(levelDbfs: number): boolean {
    // Most frames are quiet, and the noise is of no interest then.
    if (levelDbfs < GATE_DBFS) return false;
    return levelDbfs >= Math.max(this.#quietest, this.#evenLevel) + ABOVE_FLOOR_DB;
  }

  /** Learns what the line sounds like. */
  learn(levelDbfs: number): void {
    const at = this.#frames % WINDOW_FRAMES;
    const oldest = this.#levels[at] ?? 0;
    this.#counts[oldest] = (this.#counts[oldest] ?? 0) - 1;
    const step = Math.min(SILENCE, Math.max(0, Math.round(-levelDbfs)));
    this.#levels[at] = step;
    this.#counts[step] = (this.#counts[step] ?? 0) + 1;
    this.#latest[this.#frames % EVEN_FRAMES] = levelDbfs;
    this.#frames += 1;
  }

  get #quietest(): number {
    let below = WINDOW_FRAMES * FLOOR_SHARE;
    let step = STEPS;
    while (below > 0 && step > 0) {
      step -= 1;
      below -= this.#counts[step] ?? 0;
    }
    return -step;
  }

  /** The level of the last moment where it is even, as that of a voice never is. */
  get #evenLevel(): number {
    this.#sorted.set(this.#latest);
    this.#sorted.sort();
    const low = this.#sorted[EVEN_EXTREMES] ?? 0;
    const high = this.#sorted[EVEN_FRAMES - 1 - EVEN_EXTREMES] ?? 0;
    return high - low < EVEN_DB ? low : Number.NEGATIVE_INFINITY;
  }
}
