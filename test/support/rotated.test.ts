import { describe, expect, it } from 'vitest';
import { CHAINED_ASPECTS, fallbackCells, fillerCells, pairCells } from './chained-checks.js';
import { VENDORS } from './emulated-vendors.js';
import { HUNG_ASPECTS, hungCalls } from './hung-modes.js';
import { cells } from './provider-trouble.js';
import { type Aspect, coverOf } from './rotated.js';
import { TROUBLED_ASPECTS } from './trouble-checks.js';
import { PHASES } from './call-moments.js';
import { dropsOf, NONSENSE, OUTAGES } from './vendor-troubles.js';

const GRID = [0, 1, 2].flatMap((x) => [0, 1, 2].flatMap((y) => [0, 1, 2].map((z) => ({ x, y, z }))));
const PAIRS: readonly Aspect<(typeof GRID)[number]>[] = [
  ({ x, y }) => `${x} ${y}`,
  ({ x, z }) => `${x} ${z}`,
  ({ y, z }) => `${y} ${z}`,
];

const valuesOf = <Cell>(list: readonly Cell[], aspect: Aspect<Cell>) => new Set(list.map(aspect));

describe('a part of a matrix', () => {
  it('has every value in hardly more cells than that needs, and is the same each time', () => {
    const part = coverOf(GRID, PAIRS);
    expect(part.length).toBeLessThanOrEqual(10);
    for (const aspect of PAIRS) expect(valuesOf(part, aspect).size).toBe(9);
    expect(coverOf(GRID, PAIRS)).toEqual(part);
  });

  it('takes values that need not occur together about equally often', () => {
    const part = coverOf(GRID, [({ x, y }) => `${x} ${y}`, ({ z }) => `${z}`]);
    expect([0, 1, 2].map((wanted) => part.filter(({ z }) => z === wanted).length)).toEqual([3, 3, 3]);
  });

  it('is in the order of the matrix', () => {
    const part = coverOf(GRID, PAIRS);
    expect(part).toEqual(GRID.filter((cell) => part.includes(cell)));
  });
});

describe('the part of the matrix of troubles that every run plays', () => {
  it.each([
    ['drops', dropsOf],
    ['outages', () => OUTAGES],
    ['nonsense', () => NONSENSE],
  ])('has every vendor, every trouble, and every stage in each phase: %s', (_, troublesOf) => {
    const all = cells(troublesOf);
    const part = coverOf(all, TROUBLED_ASPECTS);
    expect(part.length).toBeLessThan(all.length / 10);
    for (const aspect of TROUBLED_ASPECTS) expect(valuesOf(part, aspect)).toEqual(valuesOf(all, aspect));
    const vendors = Object.values(VENDORS).flatMap((rows) => Object.keys(rows));
    expect(new Set(part.map(({ vendor }) => vendor))).toEqual(new Set(vendors));
    const troubles = new Set(all.map(({ trouble }) => trouble.name));
    expect(new Set(part.map(({ trouble }) => trouble.name))).toEqual(troubles);
    const met = new Set(part.map(({ stage, phase }) => `${stage} ${phase}`));
    for (const stage of Object.keys(VENDORS))
      for (const phase of PHASES) expect(met).toContain(`${stage} ${phase}`);
  });

  it.each([
    ['fallbacks', fallbackCells()],
    ['pairs', pairCells()],
    ['fillers', fillerCells()],
  ])('has each trouble of every stage, and every phase: %s', (_, all) => {
    const part = coverOf(all, CHAINED_ASPECTS);
    expect(part.length).toBeLessThan(all.length / 2);
    for (const aspect of CHAINED_ASPECTS) expect(valuesOf(part, aspect)).toEqual(valuesOf(all, aspect));
  });

  it('has every two voice modes that hang', () => {
    const all = hungCalls();
    const part = coverOf(all, HUNG_ASPECTS);
    expect(part.length).toBeLessThan(all.length / 4);
    for (const aspect of HUNG_ASPECTS) expect(valuesOf(part, aspect)).toEqual(valuesOf(all, aspect));
  });
});
