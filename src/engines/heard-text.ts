// Which words of a sentence had been heard when it was cut off: by the times that its voice tells, by share of the text where it tells none.
import type { SpokenTiming } from './spoken-timing.js';
import { canBeSaid, estimateMs, SYLLABLE_MS } from './syllables.js';

/** The audio of a sentence. */
export interface SentenceAudio {
  /** How much of it there is so far. */
  readonly producedMs: number;
  /** While it is false more of the text is to come, or never will: the rest of the length is estimated. */
  readonly complete: boolean;
  /** Absent where the voice tells no times. */
  readonly timing?: SpokenTiming;
}

/** True when audio that has ended came to the end of its text: what no times were told of can have been said behind what they were told of. */
export function isWhole(text: string, audio: Omit<SentenceAudio, 'complete'>): boolean {
  const { producedMs, timing } = audio;
  if (timing?.isBrokenOff === true) return false;
  const last = timing?.points(producedMs).at(-1) ?? { index: 0, atMs: 0 };
  return canBeSaid(text.slice(last.index), producedMs - last.atMs);
}

/** What is cut between: words, and single characters where a script does no spaces. */
const WORDS =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}][^\p{L}\p{N}\s]*|[^\s\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]+/gu;

const IN_WORD = /[\p{L}\p{M}\p{N}]/u;
const LOW_SURROGATE = /[\uDC00-\uDFFF]/;

/** The words of `text` that lie wholly within the first `heardMs` of it. */
export function heardPart(text: string, heardMs: number, audio: SentenceAudio): string {
  if (heardMs <= 0 || audio.producedMs <= 0) return '';
  if (audio.complete && heardMs >= audio.producedMs) return text;
  const position = positionAt(text, heardMs, audio);
  let end = 0;
  for (const word of text.matchAll(WORDS)) {
    // A word is out when its last letter is: the pause behind it belongs to its comma.
    if (word.index + lengthInLetters(word[0]) > position) break;
    end = word.index + word[0].length;
  }
  return text.slice(0, end);
}

/** The words of `text` that lie at least partly between two moments of it. */
export function partBetween(
  text: string,
  range: { fromMs: number; toMs: number },
  audio: SentenceAudio,
): string {
  if (audio.producedMs <= 0 || range.toMs <= 0) return '';
  const from = positionAt(text, range.fromMs, audio);
  const to = positionAt(text, range.toMs, audio);
  const words = [...text.matchAll(/\S+/g)].filter(
    (word) => word.index < to && word.index + lengthInLetters(word[0]) > from,
  );
  return words.map((word) => word[0]).join(' ');
}

/** How far the voice is in `text` at a moment of its audio: on a straight line between the points that are known. */
function positionAt(text: string, playedMs: number, audio: SentenceAudio): number {
  const { producedMs, complete, timing } = audio;
  const ms = Math.max(0, playedMs);
  const points = timing?.points(complete ? producedMs : Math.max(producedMs, estimateMs(text))) ?? [];
  let before = { index: 0, atMs: 0 };
  for (const point of [...points, endOf(text, points.at(-1) ?? before, audio)]) {
    if (ms < point.atMs) {
      const [letters, lengthMs] = [point.index - before.index, point.atMs - before.atMs];
      return before.index + (letters * (ms - before.atMs)) / lengthMs;
    }
    before = point;
  }
  return text.length;
}

/** Where the text ends, when it is known up to `last`. */
function endOf(text: string, last: { index: number; atMs: number }, audio: SentenceAudio) {
  const index = text.length;
  if (audio.complete) return { index, atMs: audio.producedMs };
  const estimated = last.atMs + estimateMs(text.slice(last.index));
  // While more is to come, that is a syllable at least.
  return { index, atMs: Math.max(estimated, audio.producedMs + SYLLABLE_MS) };
}

/** Length of a word without what is not said of it at its end. */
function lengthInLetters(word: string): number {
  let end = word.length;
  // Backwards: what a search would find is tried at every sign.
  while (end > 0 && !IN_WORD.test(word.slice(end - (LOW_SURROGATE.test(word[end - 1] ?? '') ? 2 : 1), end)))
    end -= 1;
  return end;
}
