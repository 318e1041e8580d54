// How a piece of text came about, so that it is known which of its words will not come again when it is recognized once more: only the
// last seconds of what a caller says are kept for that.
import { KEPT_AUDIO_MS } from '../../../audio/kept-audio.js';
import { wordsOf } from '../../languages/lexicon.js';

/** Words of a lost piece whose audio is kept no more, and all of it as it was. */
export interface LostBeginning {
  readonly piece: string;
  /** Length of the beginning, in words. */
  readonly count: number;
}

interface Word {
  readonly plain: string;
  readonly from: number;
  readonly to: number;
}

/** Scripts that leave no gaps between words have one for each character. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu;

/** A place where the text that comes again is looked for: this many words around where the audio goes on, one word will do there. */
const NEAR_WORDS = 3;
const SURE_WORDS = 3;

export class PieceGrowth {
  #piece = '';
  /** When it had how many words, oldest first. */
  #steps: { readonly at: number; readonly count: number }[] = [];

  /** `at`: on the clock. */
  grew(piece: string, at: number): void {
    this.#piece = piece;
    this.#steps.push({ at, count: wordsIn(piece).length });
    // Of what is older the newest is enough.
    while ((this.#steps[1]?.at ?? at) < at - KEPT_AUDIO_MS) this.#steps.shift();
  }

  /** The piece has ended. */
  clear(): void {
    this.#piece = '';
    this.#steps = [];
  }

  /**
   * What nobody hears again when it is recognized once more `at` this time; undefined where all of it is. A recognizer writes later than
   * the caller speaks: words that it wrote first behind the oldest sound that is kept count as older.
   */
  lostAt(at: number): LostBeginning | undefined {
    const keptSince = at - KEPT_AUDIO_MS;
    const isKept = (this.#steps[0]?.at ?? at) >= keptSince;
    if (isKept) return undefined;
    const step = this.#steps.find((each) => each.at >= keptSince) ?? this.#steps.at(-1);
    return { piece: this.#piece, count: step?.count ?? 0 };
  }
}

/** The words that were lost. */
export function beginningOf({ piece, count }: LostBeginning): string {
  return piece.slice(0, wordsIn(piece)[count - 1]?.to ?? (count > 0 ? piece.length : 0));
}

/**
 * The lost beginning, and the text that was heard again. That may begin in the middle of a word, and before the end of the beginning: where
 * it says the same as the lost piece did, it goes on from there.
 */
export function rejoined(lost: LostBeginning, text: string): string {
  const before = wordsIn(lost.piece);
  const after = wordsIn(text);
  let best = { run: 0, at: lost.count, skipped: 0 };
  const distance = ({ at, skipped }: typeof best) => Math.abs(at - skipped - lost.count);
  for (const skipped of [0, 1]) {
    const runs = runLengths(before, after.slice(skipped));
    for (let at = skipped; at < before.length; at += 1) {
      const match = { run: runs[at] ?? 0, at, skipped };
      const needed = distance(match) <= NEAR_WORDS ? 1 + skipped : SURE_WORDS;
      if (match.run < needed || match.run < best.run) continue;
      if (match.run > best.run || distance(match) < distance(best)) best = match;
    }
  }
  const beginning = beginningOf({ piece: lost.piece, count: best.at });
  return `${beginning} ${text.slice(after[best.skipped]?.from ?? 0)}`.trim();
}

/** How many words from each place of `some` on are those that `others` begins with. Z algorithm: each word is compared twice at most. */
function runLengths(some: readonly Word[], others: readonly Word[]): number[] {
  const row = [...others.map(({ plain }) => plain), null, ...some.map(({ plain }) => plain)];
  const runs: number[] = [0];
  let [from, to] = [0, 0];
  for (let at = 1; at < row.length; at += 1) {
    let run = at < to ? Math.min(to - at, runs[at - from] ?? 0) : 0;
    while (at + run < row.length && row[run] === row[at + run]) run += 1;
    runs.push(run);
    if (at + run > to) [from, to] = [at, at + run];
  }
  return runs.slice(others.length + 1);
}

function wordsIn(text: string): Word[] {
  return [...text.matchAll(WORD)].map(({ 0: word, index }) => ({
    plain: wordsOf(word).join(' '),
    from: index,
    to: index + word.length,
  }));
}
