// Keys that a carrier may tell on the stream, by webhook, or both: each key counts once. Pure: the time is told.

/** Where a key was told. */
export type KeySource = 'stream' | 'webhook';

/** The same key from the other source within this time is the same key, in milliseconds. */
const WINDOW_MS = 5000;
/** Keys that wait for their echo at most. */
const MAX_WAITING = 64;

interface WaitingKey {
  readonly source: KeySource;
  readonly digit: string;
  readonly at: number;
}

export class KeyJoin {
  /** Keys that the other source has not told, oldest first. */
  #waiting: WaitingKey[] = [];

  /** True for a key that counts, false for one that the other source has told already. */
  hear(source: KeySource, digit: string, nowMs: number): boolean {
    this.#waiting = this.#waiting.filter(({ at }) => nowMs - at < WINDOW_MS).slice(-MAX_WAITING);
    const echo = this.#waiting.findIndex((key) => key.source !== source && key.digit === digit);
    if (echo === -1) this.#waiting.push({ source, digit, at: nowMs });
    else this.#waiting.splice(echo, 1);
    return echo === -1;
  }
}
