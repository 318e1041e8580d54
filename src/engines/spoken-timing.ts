// When which part of a sentence is said, as its voice tells it: pieces come in, places in the text with their moments go out.
import type { SpokenPiece, SynthesisEvents } from '../providers/text-to-speech.js';

/** A place in the text, and the moment at which the voice is there. */
export interface SpokenPoint {
  readonly index: number;
  readonly atMs: number;
}

/** The timing of one sentence, empty where the voice tells none. */
export class SpokenTiming implements SynthesisEvents {
  readonly #text: string;
  readonly #pieces: SpokenPiece[] = [];
  #isBrokenOff = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** A voice of the application may be plain JavaScript: what is no piece, or is out of order, is as good as untold. */
  timed(pieces: readonly SpokenPiece[]): void {
    if (!Array.isArray(pieces)) return;
    for (const piece of pieces as readonly unknown[])
      if (isPiece(piece) && this.#isNext(piece)) this.#pieces.push({ ...piece });
  }

  /** The voice has said that it does not say the rest. */
  get isBrokenOff(): boolean {
    return this.#isBrokenOff;
  }

  brokeOff(): void {
    this.#isBrokenOff = true;
  }

  /** Beginnings and ends of the pieces that begin within `limitMs`, in the order of text and time. */
  points(limitMs: number): SpokenPoint[] {
    const points: SpokenPoint[] = [];
    for (const [position, { start, end, startMs, endMs }] of this.#pieces.entries()) {
      if (startMs >= limitMs) break;
      const nextMs = this.#pieces[position + 1]?.startMs ?? limitMs;
      points.push({ index: start, atMs: startMs }, { index: end, atMs: Math.min(endMs, nextMs, limitMs) });
    }
    return points;
  }

  #isNext({ start, end, startMs, endMs }: SpokenPiece): boolean {
    const last = this.#pieces.at(-1) ?? { end: 0, startMs: 0 };
    const isInText = start >= last.end && end > start && end <= this.#text.length;
    return isInText && startMs >= last.startMs && endMs >= startMs;
  }
}

function isPiece(value: unknown): value is SpokenPiece {
  if (typeof value !== 'object' || value === null) return false;
  const { start, end, startMs, endMs } = value as Partial<SpokenPiece>;
  return [start, end, startMs, endMs].every(Number.isFinite);
}
