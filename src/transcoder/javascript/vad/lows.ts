// How quiet a band is when nobody speaks: a slow average over the lowest levels of the last two seconds.

/** Levels that are kept. */
const KEPT = 16;
/** Frames that a level is kept for. */
const LIFE = 100;
/** Stands where no level is kept. No level is as high. */
const NONE = 10_000;
/** The average that is begun with. */
const START = 1600;
/** Weights of the average against a new level, in Q15, which must be one less than they count: 0.2 down, 0.99 up. */
const DOWN = 6553;
const UP = 32_439;

/** The lowest levels of one band. */
export class Lows {
  /** In rising order. */
  readonly #levels = new Int32Array(KEPT).fill(NONE);
  /** In which frame each is forgotten. */
  readonly #ends = new Uint32Array(KEPT);
  #average = START;

  /** Takes the level of a frame and gives the average. `frame` counts from 0, and wraps at 2^32. */
  follow(level: number, frame: number): number {
    this.#forget(frame);
    this.#insert(level, frame);
    const low = frame === 0 ? START : this.#levels[frame < 3 ? 0 : 2]!;
    const weight = frame === 0 ? 0 : low < this.#average ? DOWN : UP;
    this.#average = ((weight + 1) * this.#average + (32_767 - weight) * low + 16_384) >> 15;
    return this.#average;
  }

  #forget(frame: number): void {
    for (let place = 0; place < KEPT; place++) {
      if (this.#ends[place] !== frame || this.#levels[place] === NONE) continue;
      this.#levels.copyWithin(place, place + 1);
      this.#ends.copyWithin(place, place + 1);
      this.#levels[KEPT - 1] = NONE;
      // The reference steps over the level that moves here: it does not grow older in this frame.
      this.#ends[place]! += 1;
    }
  }

  #insert(level: number, frame: number): void {
    let place = KEPT - 1;
    if (level >= this.#levels[place]!) return;
    while (place > 0 && level < this.#levels[place - 1]!) {
      this.#levels[place] = this.#levels[place - 1]!;
      this.#ends[place] = this.#ends[place - 1]!;
      place--;
    }
    this.#levels[place] = level;
    this.#ends[place] = frame + LIFE;
  }
}
