// Numbers that are dictated: was one asked for, and is it complete?
import { wordsOf } from '../../languages/lexicon.js';

/** What the agent has asked for: how many digits, where that is known. `isExact` when more would be one too many. */
export interface WantedDigits {
  readonly count: number;
  readonly isExact: boolean;
}

const ONES = 'one|two|three|four|five|six|seven|eight|nine'.split('|');
const ZEROS = ['zero', 'oh', 'o'];
const TEENS = 'ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen'.split('|');
const TENS = 'twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety'.split('|');
const DIGITS = new Map([
  ...[...ZEROS, ...ONES].map((word) => [word, 1] as const),
  ...[...TEENS, ...TENS].map((word) => [word, 2] as const),
]);
const COUNTS = ['zero', ...ONES, 'ten'];

const COUNTED = /\b(\d{1,2}|two|three|four|five|six|seven|eight|nine|ten)[- ]digits?\b/;
const ZIP = /\bzip( code)?\b/;
const PHONE = /\b(phone|telephone|mobile|cell|callback|call-back) number\b/;
const SOME =
  /\bdigits\b|\b(account|card|reference|order|booking|confirmation|policy|member|membership|customer|tracking|serial|security|id|pin) number\b|\b(post|postal|pass|verification|security|access) ?code\b|\bpin\b/;

/** The digits that `agentText` asks for, or undefined. English; other languages are never taken for it. */
export function wantedDigits(agentText: string): WantedDigits | undefined {
  const text = agentText.toLowerCase();
  const counted = COUNTED.exec(text)?.[1];
  if (counted !== undefined) {
    const word = COUNTS.indexOf(counted);
    return { count: word === -1 ? Number(counted) : word, isExact: true };
  }
  if (ZIP.test(text)) return { count: 5, isExact: true };
  // Longer ones exist, shorter ones hardly do.
  if (PHONE.test(text)) return { count: 10, isExact: false };
  return SOME.test(text) ? { count: Number.POSITIVE_INFINITY, isExact: false } : undefined;
}

/** True when the last word of the text is a digit or a number. */
export function endsInDigits(text: string): boolean {
  return digitsIn(numeralsOf(text).at(-1) ?? '') > 0;
}

/** How many digits the text spells out, in figures or in words. */
export function countDigits(text: string): number {
  const words = numeralsOf(text);
  return words.reduce((count, word, index) => {
    // The "four" of "thirty-four" takes the place of the nought that was counted with "thirty".
    const isUnit = ONES.includes(word) && TENS.includes(words[index - 1] ?? '');
    return isUnit ? count : count + digitsIn(word);
  }, 0);
}

function numeralsOf(text: string): string[] {
  return wordsOf(text).flatMap((word) => word.split('-'));
}

function digitsIn(word: string): number {
  return DIGITS.get(word) ?? word.match(/\p{N}/gu)?.length ?? 0;
}
