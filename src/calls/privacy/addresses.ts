// E-mail addresses, written or spoken: "anna.meier@example.com", "anna punkt meier ät example punkt de".
import type { Token } from './tokens.js';
import { numberWordsIn } from './number-words.js';

/** Tokens of an address: the first, and the one behind the last. */
export interface Address {
  readonly first: number;
  readonly end: number;
}

const list = (words: string) => new Set(words.split(/\s+/));

/** Nobody says these but for an address. */
const AT_SIGNS = list(
  '@ arroba arobase arrobase arobas arrobas chiocciola chiocciolina klammeraffe affenschwanz apenstaartje',
);
/** Everyday words, too. */
const AT_WORDS = list('at ät aet et');
const DOTS = list('dot point punkt punto ponto punt period');
const UNDERSCORES = list('underscore unterstrich subrayado underline sublinhado');
const DASHES = list('dash hyphen minus bindestrich guion tiret trattino traco hifen streepje plus mas piu');
/** "guion bajo", "tiret du bas", "trattino basso": the second word of a sign. */
const LOW = list('bajo basso bas baixo sign zeichen');
const PROVIDERS = list(`outlook yahoo icloud gmx web aol proton tonline orange laposte
  libero live msn free sfr wanadoo virgilio tiscali mail freenet posteo`);
const TOP_LEVELS =
  list(`com net org info biz online shop email cloud museum gov edu mobi tech store site agency bank health name
  test example local tel dev app academy berlin hamburg koeln wien london paris madrid roma`);
/** No part of an address, and what stands before one. */
const STOP_WORDS =
  list(`is it its it's s an a my me us our your the to or and of for on under by via in with from write send mail email
  e address emails contact reach that this would be also just look find visit shop buy order online page website available meet work works working home am bin arbeite trabajo travaille lavoro
  ist es lautet meine mein die der das und an auf unter bei ich sie uns mich ihnen schreiben mailen adresse mailadresse bitte besuchen
  son y al a mi el la su en de correo electronico escriba escribame direccion visite por para un una
  est c l le les mon ma votre vous et au aux adresse ecrivez visitez chez courriel mel
  e è il lo la mia mio sua suo un una posta scriva scrivi indirizzo visiti per
  o meu minha para em het mijn naar yes no ja si oui okay ok so um uh also euh eh then hello hi`);
const SPELLERS = list('for as like wie comme come de como van');
/** Ends of addresses that are said without their dot. */
const BARE_ENDS = list('com net org');
/** No end of an address, however short. */
const NO_ENDS = list('the on is in and for but you we all can our out not');
const CUES = list(
  `email emails mail mails mailadresse emailadresse correo courriel mel posta electronico address adresse indirizzo direccion`,
);
const MAIL = list('email emails mail mails mailadresse emailadresse correo courriel mel electronico');
const SAYS = list('is s ist lautet es est e c');

/** The longest local part or domain that is spelled out. */
const MAX_TOKENS = 40;
/** Plain words before an at that are the name of somebody. */
const MAX_NAMES = 3;

export interface AddressSearch {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** What somebody else asked for: an address. */
  readonly isAsked: boolean;
}

/** The addresses of a text in their order. */
export function addressesIn(search: AddressSearch): Address[] {
  const found: Address[] = [];
  for (const index of search.tokens.keys()) {
    const at = atWord(search, index);
    const taken = found.at(-1)?.end ?? 0;
    if (at === undefined || index < taken) continue;
    const end = domainEnd(search, index + 1, at);
    if (end === undefined) continue;
    const isSplit = isSplitSign(wordAt(search, index - 1), wordAt(search, index));
    const first = localStart(search, index - (isSplit ? 2 : 1), { at, taken });
    if (first !== undefined) found.push({ first: first, end });
    else if (at === 'sign') found.push({ first: index, end });
  }
  return found;
}

/** Nothing of the address is to come: what looks like the end of a spoken one may be a part of a longer one. */
export function isClosed(search: AddressSearch, { first, end }: Address): boolean {
  const { text, tokens } = search;
  const isSaidSo = TOP_LEVELS.has(wordAt(search, end - 1)) || isStop(search, end);
  const written = text.slice(tokens[first]?.from, tokens[end - 1]?.to);
  return isSaidSo || written.includes('@') || isBroken(search, end - 1, { isDotOpen: false });
}

/**
 * From which token on an address has begun whose end is not there yet; undefined where none has. `behind`: the end of the last one that is closed; a word that announced
 * that one announces no other. `isInterim`: what follows is being said.
 */
