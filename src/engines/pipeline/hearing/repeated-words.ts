// A piece of text that a turn has taken before the recognizer was done with it comes once more, with the rest of it.
import { wordsOf } from '../../languages/lexicon.js';

/**
 * What is new in `text` when the words of `before` were there already. All of it where it does not begin with them; the last of them may
 * have been half a word then, and that of `text` may be one.
 */
export function withoutRepeated(text: string, before: string): string {
  const known = wordsOf(before);
  const parts = text.split(/\s+/).filter((part) => part !== '');
  let [at, count] = [0, 0];
  for (const [index, part] of parts.entries()) {
    const words = wordsOf(part);
    const isSame = words.every((word, offset) => word === known[at + offset]);
    const isBegun = index === parts.length - 1 && known[at]?.startsWith(words.join(' ')) === true;
    if (at >= known.length || !(isSame || isBegun)) break;
    at += words.length;
    count += 1;
  }
  const [next = ''] = wordsOf(parts[count] ?? '');
  const isHalf = at === known.length - 1 && next.startsWith(known[at] ?? '');
  return at >= known.length || count === parts.length || isHalf ? parts.slice(count).join(' ') : text;
}
