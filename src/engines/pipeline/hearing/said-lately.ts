// What the agent says, or has just said: the words that a line may bring back.
import type { Playout } from '../../../audio/playout.js';
import type { Clock } from '../../../base/clock.js';

/** What says words: a reply. */
export interface WordSource {
  readonly audible: boolean;
  saidBetween(fromMs: number, toMs: number): string;
}

/** The playback clock may be this much behind. */
const AHEAD_MS = 250;

interface Said {
  readonly source: WordSource;
  /** Where the playout was stopped in it, or had come to its end. Infinite before that. */
  endMs: number;
}

/** Remembers the source that speaks and the one before it. */
export class SaidLately {
  readonly #clock: Clock;
  readonly #playout: Playout;
  #said: Said | undefined;
  #before: Said | undefined;
  #quietAt = Number.NEGATIVE_INFINITY;

  constructor(options: { readonly clock: Clock; readonly playout: Playout }) {
    this.#clock = options.clock;
    this.#playout = options.playout;
  }

  /** Somebody begins to speak. */
  speaking(source: WordSource): void {
    if (this.#said?.source.audible === true) this.#before = this.#said;
    this.#said = { source, endMs: Number.POSITIVE_INFINITY };
  }

  /** And has ended. */
  silent(): void {
    if (!this.isSounding || this.#said === undefined) return;
    this.#said.endMs = this.#playout.playedMs;
    this.#quietAt = this.#clock.now();
  }

  /** It goes on behind a pause. */
  goesOn(): void {
    if (this.#said !== undefined) this.#said.endMs = Number.POSITIVE_INFINITY;
  }

  /** True while the agent can be heard. */
  get isSounding(): boolean {
    return this.#said?.source.audible === true && this.#said.endMs === Number.POSITIVE_INFINITY;
  }

  /** Since when the agent cannot be heard, on the clock: always while nothing was said, never while it sounds. */
  get quietAt(): number {
    return this.isSounding ? Number.POSITIVE_INFINITY : this.#quietAt;
  }

  /** The words of the last `ms` of playback. */
  wordsWithin(ms: number): string {
    const { playedMs } = this.#playout;
    return [this.#before, this.#said]
      .map((said) => said?.source.saidBetween(playedMs - ms, Math.min(playedMs, said.endMs) + AHEAD_MS) ?? '')
      .join(' ');
  }
}
