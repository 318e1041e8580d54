// Finds what is not to be kept of a text: numbers of cards, accounts and telephones, and e-mail addresses.
import { addressesIn, asksForAddress, type AddressSearch, isClosed, openAddress } from './addresses.js';
import { type Cue, cueAt, cueIn, isPrivateCue } from './cues.js';
import { FILLERS, HOMOPHONES } from './fillers.js';
import { type Group, groupsOf } from './groups.js';
import { type Around, isComplete, isList, keptOf } from './kept-numbers.js';
import { numberWordsIn } from './number-words.js';
import { type Token, tokensOf } from './tokens.js';

export type PrivateKind = 'card' | 'account' | 'phone' | 'email' | 'number';

/** A piece of a text. `isHeldBack`: what follows may make something of it that has to go, or not. */
export interface Finding {
  readonly kind: PrivateKind;
  readonly from: number;
  readonly to: number;
  /** Figures that were said; '' of an address. */
  readonly digits: string;
  readonly isHeldBack: boolean;
}

export interface FinderContext {
  /** What the other side said last, and before that: it may have asked for a number. @default nothing */
  readonly asked?: readonly string[] | undefined;
  /** More may follow. `speaking`: the last word may not be whole. @default nothing follows */
  readonly end?: 'open' | 'speaking' | undefined;
  /** Figures of numbers that were found before: a part of one is as private. @default none */
  readonly known?: Iterable<string> | undefined;
}

/** How many figures are a number of that kind, where words tell it. */
const FEWEST: Readonly<Record<Cue, number>> = { code: 3, card: 4, account: 4, phone: 5, keep: 7, date: 9 };
/** Where no word tells it. */
const FEWEST_UNNAMED = 7;
const CARD = { fewest: 13, most: 19 };
const LONGEST_PHONE = 15;
/** Figures that are held back until it is known what they belong to: of a number that is asked for, and of any other. */
const HELD = { named: 2, unnamed: 3 };
/** Figures of pieces with other words between them, of each and of all, that are one number. */
const FEWEST_LOOSE = { each: 3, all: 12 };
/** So many figures of a known number are a part of it. */
const FEWEST_KNOWN = 4;
/** Words before and behind a number that may tell its kind. */
const WORDS_BEFORE = 12;
const WORDS_BEHIND = 5;
/** Words and letters between two groups of figures of one number. */
const MOST_BETWEEN = 6;
const MOST_SIGNS_BETWEEN = 40;
const MOST_LETTERS = 4;

/** What stands between two groups of one number. */
interface Link {
  readonly hasLetters: boolean;
  /** Of words that sound like digits. */
  readonly digits: string;
}

/** Groups that are one number: the first, and the one behind the last. */
interface Run {
  readonly first: number;
  readonly end: number;
  readonly digits: string;
  readonly hasLetters: boolean;
}

/** What has to go from `text`, in its order. Takes as long as the text. */
export function findPrivate(text: string, context: FinderContext = {}): Finding[] {
  return new Search(text, context).all();
}

class Search {
  readonly #text: string;
  readonly #context: FinderContext;
  readonly #tokens: readonly Token[];
  readonly #words: readonly string[];
  readonly #groups: readonly Group[];
  /** What the other side has asked for. */
  readonly #askedCue: Cue | undefined;
  readonly #around: Around;
  readonly #addresses: AddressSearch;
  /** What each word tells; null until it is looked at. */
  readonly #cues: (Cue | undefined | null)[];

  constructor(text: string, context: FinderContext) {
    this.#text = text;
    this.#context = context;
    this.#tokens = tokensOf(text);
    this.#words = this.#tokens.map(({ word }) => word);
    this.#cues = this.#words.map(() => null);
    this.#groups = groupsOf(text, this.#tokens);
    const asked = (context.asked ?? []).map((each) => tokensOf(each).map(({ word }) => word));
    this.#askedCue = asked.map(cueIn).find((cue) => cue !== undefined);
    this.#around = { text, tokens: this.#tokens, groups: this.#groups };
    this.#addresses = { text, tokens: this.#tokens, isAsked: asksForAddress(asked[0] ?? []) };
  }

