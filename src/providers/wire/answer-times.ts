// How long a server takes for its answers, learned from those it gave. A provider object keeps one over all its calls.

/** What every answer leaves of the slowest one before it: a server that has recovered counts as fast again after some ten answers. */
const KEPT_SHARE = 0.9;

export class AnswerTimes {
  #slowestMs: number | undefined;

  /** The slowest recent answer, in milliseconds; undefined before the first one. */
  get slowestMs(): number | undefined {
    return this.#slowestMs;
  }

  answered(tookMs: number): void {
    this.#slowestMs = Math.max(tookMs, (this.#slowestMs ?? 0) * KEPT_SHARE);
  }
}
