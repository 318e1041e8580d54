// Numbers as they are said: "forty-two", "soixante-douze", "double five" or "4111" is a group of digits each.
import { type NumberWord, numberWordsIn } from './number-words.js';
import type { Token } from './tokens.js';

export interface Group {
  /** Its tokens: the first, and the one behind the last. */
  readonly first: number;
  readonly end: number;
  readonly digits: string;
  /** Written in figures. */
  readonly isFigures: boolean;
  /** Every word of it is an everyday word, too. */
  readonly isWeak: boolean;
  /** "two hundred": nobody dictates a number so, but for its beginning. */
  readonly isAmount: boolean;
  readonly isMillions: boolean;
}

interface Open {
  first: number;
  end: number;
  value: number;
  /** What was added last, which a "hundred" behind it multiplies. */
  last: number;
  room: number;
  isWeak: boolean;
  isAmount: boolean;
  isMillions: boolean;
  /** Undefined for words. */
  figures: string | undefined;
  repeats: number;
}

/** Between the parts of one number. */
const GLUE = /^[\s\p{Pd}\u00ad]*$/u;
const ARTICLES = new Set('die der das the le la les el il de het o a'.split(' '));

/** The groups of a text in their order. */
export function groupsOf(text: string, tokens: readonly Token[]): Group[] {
  const groups = new Grouping();
  for (const [index, { word, digits, from }] of tokens.entries()) {
    const isGlued = GLUE.test(text.slice(tokens[index - 1]?.to ?? from, from).slice(0, 8));
    if (!isGlued) groups.part();
    if (digits !== '') groups.figures(digits, index);
    else if (!groups.take(wordsAt(word), index) && !ARTICLES.has(word)) groups.other();
  }
  return groups.all();
}

function wordsAt(word: string): readonly NumberWord[] {
  return word === '@' ? [] : numberWordsIn(word);
}

class Grouping {
  readonly #groups: Open[] = [];
  /** Nothing is added to the last group any more. */
  #isParted = true;
  /** A joiner behind a unit: "ein und zwanzig". */
  #isJoined = false;
  #repeats = 1;
  #repeatsFrom = 0;

  part(): void {
    this.#isParted = true;
  }

  other(): void {
    this.#isParted = true;
    this.#isJoined = false;
    this.#repeats = 1;
  }

  figures(digits: string, index: number): void {
    this.#open({ value: 0, room: 0, isWeak: false, figures: digits }, index);
    this.#isParted = false;
  }

  /** False where there are none. */
  take(words: readonly NumberWord[], index: number): boolean {
    for (const word of words) this.#word(word, index);
    return words.length > 0;
  }

  all(): Group[] {
    return this.#groups.map(({ first, end, value, figures, repeats, isWeak, isAmount, isMillions }) => ({
      first,
      end,
      digits: (figures ?? String(value)).repeat(repeats),
      isFigures: figures !== undefined,
      isWeak,
      isAmount,
      isMillions,
    }));
  }

  #word(word: NumberWord, index: number): void {
    switch (word.is) {
      case 'joiner':
        this.#isJoined = true;
        return;
      case 'repeat':
        [this.#repeats, this.#repeatsFrom] = [word.count, index];
        this.#isParted = true;
        return;
      case 'fold':
        this.#fold(index);
        return;
      case 'times':
        this.#times(word.by, index);
        break;
      case 'number':
        this.#number(word, index);
    }
    this.#isJoined = false;
    this.#isParted = false;
  }

  #number({ value, room, isWeak }: Extract<NumberWord, { is: 'number' }>, index: number): void {
    const open = this.#isParted ? undefined : this.#groups.at(-1);
    if (open !== undefined && open.figures === undefined && open.repeats === 1) {
      if (value >= 1 && value < open.room) {
        open.value += value;
        open.last = value;
        open.room = value >= 20 ? Math.min(room, open.room) : 0;
        open.end = index + 1;
        return;
      }
      // "quatre-vingt", and "einundzwanzig".
      const [unit, base] = [open.last, open.value - open.last];
      if (unit === 4 && open.room === 0 && value === 20 && !this.#isJoined) {
        open.value = base + 80;
        open.last = 80;
        open.room = 20;
        open.end = index + 1;
        return;
      }
      if (this.#isJoined && unit >= 1 && unit <= 9 && open.room === 0 && room === 10) {
        open.value = base + value + unit;
        open.last = value + unit;
        open.end = index + 1;
        return;
      }
    }
    this.#open({ value, room, isWeak, figures: undefined }, index);
  }

  #times(by: number, index: number): void {
    const open = this.#isParted ? undefined : this.#groups.at(-1);
    if (open === undefined || (open.figures !== undefined && by === 100) || open.repeats > 1)
      this.#open({ value: by, room: by, isWeak: false, figures: undefined }, index);
    else if (open.figures !== undefined) open.end = index + 1;
    else if (by === 100 && open.last >= 1 && open.last <= 99) {
      open.value += open.last * 99;
      open.last *= 100;
      open.room = by;
    } else if (by > 100 && open.value >= 1 && open.value < by) {
      open.value *= by;
      open.last = open.value;
      open.room = by;
    } else if (by < open.room) {
      // "mille cent"
      open.value += by;
      open.last = by;
      open.room = by;
    } else this.#open({ value: by, room: by, isWeak: false, figures: undefined }, index);
    const group = this.#groups.at(-1);
    if (group === undefined) return;
    group.end = index + 1;
    group.isAmount = true;
    group.isWeak = false;
    group.isMillions ||= by > 1000;
  }

  /** "drei mal die sieben": the number before was no digit of its own. */
  #fold(index: number): void {
    const open = this.#groups.at(-1);
    if (open === undefined || open.end !== index || open.value > 9 || open.value < 2) return;
    this.#groups.pop();
    [this.#repeats, this.#repeatsFrom] = [open.value, open.first];
    this.#isParted = true;
  }

  #open(
    { value, room, isWeak, figures }: Pick<Open, 'value' | 'room' | 'isWeak' | 'figures'>,
    index: number,
  ): void {
    const isUnit = (figures === undefined ? String(value) : figures).length <= 2;
    const repeats = isUnit ? this.#repeats : 1;
    const first = repeats > 1 ? this.#repeatsFrom : index;
    this.#groups.push({
      first,
      end: index + 1,
      value,
      last: value,
      room,
      isWeak,
      isAmount: value >= 100,
      isMillions: false,
      figures,
      repeats,
    });
    this.#repeats = 1;
  }
}
