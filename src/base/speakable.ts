// Text as a model writes it, without what only an eye can use: markup, Markdown, addresses, emoji. Numbers and names are left to the voice.
import { LinkFilter } from './links.js';
import { MarkupFilter } from './markup.js';

const SPACE = /\s/;
const ONLY_PUNCTUATION = /^[\p{P}\s]*$/u;
const PICTURE =
  /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u200D|\uFE0F|\u20E3)$/u;

/** Emphasis begins behind these, and ends before those. */
const BEFORE_EMPHASIS = /[\s("']/;
const BEHIND_EMPHASIS = /[\s.,;:!?)"']/;

/** Marks at the beginning of a line: headings, quotations, lists, and lines across the page. */
const LINE_MARKS = /^(?:#{1,6}|>|[-*+•]|[-*_=]{3,})$/;
const IN_LINE_MARK = /[#>*+•_=-]/;
const LONGEST_LINE_MARK = 120;

/** So much of it in a row is no punctuation. */
const RULE_MARKS = 3;

/** Streamed text in, text for a voice out: in lines, with single blanks. One step for each character, wherever it is cut. */
export class SpeakableText {
  readonly #markup: MarkupFilter;
  readonly #links: LinkFilter;
  #out = '';
  /** First half of a character beyond the basic plane. */
  #half = '';
  /** The character that was given out last, empty at the beginning. */
  #last = '';
  #isLineStart = true;
  /** Marks at the beginning of a line, until it is known what they are. */
  #lineMark = '';
  /** Marks in a row that may be emphasis or a line. */
  #run = '';
  /** In a row of a table: what a cell begins with, which may be the line below the head; null behind that. */
  #cell: string | null | undefined;

  constructor() {
    this.#links = new LinkFilter((character) => this.#take(character));
    this.#markup = new MarkupFilter((character) => this.#links.take(character));
  }

  /** There is more that can be spoken, as far as it is known. */
  get holds(): boolean {
    return this.#links.holds;
  }

  push(delta: string): string {
    for (const character of this.#half + delta) {
      this.#half = '';
      if (/^[\uD800-\uDBFF]$/.test(character)) this.#half = character;
      else this.#markup.take(character);
    }
    return this.#given();
  }

  /** What is left when the text is over. The next one begins anew. */
  end(): string {
    this.#half = '';
    this.#markup.end();
    this.#links.end();
    if (this.#lineMark.length < RULE_MARKS) this.#release();
    this.#endRun('');
    this.#lineMark = this.#last = '';
    this.#cell = undefined;
    this.#isLineStart = true;
    return this.#given();
  }

  #given(): string {
    const given = this.#out;
    this.#out = '';
    return given;
  }

  #take(character: string): void {
    if (character === '`' || (character > '\u007F' && PICTURE.test(character))) return;
    if (this.#isLineStart) this.#lineStart(character);
    else if (this.#cell === undefined) this.#inLine(character);
    else this.#inRow(character);
  }

  #lineStart(character: string): void {
    const mark = this.#lineMark;
    const isMark = IN_LINE_MARK.test(character) && (mark === '' || mark[0] === character);
    if (isMark && mark.length < LONGEST_LINE_MARK) {
      this.#lineMark += character;
      return;
    }
    if (SPACE.test(character)) {
      if (LINE_MARKS.test(mark) && (mark.length < RULE_MARKS || mark[0] === '#' || character === '\n'))
        this.#lineMark = '';
      else this.#release();
      if (this.#isLineStart) this.#space(character);
      else this.#inLine(character);
      return;
    }
    this.#release();
    this.#isLineStart = false;
    if (mark === '' && character === '|') this.#cell = '';
    else this.#inLine(character);
  }

  /** They were no marks. */
  #release(): void {
    const mark = this.#lineMark;
    this.#lineMark = '';
    if (mark === '') return;
    this.#isLineStart = false;
    for (const character of mark) this.#inLine(character);
  }

  #inRow(character: string): void {
    if (character === '|' || character === '\n') {
      this.#inLine(character === '|' ? ' ' : character);
      this.#cell = character === '|' ? '' : undefined;
    } else if (typeof this.#cell === 'string' && /[-:\s]/.test(character)) this.#cell += character;
    else {
      const held = this.#cell ?? '';
      this.#cell = null;
      for (const each of held + character) this.#inLine(each);
    }
  }

  #inLine(character: string): void {
    if (this.#run !== '' && this.#run[0] !== character) this.#endRun(character);
    if (character === '*' || character === '_' || character === '~' || character === '-' || character === '=')
      this.#run += character;
    else if (SPACE.test(character)) this.#space(character);
    else this.#give(character);
  }

  /** Emphasis goes, and so do lines; a mark by itself is one. */
  #endRun(next: string): void {
    const run = this.#run;
    this.#run = '';
    const [mark = ''] = run;
    if (mark === '-' || mark === '=') {
      if (run.length < RULE_MARKS) this.#give(run);
      else this.#space(' ');
    } else if (run.length % 2 === 1 && (mark === '~' || !this.#isEmphasis(next))) this.#give(mark);
  }

  #isEmphasis(next: string): boolean {
    const before = this.#last;
    const begins = before === '' || BEFORE_EMPHASIS.test(before);
    if (begins) return next !== '' && !SPACE.test(next);
    return next === '' || BEHIND_EMPHASIS.test(next);
  }

  #space(character: string): void {
    if (character === '\n') this.#isLineStart = true;
    if (this.#last === '\n' || (this.#last === ' ' && character !== '\n')) return;
    this.#give(character === '\n' ? '\n' : ' ');
  }

  #give(character: string): void {
    this.#out += character;
    this.#last = character;
  }
}

/** A whole text for a voice, in one line. */
export function toSpeakable(text: string): string {
  const speakable = new SpeakableText();
  return toLine(speakable.push(text) + speakable.end());
}

/** Closes up the gaps that were left. Empty where there is nothing but punctuation. */
export function toLine(text: string): string {
  if (ONLY_PUNCTUATION.test(text)) return '';
  return text
    .replace(/\s+/g, ' ')
    .replace(/ ([.,;:!?])/g, '$1')
    .trim();
}
