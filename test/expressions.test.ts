// Every expression in the sources is fed what makes expressions slow: the signs that it repeats, many times over, with an end that it does
// not like. What it takes is counted in steps of a matcher that tries what the engine of the language tries.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runRegex, TooMuchWork, type Work } from './support/regex-machine.js';

const SOURCES = join(import.meta.dirname, '../src');

/** What no stranger writes, or what is looked at in a bounded length only, with the bound. */
const BOUNDED: Readonly<Record<string, string>> = {
  'base/log.ts FRAME': 'lines of a stack up to MAX_FRAME_CHARS',
  'dashboard/csv.ts /\\.?0+$/': 'a number with six decimals',
};

const LITERAL =
  /(?<=[=(,:[!&|?{;]\s{0,40}|return\s|=>\s)\/(?![*/\s])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*/g;

interface Expression {
  readonly where: string;
  readonly pattern: RegExp;
}

function expressions(): Expression[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('generated'))
    .flatMap((name) => {
      const text = readFileSync(join(SOURCES, name), 'utf8');
      return [...text.matchAll(LITERAL)].flatMap((match) => toExpression(name, text, match));
    });
}

function toExpression(file: string, text: string, match: RegExpMatchArray): Expression[] {
  const end = match[0].lastIndexOf('/');
  const name = /const ([A-Z_]+)\b[^=]*=\s*$/.exec(
    text.slice(Math.max(0, (match.index ?? 0) - 80), match.index),
  )?.[1];
  const path = relative('.', file);
  try {
    const pattern = new RegExp(match[0].slice(1, end), match[0].slice(end + 1).replace('g', ''));
    return [{ where: `${path} ${name ?? match[0]}`, pattern }];
  } catch {
    return [];
  }
}

/** Signs that it knows, and some that it may not. */
function signsOf({ source }: RegExp): string[] {
  const own =
    source.replace(/\\[pP]\{[^}]*\}|\\u[\dA-Fa-f]{4}|\\[a-zA-Z]/g, '').match(/[^\\^$|?*+{}]/g) ?? [];
  const others = ['a', '0', ' ', '.', '-', '_', '\n', '"', '/', '\\'];
  return [...new Set([...own, ...others])].slice(0, 16);
}

/** What it has to see before its repetitions begin: its words. */
function headsOf({ source }: RegExp): string[] {
  const words = source.match(/(?<!\\)[A-Za-z<>:"'/@=({[][A-Za-z :/"=-]*/g) ?? [];
  return ['', ...new Set(words)].slice(0, 6);
}

function* pumps(pattern: RegExp): Generator<(length: number) => string> {
  const signs = signsOf(pattern);
  const units = [...signs, ...signs.flatMap((first) => signs.map((second) => first + second))];
  for (const unit of units)
    for (const head of unit.length === 1 ? headsOf(pattern) : [''])
      for (const end of ['', '\u0001']) yield (length) => head + unit.repeat(length / unit.length) + end;
}

function stepsOf(pattern: RegExp, text: string): number {
  const work: Work = { steps: 0 };
  try {
    runRegex(pattern, text, 0, work, 200 * text.length);
    return work.steps;
  } catch (error) {
    if (error instanceof TooMuchWork) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** It takes more than a few looks at each sign, and the more so the longer the text is. */
function isSlow(pattern: RegExp, pump: (length: number) => string): boolean {
  const steps = stepsOf(pattern, pump(200));
  if (steps < 2000) return false;
  return steps === Number.POSITIVE_INFINITY || stepsOf(pattern, pump(800)) > 6 * steps;
}

/** Repetitions without an end are what can take long. */
const repeats = ({ source }: RegExp) =>
  /[*+]|\{\d+,\}/.test(source.replace(/\[(?:\\.|[^\]\\])*\]|\\./g, 'x'));

describe('every expression in the sources', () => {
  const all = expressions();

  it('is found', () => {
    expect(all.length).toBeGreaterThan(150);
  });

  it('takes as many steps as its text has signs, whatever these are', () => {
    const slow = new Set<string>();
    for (const { where, pattern } of all.filter((each) => repeats(each.pattern))) {
      if (BOUNDED[where] !== undefined) continue;
      for (const pump of pumps(pattern)) {
        if (isSlow(pattern, pump)) {
          slow.add(`${where}: ${JSON.stringify(pump(8))}`);
          break;
        }
      }
    }
    expect([...slow]).toEqual([]);
  }, 120_000);

  it('would be told, were it slow', () => {
    const dots = (length: number) => '.'.repeat(length);
    expect(isSlow(/[.?!…]+["'”’»)\]*_]*(?=\s)/u, dots)).toBe(true);
    expect(isSlow(/\S+$/, (length) => `${'a'.repeat(length)} `)).toBe(true);
    expect(isSlow(/[.?!]/u, dots)).toBe(false);
  });
});
