// How long a text takes to say, where nobody has said it yet.

/** Speed of speech where nothing better is known. Source: conversational English, about 3.8 syllables in a second. */
const SYLLABLES_PER_SECOND = 3.8;

/** Groups of vowels in alphabets that write them, a digit or a character that is a syllable of its own. */
const VOWELS =
  /[aeiouyœæøаеёиоуыэюяіїєαεηιουω]+|\d|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/giu;
/** Scripts that leave vowels out, or write them as marks: about two letters to a syllable. */
const LETTERS_WITHOUT_VOWELS =
  /[^\P{L}\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu;

/** The time of one syllable, in milliseconds. */
export const SYLLABLE_MS = 1000 / SYLLABLES_PER_SECOND;

/** Nobody says a text in less than this part of its estimated length: nineteen syllables in a second are no speech. */
const SHORTEST_PART = 0.2;

/** True where `ms` are enough to say all of `text`, however fast. */
export function canBeSaid(text: string, ms: number): boolean {
  return ms >= estimateMs(text) * SHORTEST_PART;
}

/** Estimated length of `text` in milliseconds; 0 when there is nothing in it to say. */
export function estimateMs(text: string): number {
  if (!/[\p{L}\p{N}]/u.test(text)) return 0;
  // Accents are taken off, so that a vowel is a vowel; composed Korean stays one character to a syllable.
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC');
  const vowels = plain.match(VOWELS)?.length ?? 0;
  const letters = plain.match(LETTERS_WITHOUT_VOWELS)?.length ?? 0;
  return Math.max(1, vowels + letters / 2) * SYLLABLE_MS;
}
