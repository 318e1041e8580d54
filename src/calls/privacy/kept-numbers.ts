// Numbers that say when, how much or how many: they stay, and no longer number is made of them.
import type { Group } from './groups.js';
import type { Token } from './tokens.js';

const list = (words: string) => new Set(words.split(/\s+/));

const MONTHS = list(`january february march april may june july august september october november december
  jan feb mar apr jun jul aug sep oct nov dec januar februar marz maerz mai juni juli oktober dezember
  enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
  janvier fevrier mars avril juin juillet aout septembre octobre novembre decembre
  gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
  janeiro fevereiro marco maio junho julho setembro outubro dezembro januari februari maart mei augustus`);
const MONEY =
  list(`euro euros eur dollar dollars usd bucks pound pounds pfund gbp franken francs chf pesos yen
  cents centimes centesimi centimos penny pence reais`);
const UNITS =
  list(`percent prozent percento kilo kilos kg gram grams gramm meter meters metres km miles people persons
  personen personas personnes persone pessoas guests gaste kunden customers clientes clients clienti years jahre anos ans anni days
  tage dias jours giorni hours stunden minutes minuten minutos minuti degrees grad users inhabitants einwohner`);
const HOURS = list('am pm uhr oclock heures heure h horas hora ore');
/** Before a time of day, or a year. */
const AT = list('at um gegen bis a las alle vers um om till until by past to');
const IN =
  list(`in since from of until year and between by seit von bis ab jahr en de desde ano depuis annee nel dal del anno entre
  tra zwischen und et y e im um ao`);
