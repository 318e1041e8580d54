// Where the caller's ear is in what was sent: the times of sending, corrected by what the carrier acknowledged.

/** Audio that plays without a gap. Positions and lengths are milliseconds of agent audio. */
interface Run {
  readonly startsAt: number;
  readonly from: number;
  length: number;
}

/** Two times are the same when no sample lies between them: sums of clock readings differ in their last bits. */
const SAME_TIME_MS = 0.01;

/** Positions are whole samples, which milliseconds hold exactly as sixteenths. */
const SAMPLES_PER_MS = 16;

/** Runs are kept until a mark behind them is echoed; a carrier that never echoes must not make the list grow. */
const MAX_RUNS = 64;

/**
 * A model of the carrier's player: it plays what it is sent in order, at once when idle, without pause when not. An echoed
 * mark tells how far the real player lags behind; later positions are read that much earlier.
 */
export class PlaybackClock {
  #runs: Run[] = [];
  #idleAt = Number.NEGATIVE_INFINITY;
  #playedMs = 0;
  /** Position up to which audio was sent. Written here alone, as what follows: a plain field, because it is read several times for a frame. */
  sentMs = 0;
  /** How much later than it was to sound the last acknowledged audio was heard, in milliseconds. */
  lagMs = 0;

  /** How much longer the player has something to play. Never negative. */
  bufferedMs(now: number): number {
    return Math.max(0, this.#idleAt - now);
  }

  /** A frame leaves: `contentMs` of agent audio, the rest of `frameMs` is silence. Returns when it sounds. */
  frameSent(now: number, frameMs: number, contentMs: number): number {
    const startsAt = Math.max(now, this.#idleAt);
    const last = this.#runs.at(-1);
    if (last !== undefined && Math.abs(last.startsAt + last.length - startsAt) < SAME_TIME_MS)
      last.length += contentMs;
    else {
      this.#runs.push({ startsAt, from: this.sentMs, length: contentMs });
      if (this.#runs.length > MAX_RUNS) this.#runs.shift();
    }
    this.sentMs += contentMs;
    this.#idleAt = startsAt + frameMs;
    return startsAt;
  }

  /** The caller has heard everything up to `positionMs`. */
  acknowledge(now: number, positionMs: number): void {
    const run = this.#runs.find((each) => positionMs > each.from && positionMs <= each.from + each.length);
    if (run !== undefined) this.lagMs = Math.max(0, now - (run.startsAt + positionMs - run.from));
    this.#playedMs = Math.max(this.#playedMs, positionMs);
    while (positionMs >= (this.#runs[1]?.from ?? Number.POSITIVE_INFINITY)) this.#runs.shift();
  }

  /** How much the caller has heard. Never goes back, never beyond what was sent. */
  playedMs(now: number): number {
    const heardAt = now - this.lagMs;
    // Asked several times for every frame: without a closure.
    for (let index = this.#runs.length - 1; index >= 0; index -= 1) {
      const run = this.#runs[index];
      if (run === undefined || run.startsAt > heardAt) continue;
      this.#playedMs = Math.max(this.#playedMs, run.from + Math.min(run.length, heardAt - run.startsAt));
      break;
    }
    return this.#playedMs;
  }

  /** The same in whole samples: none that was heard in part. */
  heardMs(now: number): number {
    return Math.floor(this.playedMs(now) * SAMPLES_PER_MS) / SAMPLES_PER_MS;
  }

  /** The player was emptied: what was not heard is no part of the timeline. */
  cut(now: number): number {
    const played = this.heardMs(now);
    this.#playedMs = played;
    this.#runs = [];
    this.#idleAt = now;
    this.sentMs = played;
    return played;
  }
}