export function openAddress(
  search: AddressSearch,
  { behind, isInterim }: { behind: number; isInterim: boolean },
): number | undefined {
  const { tokens } = search;
  const from = Math.max(behind, tokens.length - MAX_TOKENS);
  let [cue, dot, at]: (number | undefined)[] = [undefined, undefined, undefined];
  for (let index = from; index < tokens.length; index += 1) {
    const word = wordAt(search, index);
    if (MAIL.has(word) && !isSign(search, index)) [cue, dot, at] = [index, undefined, undefined];
    if (isDot(search, index) && index > from && !STOP_WORDS.has(wordAt(search, index - 1))) dot ??= index;
    const sign = atWord(search, index);
    if (sign === 'sign' || (sign === 'word' && (isInterim || search.isAsked))) at = index;
  }
  const isNear = at !== undefined && tokens.length - at <= 6;
  if (isNear && at !== undefined) return localStart(search, at - 1, { at: 'sign', taken: 0 }) ?? at;
  if (cue !== undefined) {
    let says = cue + 1;
    while (
      CUES.has(wordAt(search, says)) ||
      (says < tokens.length && says < cue + 4 && !SAYS.has(wordAt(search, says)))
    )
      says += 1;
    const isSaid = SAYS.has(wordAt(search, says)) && says + 1 < tokens.length && tokens.length - says <= 12;
    if (isSaid) return says + 1;
    if (isInterim && cue + 1 < tokens.length && tokens.length - cue <= 8) return cue + 1;
    if (dot !== undefined && dot > cue) return cue + 1;
  }
  const last = tokens.length - 1;
  const isSpelling = search.isAsked && isLone(search, last) && isLone(search, last - 1);
  const isDotted = dot !== undefined && (search.isAsked || isInterim) && tokens.length - dot <= 6;
  return isSpelling || isDotted ? localStart(search, last, { at: 'sign', taken: 0 }) : undefined;
}

/** Somebody who says this asks for an address. */
export function asksForAddress(words: readonly string[]): boolean {
  return words.some((word) => MAIL.has(word));
}

function atWord({ text, tokens }: AddressSearch, index: number): 'sign' | 'word' | undefined {
  const token = tokens[index];
  if (token === undefined) return undefined;
  if (AT_SIGNS.has(token.word)) return 'sign';
  if (isSplitSign(tokens[index - 1]?.word, token.word)) return 'sign';
  // "ät" is folded like others, and no other word.
  if (token.word === 'at' && /[äÄ]/.test(text.slice(token.from, token.from + 3).normalize('NFC')))
    return 'sign';
  return AT_WORDS.has(token.word) ? 'word' : undefined;
}

/** "klammer affe", "a roba": a sign that was taken for two words. */
function isSplitSign(one: string | undefined, two: string): boolean {
  return (one === 'klammer' && two === 'affe') || (one === 'a' && (two === 'roba' || two === 'rroba'));
}

/** The token behind the domain that begins at `start`; undefined where there is none. */
function domainEnd(search: AddressSearch, start: number, at: 'sign' | 'word'): number | undefined {
  const { tokens } = search;
  if (at === 'sign' && isWritten(search, start - 1, start)) return writtenEnd(search, start);
  let index = start;
  if (at === 'word' && STOP_WORDS.has(wordAt(search, index)) && !isDash(search, index + 1)) return undefined;
  if (LOW.has(wordAt(search, index))) index += 1;
  let [labels, words, end]: [number, number, number | undefined] = [1, 0, undefined];
  for (; index < tokens.length && index < start + MAX_TOKENS; index += 1) {
    if (index > start && isBroken(search, index - 1, { isDotOpen: true })) break;
    if (index > start && isDotBetween(search, index - 1) && !isDot(search, index))
      [labels, words] = [labels + 1, 0];
    if (isDot(search, index)) {
      if (index === start) return undefined;
      [labels, words] = [labels + 1, 0];
      continue;
    }
    if (isDash(search, index)) {
      words = 0;
      continue;
    }
    if (!isSpelled(search, index)) words += 1;
    const isTop = labels > 1 && isTopLevel(search, index, words);
    if (labels > 1 && words > 1 && !isTop) break;
    if (words > MAX_NAMES) break;
    const isKnown = labels === 1 && words === 1 && isProvider(wordAt(search, index));
    if (isKnown && end === undefined) end = index + 1;
    if (isTop) {
      end = index + 1;
      if (!isDot(search, index + 1) && !isDotBetween(search, index)) {
        // "gmail com": the dot was not said.
        break;
      }
    }
  }
  if (end !== undefined && labels === 1 && TOP_LEVELS.has(wordAt(search, end))) end += 1;
  if (
    end === undefined &&
    BARE_ENDS.has(wordAt(search, start + 1)) &&
    !isBroken(search, start, { isDotOpen: false })
  )
    return start + 2;
  return end;
}

/** "anna at gmail": who says so leaves the rest out. */
function isProvider(word: string): boolean {
  return PROVIDERS.has(word) || (word.endsWith('mail') && word.length > 4);
}

function isTopLevel(search: AddressSearch, index: number, words: number): boolean {
  const word = wordAt(search, index);
  const next = wordAt(search, index + 1);
  // "d e", spelled.
  if (word.length === 1) return wordAt(search, index - 1).length === 1 && next.length !== 1;
  return words <= 1 && (TOP_LEVELS.has(word) || (/^[a-z]{2,3}$/.test(word) && !NO_ENDS.has(word)));
}