const OF = list('of de di du del da the');
const EMERGENCY = list('911 112 999 110 000 113 115 118 119 15 17 18 144');
const CURRENCY = /[$€£¥]\s?$/;
const CURRENCY_BEHIND = /^\s?[$€£¥%]/;
const APART = /[^\s,.'’]/;

/** What is left of it says when or how much, beside `dated`, where a word tells that it is a number of somebody. */
export interface Around {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly groups: readonly Group[];
}

/** Which of the groups stay, whatever stands beside them. `isNamed`: a word tells that the group is of a card, an account or a telephone. */
export function keptOf(around: Around, isNamed: (group: number) => boolean): boolean[] {
  const kept = around.groups.map(() => false);
  for (const index of around.groups.keys()) {
    if (kept[index]) continue;
    const end =
      dateAt(around, index, isNamed) ?? timeAt(around, index) ?? amountAt(around, index, isNamed) ?? index;
    for (let each = index; each < end; each += 1) kept[each] = true;
    if (
      end === index &&
      (isYear(around, index) || (around.groups[index]?.isMillions === true && !isNamed(index)))
    )
      kept[index] = true;
  }
  return kept;
}

/** It may stand at the end of what somebody says, and no more of it is waited for: a number to call for help, and a time. */
export function isComplete(
  around: Around,
  { first, end, isNamed }: { first: number; end: number; isNamed: boolean },
): boolean {
  const run = around.groups.slice(first, end);
  const digits = run.map((group) => group.digits).join('');
  if (EMERGENCY.has(digits)) return true;
  const [one, two] = run;
  if (one === undefined || run.length > 2) return false;
  if (two !== undefined && isDecimal(around, first) && two.digits.length === 2) return !isNamed;
  if (run.length === 1 && one.isAmount) return !isNamed;
  const isClock =
    one.digits.length <= 2 &&
    Number(one.digits) <= 24 &&
    (two === undefined || (two.digits.length === 2 && Number(two.digits) < 60));
  return isClock && AT.has(around.tokens[one.first - 1]?.word ?? '');
}

/** "101, 102 and 104": numbers that are counted up, the last one behind a word. */
export function isList(around: Around, { first, end }: { first: number; end: number }): boolean {
  const [last, before] = [around.groups[end - 1], around.groups[end - 2]];
  if (end - first < 3 || before?.end === last?.first) return false;
  for (let index = first; index < end - 1; index += 1) {
    const [one, two] = [around.groups[index], around.groups[index + 1]];
    if (one === undefined || two === undefined || one.digits.length > 4 || one.digits.startsWith('0'))
      return false;
    if (two.digits.length > 4 || Number(two.digits) <= Number(one.digits)) return false;
    const isApart = one.end !== two.first || between(around, index).includes(',');
    if (!isApart) return false;
  }
  return true;
}

/** The group behind the date that begins here. */
function dateAt(around: Around, index: number, isNamed: (group: number) => boolean): number | undefined {
  const { tokens, groups } = around;
  const [one, two, three] = [groups[index], groups[index + 1], groups[index + 2]];
  if (one === undefined) return undefined;
  const separator = between(around, index);
  if (two !== undefined && /^[./-]$/.test(separator) && !isGluedTo(around, index - 1, separator)) {
    const isWhole = three !== undefined && between(around, index + 1) === separator;
    if (isWhole && !isGluedTo(around, index + 2, separator)) {
      const isShort = (three.digits.length === 2 && one.digits.length <= 2) || separator === '-';
      if (isDate([one.digits, two.digits, three.digits]) && !(isShort && isNamed(index))) return index + 3;
    }
    // "12/27", until when a card is valid.
    if (!isWhole && separator === '/' && isMonth(one.digits) && /^(20)?\d\d$/.test(two.digits))
      return index + 2;
  }
  return one.digits.length <= 2 && Number(one.digits) <= 31
    ? monthDate(tokens, groups, index)
    : monthYear(around, index);
}

/** "the twelfth of May nineteen eighty-four", "May 12, 1984". */
function monthDate(tokens: readonly Token[], groups: readonly Group[], index: number): number | undefined {
  const one = groups[index];
  if (one === undefined) return undefined;
  let behind = one.end;
  while (['st', 'nd', 'rd', 'th'].includes(wordAt(tokens, behind)) || OF.has(wordAt(tokens, behind)))
    behind += 1;
  if (MONTHS.has(wordAt(tokens, behind))) {
    let next = behind + 1;
    while (OF.has(wordAt(tokens, next))) next += 1;
    return yearEnd(groups, index + 1, next) ?? index + 1;
  }
  let before = one.first - 1;
  while (OF.has(wordAt(tokens, before))) before -= 1;
  if (!MONTHS.has(wordAt(tokens, before))) return undefined;
  return yearEnd(groups, index, one.first) ?? yearEnd(groups, index + 1, behind) ?? index + 1;
}

function monthYear({ tokens, groups }: Around, index: number): number | undefined {
  const first = groups[index]?.first ?? 0;
  let before = first - 1;
  if (/(?:th|st|nd|rd|ten|te)$/.test(wordAt(tokens, before))) before -= 1;
  while (OF.has(wordAt(tokens, before))) before -= 1;
  return MONTHS.has(wordAt(tokens, before)) ? yearEnd(groups, index, first) : undefined;
}

/** The group behind the year that begins with that token. */
function yearEnd(groups: readonly Group[], index: number, token: number): number | undefined {
  const [one, two] = [groups[index], groups[index + 1]];
  if (one === undefined || one.first !== token) return undefined;
  if (isYearNumber(one.digits)) return index + 1;
  return two !== undefined &&
    /^(18|19|20)$/.test(one.digits) &&
    two.digits.length === 2 &&
    two.first === one.end
    ? index + 2
    : undefined;
}

function timeAt(around: Around, index: number): number | undefined {
  const { tokens, groups } = around;
  const [one, two] = [groups[index], groups[index + 1]];
  if (one === undefined || one.digits.length > 2 || Number(one.digits) > 24) return undefined;
  const isClockTime = wordAt(tokens, one.end) === 'o' && wordAt(tokens, one.end + 1) === 'clock';
  if (HOURS.has(wordAt(tokens, one.end)) || isClockTime) {
    const isMinutes = two !== undefined && two.first === one.end + 1 && /^[0-5]\d$/.test(two.digits);
    return isMinutes ? index + 2 : index + 1;
  }
  if (two === undefined || !/^[0-5]\d$/.test(two.digits)) return undefined;
  if (between(around, index) === ':') {
    const isClock = !isGluedTo(around, index - 1, ':');
    const seconds = between(around, index + 1) === ':' ? 1 : 0;
    return isClock && !isGluedTo(around, index + 1 + seconds, ':') ? index + 2 + seconds : undefined;
  }
  return HOURS.has(wordAt(tokens, two.end)) && two.first === one.end ? index + 2 : undefined;
}

/** The longest amount that may stand in front of a unit, in digits. */
const LONGEST_AMOUNT = 10;

/** The group behind the sum or the quantity that begins here. */
function amountAt(around: Around, index: number, isNamed: (group: number) => boolean): number | undefined {
  const { text, tokens, groups } = around;
  const start = tokens[groups[index]?.first ?? 0]?.from ?? 0;
  const hasSymbol = CURRENCY.test(text.slice(Math.max(0, start - 2), start));
  const isInside = groups[index - 1]?.end === groups[index]?.first;
  if (isInside && !hasSymbol && !APART.test(between(around, index - 1))) return afterMoney(around, index);
  let [end, digits, count] = [index, 0, 0];
  while (
    groups[end] !== undefined &&
    (end === index || isThousands(around, end - 1) || isDecimal(around, end - 1))
  ) {
    digits += groups[end]?.digits.length ?? 0;
    count += end > index && isThousands(around, end - 1) ? 1 : 0;
    end += 1;
  }
  const last = groups[end - 1];
  if (last === undefined || digits > LONGEST_AMOUNT) return undefined;
  const isJoined =
    end < groups.length && !APART.test(between(around, end - 1)) && groups[end]?.first === last.end;
  const unit = wordAt(tokens, last.end);
  const behind = text.slice(tokens[last.end - 1]?.to ?? 0).slice(0, 2);
  if (hasSymbol || MONEY.has(unit) || UNITS.has(unit) || CURRENCY_BEHIND.test(behind)) return end;
  const isWritten = count >= 1 && between(around, index) !== '.' && /^[,'’]$/.test(between(around, index));
  return isWritten && !isJoined && !isNamed(index) ? end : afterMoney(around, index);
}

/** "vingt euros quatre-vingt-dix" */
function afterMoney({ tokens, groups }: Around, index: number): number | undefined {
  const group = groups[index];
  if (group === undefined || group.digits.length > 2) return undefined;
  const before = wordAt(tokens, group.first - 1);
  const isMoney =
    MONEY.has(before) || (OF.has(before) === false && MONEY.has(wordAt(tokens, group.first - 2)));
  return isMoney ? index + 1 : undefined;
}

/** "1,250,000", "1 299" in front of a unit: groups of three figures, written alike. */
function isThousands(around: Around, index: number): boolean {
  const [one, two] = [around.groups[index], around.groups[index + 1]];
  if (one === undefined || two === undefined || !one.isFigures || !two.isFigures) return false;
  const isFirst = !one.digits.startsWith('0') && one.digits.length <= 3;
  return isFirst && two.digits.length === 3 && /^[,.'’\u00a0\u202f ]$/.test(between(around, index));
}

function isDecimal(around: Around, index: number): boolean {
  const [one, two] = [around.groups[index], around.groups[index + 1]];
  const isWritten = one?.isFigures === true && two?.isFigures === true;
  return isWritten && two.digits.length <= 2 && /^[,.]$/.test(between(around, index));
}

/** A year of ours, behind a word that years stand behind, and no part of something longer. */
function isYear(around: Around, index: number): boolean {
  const { tokens, groups } = around;
  const group = groups[index];
  if (group === undefined || !isYearNumber(group.digits)) return false;
  const isAlone = !isGluedTo(around, index) && !isGluedTo(around, index - 1);
  return isAlone && IN.has(wordAt(tokens, group.first - 1));
}

function isYearNumber(digits: string): boolean {
  return /^(19|20)\d\d$/.test(digits);
}

function isDate([one, two, three]: readonly [string, string, string]): boolean {
  if (one.length === 4) return isYearNumber(one) && isMonth(two) && isDay(three);
  const isLast = isYearNumber(three) || three.length === 2;
  return isLast && ((isDay(one) && isMonth(two)) || (isMonth(one) && isDay(two)));
}

const isDay = (digits: string) => digits.length <= 2 && Number(digits) >= 1 && Number(digits) <= 31;
const isMonth = (digits: string) => digits.length <= 2 && Number(digits) >= 1 && Number(digits) <= 12;

/** The signs between a group and the next. '' where a word stands between them. */
function between({ text, tokens, groups }: Around, index: number): string {
  const [one, two] = [groups[index], groups[index + 1]];
  if (one === undefined || two === undefined || one.end !== two.first) return '';
  return text.slice(tokens[one.end - 1]?.to ?? 0, tokens[two.first]?.from ?? 0);
}

/** The group goes on in the next one, with the same sign or another between figures. @default any sign but a comma or a stop with a blank */
function isGluedTo(around: Around, index: number, separator?: string): boolean {
  const [one, two] = [around.groups[index], around.groups[index + 1]];
  if (one === undefined || two === undefined || one.end !== two.first) return false;
  const signs = between(around, index);
  return separator === undefined
    ? /^[\s\p{Pd}./]{0,3}$/u.test(signs) && !/[.]\s/.test(signs)
    : signs === separator;
}

function wordAt(tokens: readonly Token[], index: number): string {
  return tokens[index]?.word ?? '';
}
