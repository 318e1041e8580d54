// How loud is what the caller hears? A sound far below it may be the agent's own voice, which the line brings back.
import type { Playout } from '../../../audio/playout.js';
import { PCM_16K } from '../../../audio/format.js';
import { levelDbfs } from '../../../audio/level.js';

const BLOCK_SAMPLES = PCM_16K.sampleRateHz / 50;
const BLOCK_MS = 20;
/** What was played this long ago may still come back, and the playback clock may be this much behind. */
const BEFORE_MS = 600;
const AHEAD_MS = 250;

/** Levels that nobody asks for any more are thrown away so many at a time. */
const FORGOTTEN = 256;

/** The playout of a call, with an ear on it. */
export class MeteredPlayout implements Playout {
  readonly #playout: Playout;
  /** When each block begins, and its level: asked for with every frame of the caller, and many where the voice is ahead. */
  #atMs: number[] = [];
  #dbfs: number[] = [];
  /** The first block that may still come back. */
  #first = 0;
  /** The first one that `latestDbfs` is yet to tell. */
  #untold = 0;

  constructor(playout: Playout) {
    this.#playout = playout;
  }

  /** Level of the loudest that the caller hears or has just heard; minus infinity when that is nothing. */
  get loudestDbfs(): number {
    const { playedMs } = this.#playout;
    this.#forget(playedMs);
    let loudest = Number.NEGATIVE_INFINITY;
    for (let at = this.#first; (this.#atMs[at] ?? Number.POSITIVE_INFINITY) <= playedMs + AHEAD_MS; at += 1)
      loudest = Math.max(loudest, this.#dbfs[at] ?? loudest);
    return loudest;
  }

  /** Level of the loudest that the caller has heard since this was last asked; minus infinity when that is nothing. */
  latestDbfs(): number {
    const { playedMs } = this.#playout;
    this.#forget(playedMs);
    this.#untold = Math.max(this.#untold, this.#first);
    let loudest = Number.NEGATIVE_INFINITY;
    for (; (this.#atMs[this.#untold] ?? Number.POSITIVE_INFINITY) < playedMs; this.#untold += 1)
      loudest = Math.max(loudest, this.#dbfs[this.#untold] ?? loudest);
    return loudest;
  }

  push(pcm: Int16Array): void {
    // Nobody may ask, on a line without echoes.
    this.#forget(this.#playout.playedMs);
    const startMs = this.#playout.pushedMs;
    // Who else has the playout may have dropped what was to come.
    this.#drop(startMs);
    for (let at = 0, atMs = startMs; at < pcm.length; at += BLOCK_SAMPLES, atMs += BLOCK_MS) {
      this.#atMs.push(atMs);
      this.#dbfs.push(levelDbfs(pcm.subarray(at, at + BLOCK_SAMPLES)));
    }
    this.#playout.push(pcm);
  }

  mark(name: string): void {
    this.#playout.mark(name);
  }

  clear(): number {
    const playedMs = this.#playout.clear();
    this.#drop(playedMs);
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

  /** What begins there or later is not played. */
  #drop(fromMs: number): void {
    while ((this.#atMs.at(-1) ?? Number.NEGATIVE_INFINITY) >= fromMs) {
      this.#atMs.pop();
      this.#dbfs.pop();
    }
    this.#first = Math.min(this.#first, this.#atMs.length);
    this.#untold = Math.min(this.#untold, this.#atMs.length);
  }

  /** What is too long ago. */
  #forget(playedMs: number): void {
    while ((this.#atMs[this.#first] ?? playedMs) < playedMs - BEFORE_MS) this.#first += 1;
    if (this.#first < FORGOTTEN) return;
    this.#atMs.splice(0, this.#first);
    this.#dbfs.splice(0, this.#first);
    this.#untold = Math.max(0, this.#untold - this.#first);
    this.#first = 0;
  }
}
