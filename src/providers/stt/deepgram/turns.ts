// Puts the pieces of a transcript together: what is open, what is settled, and where a turn ends. Seconds count from the start of the session.
import type { PieceLanguage } from '../../speech-to-text.js';
import type { DeepgramResults, DeepgramWord } from './messages.js';

export interface DeepgramTurnsEvents {
  partial(text: string): void;
  final(text: string, language?: PieceLanguage): void;
  turnEnded(): void;
  /** An end of the turn was seen while a piece is still open: ask for it, and call `settle` if no answer comes. */
  wantsRest(): void;
}

/** Two pieces of transcript touch; their times may overlap by a rounding. */
const TOLERANCE_S = 0.05;

interface Piece {
  readonly text: string;
  readonly startS: number;
  readonly endS: number;
  readonly language: PieceLanguage | undefined;
}

/** Pure: no clock, no socket. */
export class DeepgramTurns {
  readonly #events: DeepgramTurnsEvents;
  readonly #ownsTurnTaking: boolean;
  #open: Piece | undefined;
  /** Audio up to here has its final text. */
  #settledS = 0;
  /** Where the settled text of the turn begins; undefined while there is none. */
  #turnStartS: number | undefined;
  /** The turn ends as soon as nothing is open. */
  #ending = false;
  /** A final was told since the rest was asked for. */
  #told = false;

  constructor(events: DeepgramTurnsEvents, options: { ownsTurnTaking: boolean }) {
    this.#events = events;
    this.#ownsTurnTaking = options.ownsTurnTaking;
  }

  /** Audio up to here, in seconds, need not be heard again. */
  get settledS(): number {
    return this.#settledS;
  }

  /** There is text that is not final. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** A result, its times already relative to the session. */
  results(result: DeepgramResults): void {
    if (this.#isLate(result)) {
      const ofThisTurn = this.#turnStartS !== undefined && this.#turnStartS < result.endS;
      if (result.speechFinal && ofThisTurn && this.#open === undefined) this.#endTurn();
      return;
    }
    const text = this.#newText(result);
    if (!result.isFinal) {
      if (text === '') return;
      this.#open = { text, startS: result.startS, endS: result.endS, language: languageOf(result.words) };
      this.#events.partial(text);
      return;
    }
    this.#close({ text, startS: result.startS, endS: result.endS, language: languageOf(result.words) });
    if (result.speechFinal || this.#ending) this.#endTurn();
  }

  /** Words have stopped: the second sign of an end, for lines whose noise hides the first. */
  utteranceEnd(lastWordEndS: number | undefined): void {
    if (!this.#ownsTurnTaking) return;
    const startS = this.#turnStartS ?? this.#open?.startS;
    if (startS === undefined) return;
    // It speaks of the turn before.
    if (lastWordEndS !== undefined && lastWordEndS < startS) return;
    if (this.#open === undefined) {
      this.#endTurn();
      return;
    }
    this.#ending = true;
    this.#events.wantsRest();
  }

  /** The rest is being asked for. */
  asked(): void {
    this.#told = false;
  }

  /** No more comes of what was asked for: an open piece is taken as it is. */
  settle(): void {
    if (this.#open !== undefined) this.#close(this.#open);
    else if (!this.#told) this.#events.final('');
    if (this.#ending) this.#endTurn();
  }

  #close(piece: Piece): void {
    const wasOpen = this.#open !== undefined;
    this.#open = undefined;
    this.#settledS = Math.max(this.#settledS, piece.endS);
    if (piece.text === '' && !wasOpen) return;
    if (piece.text !== '') this.#turnStartS ??= piece.startS;
    this.#told = true;
    if (piece.language === undefined) this.#events.final(piece.text);
    else this.#events.final(piece.text, piece.language);
  }

  #endTurn(): void {
    this.#ending = false;
    if (this.#turnStartS === undefined) return;
    this.#turnStartS = undefined;
    if (this.#ownsTurnTaking) this.#events.turnEnded();
  }

  /** About audio that is settled: a repetition, or a partial that was overtaken by its final. */
  #isLate({ startS, endS }: DeepgramResults): boolean {
    return endS > startS && endS <= this.#settledS + TOLERANCE_S;
  }

  /** The text without what was given for audio that is settled. */
  #newText({ text, words, startS }: DeepgramResults): string {
    if (startS >= this.#settledS - TOLERANCE_S || words.length === 0) return text;
    return words
      .filter((word) => word.startS >= this.#settledS - TOLERANCE_S)
      .map((word) => word.text)
      .join(' ');
  }
}

/** The language of most words, and how many of all are in it. */
function languageOf(words: readonly DeepgramWord[]): PieceLanguage | undefined {
  const counts = new Map<string, number>();
  for (const { language } of words)
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1);
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  return most && { tag: most[0], confidence: most[1] / words.length };
}
