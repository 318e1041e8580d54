// How loud is what the caller hears? A sound far below it may be the agent's own voice, which the line brings back.
import type { Playout } from '../../../audio/playout.js';
import { PCM_16K } from '../../../audio/format.js';
import { levelDbfs } from '../../../audio/level.js';

const BLOCK_SAMPLES = PCM_16K.sampleRateHz / 50;
const BLOCK_MS = 20;
/** What was played this long ago may still come back, and the playback clock may be this much behind. */
const BEFORE_MS = 600;
const AHEAD_MS = 250;

interface Level {
  readonly atMs: number;
  readonly dbfs: number;
}

/** The playout of a call, with an ear on it. */
export class MeteredPlayout implements Playout {
  readonly #playout: Playout;
  #levels: Level[] = [];
  /** Up to here `latestDbfs` has told. */
  #toldMs = 0;

  constructor(playout: Playout) {
    this.#playout = playout;
  }

  /** Level of the loudest that the caller hears or has just heard; minus infinity when that is nothing. */
  get loudestDbfs(): number {
    const { playedMs } = this.#playout;
    this.#forget(playedMs);
    let loudest = Number.NEGATIVE_INFINITY;
    for (const { atMs, dbfs } of this.#levels) {
      if (atMs > playedMs + AHEAD_MS) break;
      loudest = Math.max(loudest, dbfs);
    }
    return loudest;
  }

  /** Level of the loudest that the caller has heard since this was last asked; minus infinity when that is nothing. */
  latestDbfs(): number {
    const { playedMs } = this.#playout;
    let loudest = Number.NEGATIVE_INFINITY;
    for (const { atMs, dbfs } of this.#levels) {
      if (atMs >= playedMs) break;
      if (atMs >= this.#toldMs) loudest = Math.max(loudest, dbfs);
    }
    this.#toldMs = playedMs;
    return loudest;
  }

  push(pcm: Int16Array): void {
    // Nobody may ask, on a line without echoes.
    this.#forget(this.#playout.playedMs);
    const startMs = this.#playout.pushedMs;
    for (let at = 0, atMs = startMs; at < pcm.length; at += BLOCK_SAMPLES, atMs += BLOCK_MS)
      this.#levels.push({ atMs, dbfs: levelDbfs(pcm.subarray(at, at + BLOCK_SAMPLES)) });
    this.#playout.push(pcm);
  }

  mark(name: string): void {
    this.#playout.mark(name);
  }

  clear(): number {
    const playedMs = this.#playout.clear();
    this.#levels = this.#levels.filter(({ atMs }) => atMs < playedMs);
    return playedMs;
  }

  pause(): void {
    this.#playout.pause();
  }

  resume(): void {
    this.#playout.resume();
  }

  onNextFrameSent(listener: (sentAtMs: number) => void): void {
    this.#playout.onNextFrameSent(listener);
  }

  get pushedMs(): number {
    return this.#playout.pushedMs;
  }

  get playedMs(): number {
    return this.#playout.playedMs;
  }

  #forget(playedMs: number): void {
    while ((this.#levels[0]?.atMs ?? playedMs) < playedMs - BEFORE_MS) this.#levels.shift();
  }
}
