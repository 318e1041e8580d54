// Does the recognizer hear the agent itself? Its words come back over the line, late, quiet and a little wrong.
import { wordsOf } from '../../languages/lexicon.js';

/** Share of the caller's words that must be the agent's, in the same order. */
const ECHO_SHARE = 0.8;

/** The same where the sound is as quiet as an echo: recognizers mishear what they hardly hear. */
const QUIET_ECHO_SHARE = 0.5;

/** Fewer letters than these are found in any text. */
const MIN_LETTERS = 4;

type Comparison = (heard: string, said: string) => boolean;

/** True when `text` is what the agent just said. Texts of fewer than `minWords` words prove nothing. */
export function isEcho(text: string, agentText: string, minWords: number): boolean {
  return sharedWords(text, agentText, minWords, isAlike) >= ECHO_SHARE;
}

/** The same where words were torn apart or run together: by their letters, of which there must be a few. */
export function isGarbledEcho(text: string, agentText: string, minWords: number): boolean {
  const words = wordsOf(text);
  const letters = words.join('');
  if (words.length < minWords || letters.length < MIN_LETTERS) return false;
  return 1 - strayLetters(letters, wordsOf(agentText).join('')) / letters.length >= ECHO_SHARE;
}

/** True when `text`, which was as quiet as an echo, can be what the agent just said, misheard. */
export function isQuietEcho(text: string, agentText: string, minWords: number): boolean {
  const isHeardOf = (heard: string, word: string) => isAlike(heard, word) || isEdgeOf(heard, word);
  return sharedWords(text, agentText, minWords, isHeardOf) >= QUIET_ECHO_SHARE;
}

/** Share of the words of `text` that are the agent's, in the same order; 0 when there are too few of them. */
function sharedWords(text: string, agentText: string, minWords: number, isSame: Comparison): number {
  const said = wordsOf(text);
  if (said.length < Math.max(1, minWords)) return 0;
  return commonWords(said, wordsOf(agentText), isSame) / said.length;
}

/** Length of the longest sequence of words that both texts have in this order. */
function commonWords(a: readonly string[], b: readonly string[], isSame: Comparison): number {
  let previous: number[] = new Array(b.length + 1).fill(0);
  for (const word of a) {
    const row = [0];
    b.forEach((other, index) => {
      const best = Math.max(previous[index + 1] ?? 0, row[index] ?? 0);
      row.push(isSame(word, other) ? Math.max(best, (previous[index] ?? 0) + 1) : best);
    });
    previous = row;
  }
  return previous.at(-1) ?? 0;
}

/** How many letters must change to make `heard` the piece of `said` that is nearest to it. Sellers' algorithm. */
function strayLetters(heard: string, said: string): number {
  let previous: number[] = new Array(said.length + 1).fill(0);
  for (const letter of heard) {
    const row = [(previous[0] ?? 0) + 1];
    for (let index = 0; index < said.length; index += 1) {
      const replaced = (previous[index] ?? 0) + (letter === said[index] ? 0 : 1);
      row.push(Math.min(replaced, (previous[index + 1] ?? 0) + 1, (row[index] ?? 0) + 1));
    }
    previous = row;
  }
  return Math.min(...previous);
}

/** The beginning or the end of a word, which is all that a recognizer may get of it. */
function isEdgeOf(heard: string, word: string): boolean {
  return word.startsWith(heard) || word.endsWith(heard);
}

/** Equal, or longer words that differ in one letter. */
function isAlike(a: string, b: string): boolean {
  if (a === b) return true;
  if (Math.min(a.length, b.length) < 4 || Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  return Math.max(a.length, b.length) - start - end <= 1;
}
