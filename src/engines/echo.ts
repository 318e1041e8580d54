// Does the recogniser hear the agent itself? Its words come back over the line, late, quiet and a little wrong.
import { wordsOf } from './lexicon.js';

/** Share of the caller's words that must be the agent's, in the same order. */
const ECHO_SHARE = 0.8;

/** True when `text` is what the agent just said. Texts of fewer than `minWords` words prove nothing. */
export function isEcho(text: string, agentText: string, minWords: number): boolean {
  const said = wordsOf(text);
  if (said.length < Math.max(1, minWords)) return false;
  return commonWords(said, wordsOf(agentText)) >= said.length * ECHO_SHARE;
}

/** Length of the longest sequence of words that both texts have in this order. */
function commonWords(a: readonly string[], b: readonly string[]): number {
  let previous: number[] = new Array(b.length + 1).fill(0);
  for (const word of a) {
    const row = [0];
    b.forEach((other, index) => {
      const best = Math.max(previous[index + 1] ?? 0, row[index] ?? 0);
      row.push(isAlike(word, other) ? Math.max(best, (previous[index] ?? 0) + 1) : best);
    });
    previous = row;
  }
  return previous.at(-1) ?? 0;
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
