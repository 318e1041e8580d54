// Cuts a stream of text into pieces a voice can speak: whole sentences, the first piece as early as it makes sense. What it keeps of a
// piece grows with each character, so that none is looked at again.
import { SpeakableText, toLine } from '../../../base/speakable.js';

/** A shorter piece waits for its successor: a voice needs some words to find its tone. */
export const MIN_CHARS = 20;

/** The longest piece a voice is asked for. */
export const MAX_CHARS = 300;

/** The first piece may end at a comma after this much. */
const EARLY_CHARS = 60;
const EARLY_WORDS = 12;

/** Behind these a clause ends. In scripts without blanks no blank follows. */
const CLAUSE_END = /[,;:–—،؛]/;
const DENSE_CLAUSE_END = /[、，；：]/;
/** Behind these a sentence ends, and behind what closes after them. */
const SENTENCE_END = /[.?!…؟۔।॥]/;
const CLOSING = /["'”’»)\]*_]/;
const DENSE_SENTENCE_END = /[。？！．]/;
const DENSE_CLOSING = /["'”’」』）]/;

/** Signs that stand for a syllable or a word. */
const DENSE_SIGN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const DENSE_SIGNS = new RegExp(DENSE_SIGN.source, 'gu');

const SPACE = /\s/;
const BEFORE_WORD = /[\s("']/;
/** A sentence goes on before a small letter. */
const BEGINS_SENTENCE = /[\p{Lu}\p{N}]/u;
const HIGH_SURROGATE = /[\uD800-\uDBFF]/;

/** A word is whole when its sentence ends. A full stop behind a digit may be the point of a number. */
const WHOLE_END = /[.?!…。？！]/;
const OPEN_BEFORE_END = /[\s\d]/;

/** A full stop behind these never ends a sentence. */
const TITLES = new Set('mr|mrs|ms|dr|prof|st|sr|jr|vs|no|nr|fig|approx|dept|mt|e.g|i.e|cf'.split('|'));

/** Behind these it does when a capital follows. */
const ABBREVIATIONS = new Set(
  'a.m|p.m|etc|inc|ltd|co|corp|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|ave|blvd|ext|min|hr|tel'.split(
    '|',
  ),
);
const INITIALS = /^(?:\p{L}\.)+\p{L}$/u;

/** Signs with which a sentence may end: where they begin, and the word before them. */
interface Stop {
  readonly at: number;
  readonly wordAt: number;
  /** In a script no spaces. */
  readonly isDense: boolean;
  isClosed: boolean;
}

/** The piece that grows. */
class Draft {
  text = '';
  /** The last character of it. */
  last = '';
  denseSigns = 0;
  words = 0;
  wordAt = 0;
  stop: Stop | undefined;
  /** A sentence ends here when the next word begins one. */
  undecided: number | undefined;
  /** Ends of the first clause that is long enough, and of the first that is in a hurry. */
  early: number | undefined;
  hurried: number | undefined;

  get weight(): number {
    return this.text.length + 2 * this.denseSigns;
  }

  append(character: string): void {
    if (!SPACE.test(character) && (this.text === '' || SPACE.test(this.last))) this.words += 1;
    this.text += character;
    this.last = character;
    if (BEFORE_WORD.test(character)) this.wordAt = this.text.length;
    else if (character > '\u007F' && DENSE_SIGN.test(character)) this.denseSigns += 1;
  }

  /** A clause ends here. */
  endClause(): void {
    const { weight } = this;
    if (weight >= MIN_CHARS || this.words >= EARLY_WORDS) this.hurried ??= this.text.length;
    if (weight >= EARLY_CHARS || this.words >= EARLY_WORDS) this.early ??= this.text.length;
  }
}

/** Splits streamed text. Feed it deltas as they come; it returns the pieces that have become complete, ready to speak. */
export class SentenceSplitter {
  readonly #isSingle: boolean;
  readonly #speakable = new SpeakableText();
  #draft = new Draft();
  #pieces: string[] = [];
  #first = true;
  #hurried = false;

  /** With `single` every sentence is a piece of its own, however short, and the first one is no earlier than others. */
  constructor(options: { single?: boolean } = {}) {
    this.#isSingle = options.single ?? false;
  }

  /** Text that waits for the rest of its piece. */
  get waiting(): string {
    return this.#draft.text;
  }

  /** There is some, or there will be. */
  get isWaiting(): boolean {
    return this.#draft.text !== '' || this.#speakable.holds;
  }

  /** The words of it that are whole. */
  get words(): string {
    return this.waiting.slice(0, wholeWords(this.waiting));
  }

  push(delta: string): string[] {
    this.#read(this.#speakable.push(delta));
    this.#endDense();
    if (this.#first && !this.#isSingle) this.#cut(this.#clauseEnd);
    return this.#given();
  }

  /** The text broke off, and goes on in other hands: markup that was not closed ends here. */
  breakOff(): void {
    this.#read(this.#speakable.end());
  }

  /** The first piece is urgent: it may end at any clause. Does nothing once there was one. */
  hurry(): string[] {
    this.#hurried = true;
    return this.push('');
  }

  /** The words that are whole, however few: nobody can be kept waiting for the end of their sentence. None of sentences that stay `single`. */
  takeWords(): string[] {
    if (!this.#isSingle) this.#cut(wholeWords(this.#draft.text));
    return this.#given();
  }

  /** What is left when the stream has ended. */
  flush(): string[] {
    this.#read(this.#speakable.end());
    this.#cut(this.#draft.text.length);
    return this.#given();
  }

  #given(): string[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #read(text: string): void {
    for (const character of text) this.#take(character);
  }

  #take(character: string): void {
    const isSpace = SPACE.test(character);
    const { undecided } = this.#draft;
    if (undecided !== undefined && !isSpace) {
      this.#draft.undecided = undefined;
      if (BEGINS_SENTENCE.test(character)) this.#cut(undecided);
    }
    this.#stopBefore(character, isSpace);
    const draft = this.#draft;
    if (isSpace && CLAUSE_END.test(draft.last)) draft.endClause();
    if (isSpace && draft.text === '') return;
    draft.append(character);
    if (DENSE_CLAUSE_END.test(character)) draft.endClause();
    if (character === '\n') this.#cut(draft.text.length);
    else if (draft.text.length > MAX_CHARS) this.#cut(this.#clauseEnd ?? lastSpace(draft.text));
  }

  /** Follows the signs at the end of a sentence, and cuts behind them. */
  #stopBefore(character: string, isSpace: boolean): void {
    const { stop } = this.#draft;
    if (stop !== undefined) {
      const isMore = !stop.isClosed && (stop.isDense ? DENSE_SENTENCE_END : SENTENCE_END).test(character);
      if (stop.isDense && DENSE_CLOSING.test(character)) return;
      if (!stop.isDense && isMore) return;
      if (!stop.isDense && CLOSING.test(character)) {
        stop.isClosed = true;
        return;
      }
      this.#draft.stop = undefined;
      if (stop.isDense || isSpace) this.#endSentence(stop);
    }
    const isDense = DENSE_SENTENCE_END.test(character);
    if (!isDense && !SENTENCE_END.test(character)) return;
    const { text, wordAt } = this.#draft;
    this.#draft.stop = { at: text.length, wordAt, isDense, isClosed: false };
  }

  /** In scripts without blanks nothing need follow. */
  #endDense(): void {
    const { stop } = this.#draft;
    if (stop?.isDense !== true) return;
    this.#draft.stop = undefined;
    this.#endSentence(stop);
  }

  #endSentence(stop: Stop): void {
    const draft = this.#draft;
    if (!this.#isSingle && draft.weight < MIN_CHARS) return;
    const ends = endsSentence(draft.text, stop);
    if (ends === undefined) draft.undecided = draft.text.length;
    else if (ends) this.#cut(draft.text.length);
  }

  /** Where the first piece may end. */
  get #clauseEnd(): number | undefined {
    if (!this.#first || this.#isSingle) return undefined;
    return this.#hurried ? this.#draft.hurried : this.#draft.early;
  }

  /** Gives out what is before `end`. What is behind it begins the next piece: never more than fits into one. */
  #cut(end: number | undefined): void {
    const { text } = this.#draft;
    if (end === undefined || end === 0) return;
    this.#draft = new Draft();
    const piece = toLine(text.slice(0, end));
    if (piece !== '') {
      this.#first = false;
      this.#pieces.push(piece);
    }
    this.#read(text.slice(end));
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

/** Undefined when the next word decides. */
function endsSentence(text: string, { at, wordAt }: Stop): boolean | undefined {
  if (text[at] !== '.' || text[at + 1] === '.') return true;
  const word = text.slice(wordAt, at);
  const lower = word.toLowerCase();
  if (TITLES.has(lower) || /^\p{L}$/u.test(word)) return false;
  // A number at the start of a line is that of a list.
  if (wordAt === 0 && /^\d{1,2}$/.test(word)) return false;
  return ABBREVIATIONS.has(lower) || INITIALS.test(word) ? undefined : true;
}

/** Length of a text in letters. A sign that stands for a syllable or a word counts as three. */
export function weightOf(text: string): number {
  return text.length + 2 * (text.match(DENSE_SIGNS)?.length ?? 0);
}

/** How far the words of a text are whole: up to a blank, to a sign that needs none, or to the end of the sentence. */
function wholeWords(text: string): number {
  let end = text.length;
  if (WHOLE_END.test(text[end - 1] ?? '') && !OPEN_BEFORE_END.test(text[end - 2] ?? ' ')) return end;
  while (end > 0 && !SPACE.test(text[end - 1] ?? '') && !DENSE_SIGN.test(text[end - 1] ?? '')) end -= 1;
  return end;
}

function lastSpace(text: string): number {
  const space = text.lastIndexOf(' ', MAX_CHARS);
  if (space > 0) return space;
  // Never between the two halves of a character beyond the basic plane.
  return HIGH_SURROGATE.test(text[MAX_CHARS - 1] ?? '') ? MAX_CHARS - 1 : MAX_CHARS;
}