/** The first token of what stands before the at; undefined where it is no name of a mailbox. */
function localStart(
  search: AddressSearch,
  last: number,
  { at, taken }: { at: 'sign' | 'word'; taken: number },
): number | undefined {
  if (last < taken || wordAt(search, last) === '@') return undefined;
  if (isWritten(search, last, last + 1) && wordAt(search, last + 1) === '@')
    return writtenStart(search, last, taken);
  if (at === 'word' && isStop(search, last)) return undefined;
  let first = last + 1;
  let names = 0;
  for (let index = last; index >= taken && index > last - MAX_TOKENS; index -= 1) {
    if (index < last && isBroken(search, index, { isDotOpen: false })) break;
    const isPart = isDot(search, index) || isDash(search, index) || isSign(search, index);
    const isChained = index < last && (isLinked(search, index + 1) || isGluedBy(search, index));
    if (!isPart && !isChained && !isSpelled(search, index)) {
      if (isSpelledOut(search, index)) {
        first = index - 2;
        index -= 2;
        continue;
      }
      if (isStop(search, index)) break;
      names += 1;
      if (names > MAX_NAMES) break;
    }
    first = index;
  }
  return first > last ? undefined : first;
}

/** "n for November", "A wie Anton". */
function isSpelledOut(search: AddressSearch, index: number): boolean {
  const letter = wordAt(search, index - 2);
  const isLetter = letter.length === 1 && wordAt(search, index).startsWith(letter);
  return isLetter && SPELLERS.has(wordAt(search, index - 1));
}

function writtenStart(search: AddressSearch, last: number, taken: number): number {
  let first = last;
  while (first > taken && isWritten(search, first - 1, first) && wordAt(search, first - 1) !== '@')
    first -= 1;
  return first;
}

function writtenEnd(search: AddressSearch, start: number): number | undefined {
  const { tokens } = search;
  if (start >= tokens.length) return undefined;
  let end = start + 1;
  while (end < tokens.length && isWritten(search, end - 1, end) && wordAt(search, end) !== '@') end += 1;
  return end;
}

/** Nothing but the signs of an address stands between two tokens. */
function isWritten(search: AddressSearch, one: number, two: number): boolean {
  return /^[._%+'~．。\p{Pd}]*$/u.test(gap(search, one, two));
}

/** A sentence ends between the token and the next, or there is a comma. */
function isBroken(search: AddressSearch, index: number, { isDotOpen }: { isDotOpen: boolean }): boolean {
  const signs = gap(search, index, index + 1);
  if (/[,;:!?¿¡"“”\n]/.test(signs)) return !/^[,\s]*$/.test(signs) || !isSpelledPair(search, index);
  return /\.\s/.test(signs) && !(isDotOpen && /^\s\.\s$/.test(signs)) && !/^\s\.\s$/.test(signs);
}

/** Letters, and words for signs, may have commas between them. */
const isSpelledPair = (search: AddressSearch, index: number) =>
  (isSpelled(search, index) && isSpelled(search, index + 1)) ||
  [index, index + 1].some((each) => isLinked(search, each) || atWord(search, each) !== undefined);

const isDotBetween = (search: AddressSearch, index: number) =>
  /^\s?[.．。]\s?$/.test(gap(search, index, index + 1)) && !/^\.\s/.test(gap(search, index, index + 1));

/** It stands by the token before without a blank: "b.krueger", "o'neil". */
const isGluedBy = (search: AddressSearch, index: number) =>
  /^[._%+'’\p{Pd}]+$|^\s[._-]\s$/u.test(gap(search, index, index + 1));

const isDot = (search: AddressSearch, index: number) => DOTS.has(wordAt(search, index));
const isDash = (search: AddressSearch, index: number) => DASHES.has(wordAt(search, index));

function isSign(search: AddressSearch, index: number): boolean {
  const word = wordAt(search, index);
  return UNDERSCORES.has(word) || (LOW.has(word) && isDash(search, index - 1));
}

/** The token is what the one before it is joined by. */
const isLinked = (search: AddressSearch, index: number) =>
  isDot(search, index) || isDash(search, index) || isSign(search, index);

/** A letter, a figure or a number word. */
function isSpelled(search: AddressSearch, index: number): boolean {
  const token = search.tokens[index];
  if (token === undefined) return false;
  return (
    token.digits !== '' ||
    token.word.length === 1 ||
    numberWordsIn(token.word).some(({ is }) => is === 'number' || is === 'repeat')
  );
}

function isStop(search: AddressSearch, index: number): boolean {
  const word = wordAt(search, index);
  if (isLinked(search, index - 1)) return false;
  // A letter that is spelled stands beside another.
  if (word.length === 1 && (isLone(search, index - 1) || isLinked(search, index + 1))) return false;
  return STOP_WORDS.has(word);
}

const isLone = (search: AddressSearch, index: number) => wordAt(search, index).length === 1;

const wordAt = ({ tokens }: AddressSearch, index: number) => tokens[index]?.word ?? '';

function gap({ text, tokens }: AddressSearch, one: number, two: number): string {
  return text.slice(tokens[one]?.to ?? 0, tokens[two]?.from ?? text.length);
}
