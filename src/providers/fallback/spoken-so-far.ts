// How far a voice has come in a sentence, by the times that it tells of its pieces: what is left when it breaks off.
import { PCM_16K } from '../../audio/format.js';
import type { SpokenPiece } from '../text-to-speech.js';

/** Sound that goes on for longer after the last timed piece has words whose times did not come. */
const UNTIMED_MS = 500;

/** One sentence, over as many voices as it takes. Positions that are told are those in all of it. */
export class SpokenSoFar {
  readonly #text: string;
  /** Where the part that is being said begins, in the text and in the audio. */
  #start = 0;
  #startMs = 0;
  #samples = 0;
  #pieces: SpokenPiece[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** The part that is to be said now. */
  get part(): string {
    return this.#text.slice(this.#start);
  }

  /** True once there was sound of it. */
  get isAudible(): boolean {
    return this.#samples > 0;
  }

  take(pcm: Int16Array): void {
    this.#samples += pcm.length;
  }

  /** Pieces of the part, as pieces of all of it. A voice of the application may be plain JavaScript: what is no piece is left out. */
  timed(pieces: readonly SpokenPiece[]): SpokenPiece[] {
    if (!Array.isArray(pieces)) return [];
    const told = pieces.filter(isObject).map(({ start, end, startMs, endMs }: SpokenPiece) => ({
      start: start + this.#start,
      end: end + this.#start,
      startMs: startMs + this.#startMs,
      endMs: endMs + this.#startMs,
    }));
    // Pieces of a text do not overlap: there are never more than it has characters.
    if (this.#pieces.length < this.#text.length) this.#pieces.push(...told);
    return told;
  }

  /** The voice broke off: what is left is the part now, '' when nothing is or nobody knows what. */
  breakOff(): string {
    if (!this.isAudible) return this.part;
    this.#start = this.#restStart();
    this.#startMs = this.#audioMs;
    this.#pieces = [];
    return this.part.trim() === '' ? '' : this.part;
  }

  get #audioMs(): number {
    return (this.#samples / PCM_16K.sampleRateHz) * 1000;
  }

  /** A word that was begun is taken as said: better half a word too few than one twice. */
  #restStart(): number {
    const heardMs = this.#audioMs;
    const last = this.#pieces.findLast(({ startMs }) => startMs < heardMs);
    const isKnown = this.#pieces.length > 0 && heardMs <= (this.#pieces.at(-1)?.endMs ?? 0) + UNTIMED_MS;
    if (!isKnown) return this.#text.length;
    if (last === undefined) return this.#start;
    const rest = this.#text.slice(last.end);
    const isWithinWord = /\S$/.test(this.#text.slice(0, last.end));
    return last.end + (isWithinWord ? (/^\S+/.exec(rest)?.[0].length ?? 0) : 0);
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