  all(): Finding[] {
    const findings: Finding[] = [];
    const taken = this.#tokens.map(() => false);
    const add = (finding: Finding | undefined, [first, end]: readonly [number, number]) => {
      if (finding === undefined) return;
      findings.push(finding);
      taken.fill(true, first, end);
    };
    const addresses = addressesIn(this.#addresses);
    for (const { first, end } of addresses)
      add(this.#finding('email', { first, end, digits: '', isHeldBack: false }), [first, end]);
    const { end } = this.#context;
    const behind = addresses.findLast((each) => isClosed(this.#addresses, each))?.end ?? 0;
    const open = end && openAddress(this.#addresses, { behind, isInterim: end === 'speaking' });
    if (open !== undefined && taken[this.#tokens.length - 1] !== true && open < this.#tokens.length) {
      const last = this.#tokens.length;
      add(this.#finding('email', { first: open, end: last, digits: '', isHeldBack: true }), [open, last]);
    }
    const runs = [...this.#runs(taken)];
    const loose = this.#loosePieces(runs);
    for (const run of runs) findings.push(...this.#judge(run, loose.has(run)));
    return withoutOverlap(findings);
  }

  /** Groups with nothing between them but what stands between the pieces of a number. */
  *#runs(taken: readonly boolean[]): Generator<Run> {
    const kept = keptOf(this.#around, (index) => this.#isNamed(index));
    let run: { first: number; end: number; digits: string[]; hasLetters: boolean } | undefined;
    for (const [index, group] of this.#groups.entries()) {
      const isFree = kept[index] !== true && taken[group.first] !== true;
      const link = run && isFree ? this.#linkTo(index) : undefined;
      if (run !== undefined && link === undefined) {
        yield* this.#trimmed(run);
        run = undefined;
      }
      if (!isFree) continue;
      run ??= { first: index, end: index, digits: [], hasLetters: false };
      run.end = index + 1;
      run.digits.push(`${link?.digits ?? ''}${group.digits}`);
      run.hasLetters ||= link?.hasLetters === true;
    }
    if (run !== undefined) yield* this.#trimmed(run);
  }

  /** Everyday words are no numbers where nothing else is one. */
  *#trimmed({ first, end, digits, hasLetters }: Omit<Run, 'digits'> & { digits: string[] }): Generator<Run> {
    let [from, to] = [first, end];
    const strong = this.#groups.slice(first, end).filter(({ isWeak }) => !isWeak).length;
    if (strong === 0 && end - first < 3) return;
    while (from < to - 1 && strong > 0 && this.#isStray(from, from + 1)) from += 1;
    while (to > from + 1 && strong > 0 && this.#isStray(to - 1, to - 2)) to -= 1;
    yield { first: from, end: to, digits: digits.slice(from - first, to - first).join(''), hasLetters };
  }

  /** An everyday word at the edge of a run: with other words between it and its neighbor, or before a word of its own. */
  #isStray(index: number, neighbor: number): boolean {
    const [group, other] = [this.#groups[index], this.#groups[neighbor]];
    if (group === undefined || other === undefined || !group.isWeak) return false;
    if (neighbor > index) return group.end !== other.first;
    const next = this.#tokens[group.end];
    const signs = next && this.#text.slice(this.#tokens[group.end - 1]?.to, next.from);
    return (
      other.end !== group.first ||
      (signs !== undefined && /^\s$/.test(signs) && !FILLERS.has(next?.word ?? ''))
    );
  }

  /** How the group goes on with the one before; undefined where it does not. */
  #linkTo(index: number): Link | undefined {
    const [one, two] = [this.#groups[index - 1], this.#groups[index]];
    if (one === undefined || two === undefined) return undefined;
    const [from, to] = [this.#tokens[one.end - 1]?.to ?? 0, this.#tokens[two.first]?.from ?? 0];
    const between = this.#tokens.slice(one.end, Math.min(two.first, one.end + MOST_BETWEEN + 1));
    if (between.length > MOST_BETWEEN || to - from > MOST_SIGNS_BETWEEN) return undefined;
    let [letters, digits] = [0, ''];
    for (const [place, { word, from: start, to: end }] of between.entries()) {
      const at = one.end + place;
      const isLetters =
        word.length <= MOST_LETTERS && (word.length === 1 || isUpper(this.#text.slice(start, end)));
      if (FILLERS.has(word) || (word.length > 1 && numberWordsIn(word).length > 0)) continue;
      const heard = one.digits.length === 1 && two.digits.length === 1 ? HOMOPHONES.get(word) : undefined;
      if (heard !== undefined) {
        digits += heard;
        continue;
      }
      if (!isLetters || word === '@' || this.#cueAt(at) !== undefined) return undefined;
      letters += word.length;
    }
    if (letters > MOST_LETTERS) return undefined;
    return { hasLetters: letters > 0, digits };
  }

  #isNamed(index: number): boolean {
    const cue = this.#cueAround({ first: index, end: index + 1 });
    return isPrivateCue(cue);
  }

  /** The word that tells of what the number is: the nearest before it, or one right behind it, or what was asked for. */
  #cueAround({ first, end }: Pick<Run, 'first' | 'end'>): Cue | undefined {
    const [from, to] = [this.#groups[first]?.first ?? 0, this.#groups[end - 1]?.end ?? 0];
    for (let index = from - 1; index >= Math.max(0, from - WORDS_BEFORE); index -= 1) {
      const cue = this.#cueAt(index);
      if (cue !== undefined) return cue;
    }
    for (let index = to; index < Math.min(to + WORDS_BEHIND, this.#words.length); index += 1) {
      if (this.#tokens[index]?.digits !== '') break;
      const cue = this.#cueAt(index);
      if (isPrivateCue(cue)) return cue;
    }
    return this.#askedCue;
  }

  #cueAt(index: number): Cue | undefined {
    const known = this.#cues[index];
    if (known !== null) return known;
    const cue = cueAt(this.#words, index);
    this.#cues[index] = cue;
    return cue;
  }

  /** Runs with other words between them that are the pieces of one number: "the first four are 4929, the next four are 1234". */
  #loosePieces(runs: readonly Run[]): Set<Run> {
    const loose = new Set<Run>();
    let [count, digits, end] = [0, 0, Number.NEGATIVE_INFINITY];
    /** Those that may yet become one number. */
    let pieces: Run[] = [];
    for (const run of runs) {
      const cue = this.#cueAround(run);
      const [first, last] = [this.#groups[run.first], this.#groups[run.end - 1]];
      const isRound = run.end - run.first === 1 && (first?.isAmount === true || run.digits.endsWith('00'));
      if (isComplete(this.#around, { ...run, isNamed: isPrivateCue(cue) })) continue;
      if (run.digits.length < FEWEST_LOOSE.each || isRound || (cue !== undefined && !isPrivateCue(cue)))
        continue;
      if ((first?.first ?? 0) - end > WORDS_BEFORE) [pieces, count, digits] = [[], 0, 0];
      pieces.push(run);
      count += 1;
      digits += run.digits.length;
      end = last?.end ?? 0;
      if (count > 1 && digits >= FEWEST_LOOSE.all) for (const piece of pieces.splice(0)) loose.add(piece);
    }
    return loose;
  }

  *#judge(run: Run, isLoose: boolean): Generator<Finding> {
    const cue = this.#cueAround(run);
    const { digits } = run;
    if (!isPrivateCue(cue) && isList(this.#around, run)) return;
    const fewest = cue === undefined ? FEWEST_UNNAMED : FEWEST[cue];
    const isLast = this.#isLast(run);
    const bounds = this.#bounds(run, cue);
    if (isLast && this.#context.end === 'speaking') bounds.end = this.#tokens.length;
    if (digits.length >= fewest || isLoose || this.#isKnown(digits))
      yield this.#finding(kindOf(run, cue, this.#startsLikePhone(run)), {
        ...bounds,
        digits,
        isHeldBack: false,
      });
    else if (isLast && this.#isHeld(run, cue))
      yield this.#finding('number', { ...bounds, digits, isHeldBack: true });
  }

  /** It stands at the end of what has been said so far, and more may follow. */
  #isLast({ end: behindRun }: Run): boolean {
    const { end } = this.#context;
    if (end === undefined) return false;
    const last = this.#groups[behindRun - 1]?.end ?? 0;
    const behind = this.#words.slice(last, last + MOST_BETWEEN + 1);
    // The last word may be the beginning of a number.
    const whole = end === 'speaking' ? behind.slice(0, -1) : behind;
    return behind.length <= MOST_BETWEEN && whole.every((word) => FILLERS.has(word) || isLink(word));
  }

  /** What stands at the end may be a part of something longer. */
  #isHeld(run: Run, cue: Cue | undefined): boolean {
    if (this.#context.end === 'speaking') return true;
    const isNamed = isPrivateCue(cue);
    if (this.#isInternational(run)) return true;
    if ((cue !== undefined && !isNamed) || isComplete(this.#around, { ...run, isNamed })) return false;
    return run.digits.length >= (isNamed ? HELD.named : HELD.unnamed);
  }

  #isKnown(digits: string): boolean {
    for (const known of this.#context.known ?? [])
      if (known === digits || (digits.length >= FEWEST_KNOWN && known.includes(digits)))
        return digits.length > 2;
    return false;
  }

  /** With the letters that stand by it: "DE 12", "QQ … C", "…678 Z". */
  #bounds({ first, end, hasLetters }: Run, cue: Cue | undefined): { first: number; end: number } {
    let [from, to] = [this.#groups[first]?.first ?? 0, this.#groups[end - 1]?.end ?? 0];
    const isCode = (index: number) => {
      const token = this.#tokens[index];
      if (token === undefined || token.word === '') return false;
      const isShort = token.word.length <= 2 || (hasLetters && token.word.length <= MOST_LETTERS);
      return token.word.length === 1 || (isShort && isUpper(this.#text.slice(token.from, token.to)));
    };
    const isBeside = (one: number, two: number) =>
      /^[\s\p{Pd},.]{0,2}$/u.test(this.#text.slice(this.#tokens[one]?.to, this.#tokens[two]?.from));
    if (cue !== 'account' && !hasLetters) {
      const isGlued = this.#tokens[to]?.from === this.#tokens[to - 1]?.to;
      return { first: from, end: isGlued && isCode(to) ? to + 1 : to };
    }
    for (let count = 0; count < MOST_LETTERS && isCode(from - 1) && isBeside(from - 1, from); count += 1)
      from -= 1;
    if (isCode(to) && isBeside(to - 1, to)) to += 1;
    return { first: from, end: to };
  }

  #startsLikePhone(run: Run): boolean {
    const { digits } = run;
    return (
      this.#isInternational(run) || digits.startsWith('0') || digits.length === 10 || digits.length === 11
    );
  }

  #isInternational({ first, digits }: Run): boolean {
    const from = this.#tokens[this.#groups[first]?.first ?? 0]?.from ?? 0;
    return this.#text.slice(Math.max(0, from - 2), from).includes('+') || digits.startsWith('00');
  }

  #finding(
    kind: PrivateKind,
    { first, end, digits, isHeldBack }: { first: number; end: number; digits: string; isHeldBack: boolean },
  ): Finding {
    let from = this.#tokens[first]?.from ?? 0;
    const to = this.#tokens[end - 1]?.to ?? from;
    if (/[+(#]/.test(this.#text.slice(Math.max(0, from - 1), from))) from -= 1;
    return { kind, from, to, digits, isHeldBack };
  }
}

function kindOf({ digits, hasLetters }: Run, cue: Cue | undefined, startsLikePhone: boolean): PrivateKind {
  const { length } = digits;
  if (cue === 'account') return 'account';
  if (cue === 'phone' && length <= LONGEST_PHONE) return 'phone';
  // Letters are a part of it, as of an IBAN.
  if (hasLetters && length >= FEWEST_UNNAMED) return 'account';
  if (length >= CARD.fewest && length <= CARD.most) return 'card';
  if (cue === 'card' || cue === 'code') return 'card';
  if (length > CARD.most) return 'account';
  return length >= FEWEST_UNNAMED && startsLikePhone ? 'phone' : 'number';
}

const isUpper = (text: string) => text.toUpperCase() === text && text.toLowerCase() !== text;

/** A word that the next figure may follow: "double", "and". */
const isLink = (word: string) => numberWordsIn(word).some(({ is }) => is === 'repeat' || is === 'joiner');

/** In their order; of two that overlap, the first. */
function withoutOverlap(findings: readonly Finding[]): Finding[] {
  const sorted = [...findings].sort((one, other) => one.from - other.from);
  const kept: Finding[] = [];
  for (const finding of sorted) {
    const last = kept.at(-1);
    if (last === undefined || finding.from >= last.to) kept.push(finding);
    else if (finding.to > last.to) kept[kept.length - 1] = { ...last, to: finding.to };
  }
  return kept;
}
