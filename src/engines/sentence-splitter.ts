// Cuts a stream of text into pieces a voice can speak: whole sentences, the first piece as early as it makes sense.
import { toSpeakable } from './speakable.js';

/** A shorter piece waits for its successor: a voice needs some words to find its tone. */
export const MIN_CHARS = 20;

/** The longest piece a voice is asked for. */
export const MAX_CHARS = 300;

/** The first piece may end at a comma after this much. */
const EARLY_CHARS = 60;
const EARLY_WORDS = 12;

/** Behind these a clause ends. In scripts without blanks no blank follows. */
const CLAUSE_ENDS = /[,;:–—،؛](?=\s)|[、，；：]/gu;
const SENTENCE_ENDS = /[.?!…؟۔।॥]+["'”’»)\]*_]*(?=\s)|[。？！．]["'”’」』）]*|\n+/gu;

/** Signs that stand for a syllable or a word. */
const DENSE = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}';
const DENSE_SIGNS = new RegExp(`[${DENSE}]`, 'gu');

/** A word is whole when a blank follows, it needs none, or its sentence ends. A full stop behind a digit may be the point of a number. */
const WHOLE_WORDS = new RegExp(`^.*(?:[\\s${DENSE}]|[^\\s\\d][.?!…。？！]$)`, 'su');

/** A full stop behind these never ends a sentence. */
const TITLES = new Set('mr|mrs|ms|dr|prof|st|sr|jr|vs|no|nr|fig|approx|dept|mt|e.g|i.e|cf'.split('|'));

/** Behind these it does when a capital follows. */
const ABBREVIATIONS = new Set(
  'a.m|p.m|etc|inc|ltd|co|corp|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|ave|blvd|ext|min|hr|tel'.split(
    '|',
  ),
);

/** Splits streamed text. Feed it deltas as they come; it returns the pieces that have become complete, ready to speak. */
export class SentenceSplitter {
  readonly #isSingle: boolean;
  #buffer = '';
  #first = true;
  #hurried = false;

  /** With `single` every sentence is a piece of its own, however short, and the first one is no earlier than others. */
  constructor(options: { single?: boolean } = {}) {
    this.#isSingle = options.single ?? false;
  }

  push(delta: string): string[] {
    this.#buffer += delta;
    const pieces: string[] = [];
    for (let end = this.#cut(); end !== undefined; end = this.#cut()) this.#take(end, pieces);
    return pieces;
  }

  /** The first piece is urgent: it may end at any clause. Does nothing once there was one. */
  hurry(): string[] {
    this.#hurried = true;
    return this.push('');
  }

  /** The words that are whole, however few: nobody can be kept waiting for the end of their sentence. None of sentences that stay `single`. */
  takeWords(): string[] {
    const pieces: string[] = [];
    if (!this.#isSingle) this.#take(WHOLE_WORDS.exec(this.#buffer)?.[0].length ?? 0, pieces);
    return pieces;
  }

  /** What is left when the stream has ended. */
  flush(): string[] {
    const pieces: string[] = [];
    while (this.#buffer.length > MAX_CHARS) this.#take(lastSpace(this.#buffer), pieces);
    this.#take(this.#buffer.length, pieces);
    return pieces;
  }

  #take(end: number, pieces: string[]): void {
    const speakable = toSpeakable(this.#buffer.slice(0, end));
    this.#buffer = this.#buffer.slice(end).trimStart();
    if (speakable === '') return;
    this.#first = false;
    pieces.push(speakable);
  }

  /** Where the next piece ends, or undefined when that cannot be known yet. */
  #cut(): number | undefined {
    const text = this.#buffer;
    for (const match of text.matchAll(SENTENCE_ENDS)) {
      const end = match.index + match[0].length;
      if (end > MAX_CHARS) break;
      const isLight = !this.#isSingle && weightOf(text.slice(0, end).trim()) < MIN_CHARS;
      if (isLight && !match[0].includes('\n')) continue;
      const ends = endsSentence(text, match.index, end);
      if (ends === undefined) return undefined;
      if (ends) return end;
    }
    if (this.#first && !this.#isSingle) {
      const early = earlyCut(text, this.#hurried);
      if (early !== undefined) return early;
    }
    return text.length > MAX_CHARS ? lastSpace(text) : undefined;
  }
}

/** The pieces of a whole text. */
export function splitSentences(text: string): string[] {
  const splitter = new SentenceSplitter();
  return [...splitter.push(text), ...splitter.flush()];
}

/** Each sentence of a whole text by itself. One that is longer than any piece comes in several. */
export function singleSentences(text: string): string[] {
  const splitter = new SentenceSplitter({ single: true });
  return [...splitter.push(text), ...splitter.flush()];
}

/** Undefined when the next word decides and is not there yet. */
function endsSentence(text: string, at: number, end: number): boolean | undefined {
  if (text[at] !== '.' || text[at + 1] === '.') return true;
  const word = /[^\s("']*$/.exec(text.slice(0, at))?.[0] ?? '';
  const lower = word.toLowerCase();
  if (TITLES.has(lower) || /^\p{L}$/u.test(word)) return false;
  // A number at the start of a line is that of a list.
  if (/^\d{1,2}$/.test(word) && /(^|\n)\s*$/.test(text.slice(0, at - word.length))) return false;
  if (!ABBREVIATIONS.has(lower) && !/^(\p{L}\.)+\p{L}$/u.test(word)) return true;
  const next = text.slice(end).trimStart()[0];
  return next === undefined ? undefined : /[\p{Lu}\p{N}]/u.test(next);
}

/** The end of a clause that is long enough to begin with. */
function earlyCut(text: string, hurried: boolean): number | undefined {
  for (const match of text.matchAll(CLAUSE_ENDS)) {
    const end = match.index + 1;
    if (end > MAX_CHARS) return undefined;
    const clause = text.slice(0, end);
    const weight = weightOf(clause);
    if (weight >= (hurried ? MIN_CHARS : EARLY_CHARS) || clause.trim().split(/\s+/).length >= EARLY_WORDS)
      return end;
  }
  return undefined;
}

/** Length of a text in letters. A sign that stands for a syllable or a word counts as three. */
export function weightOf(text: string): number {
  return text.length + 2 * (text.match(DENSE_SIGNS)?.length ?? 0);
}

function lastSpace(text: string): number {
  const space = text.lastIndexOf(' ', MAX_CHARS);
  if (space > 0) return space;
  // Never between the two halves of a character beyond the basic plane.
  return /[\uD800-\uDBFF]/.test(text[MAX_CHARS - 1] ?? '') ? MAX_CHARS - 1 : MAX_CHARS;
}
