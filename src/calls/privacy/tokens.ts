// A text as words and figures, whatever alphabet its figures are of and however it writes its letters.

export interface Token {
  /** Where it stands: from the first sign to the one behind the last. */
  readonly from: number;
  readonly to: number;
  /** In small letters without accents; '' for figures. */
  readonly word: string;
  /** As 0 to 9; '' for a word. */
  readonly digits: string;
}

/** Signs that take no room, or change the one before: they part nothing. */
const INVISIBLE = /[\p{M}\p{Cf}]/u;
const LETTER = /\p{L}/u;
const NUMBER = /\p{N}/u;

/** What a sign is: a letter or a figure with what it reads as, something that parts others, or nothing at all. */
type Sign = 'invisible' | 'other' | { readonly is: 'letter' | 'digit'; readonly reads: string };

const OTHER_SIGNS = new Map<string, Sign>();
const MOST_REMEMBERED = 2000;

/** `@` is a word of its own. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let kind: 'letter' | 'digit' | undefined;
  let [from, to, reads] = [0, 0, ''];
  const finish = () => {
    if (kind === 'letter') tokens.push({ from, to, word: reads, digits: '' });
    if (kind === 'digit') tokens.push({ from, to, word: '', digits: reads });
    kind = undefined;
  };
  for (let at = 0; at < text.length; ) {
    const sign = text.codePointAt(at) ?? 0;
    const next = at + (sign > 0xffff ? 2 : 1);
    const read = signOf(sign);
    if (read === 'other') finish();
    else if (read !== 'invisible') {
      if (read.is !== kind || read.reads === '@') {
        finish();
        [kind, from, reads] = [read.is, at, ''];
      }
      reads += read.reads;
      to = next;
      if (read.reads === '@') finish();
    } else if (kind !== undefined) to = next;
    at = next;
  }
  finish();
  return tokens;
}

function signOf(sign: number): Sign {
  const text = String.fromCodePoint(sign);
  const known = OTHER_SIGNS.get(text);
  if (known !== undefined) return known;
  const read = readSign(text);
  if (OTHER_SIGNS.size < MOST_REMEMBERED) OTHER_SIGNS.set(text, read);
  return read;
}

function readSign(text: string): Sign {
  if (text === '@' || text === '＠' || text === '﹫') return { is: 'letter', reads: '@' };
  if (INVISIBLE.test(text)) return 'invisible';
  if (NUMBER.test(text)) {
    const digits = /\p{Nd}/u.test(text)
      ? digitOf(text)
      : /^\(?(\d{1,2})[.)]?$/.exec(text.normalize('NFKC'))?.[1];
    return digits === undefined ? 'other' : { is: 'digit', reads: digits };
  }
  if (!LETTER.test(text)) return 'other';
  const folded = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return { is: 'letter', reads: folded === 'ß' ? 'ss' : folded === 'œ' ? 'oe' : folded };
}

/** Figures of an alphabet stand side by side, from 0 on. */
function digitOf(text: string): string {
  const sign = text.codePointAt(0) ?? 0;
  let zero = sign;
  while (sign - zero < 50 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((sign - zero) % 10);
}
