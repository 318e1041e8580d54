import { describe, expect, it } from 'vitest';
import { KEPT_AUDIO_MS } from '../../../../src/audio/kept-audio.js';
import { beginningOf, PieceGrowth, rejoined } from '../../../../src/engines/pipeline/hearing/piece-growth.js';

describe('the growth of a piece', () => {
  const grown = (...steps: [at: number, piece: string][]) => {
    const growth = new PieceGrowth();
    for (const [at, piece] of steps) growth.grew(piece, at);
    return growth;
  };
  const LONG = grown([1000, 'I want'], [4000, 'I want to book'], [6000, 'I want to book a table']);

  it('has lost nothing while all of its sound is kept', () => {
    expect(LONG.lostAt(1000 + KEPT_AUDIO_MS)).toBeUndefined();
    expect(new PieceGrowth().lostAt(60_000)).toBeUndefined();
  });

  it.each([
    [1001, 'I want to book'],
    [4001, 'I want to book a table'],
    [60_000, 'I want to book a table'],
  ])('has lost what was written until %i ms', (keptSince, beginning) => {
    const lost = LONG.lostAt(keptSince + KEPT_AUDIO_MS);
    expect(lost && beginningOf(lost)).toBe(beginning);
  });

  it('gives the words as they were written last', () => {
    const lost = grown([1000, 'Eye won'], [9000, 'I want, to book']).lostAt(15_000);
    expect(lost && beginningOf(lost)).toBe('I want, to book');
    const part = grown([1000, 'Eye'], [5000, 'Eye won'], [9000, 'I want, to book']).lostAt(9500);
    expect(part && beginningOf(part)).toBe('I want,');
  });

  it('counts characters of scripts without gaps', () => {
    const lost = grown([1000, '我想'], [5000, '我想订'], [9000, '我想订一张桌子']).lostAt(9500);
    expect(lost && beginningOf(lost)).toBe('我想订');
  });

  it('is forgotten at its end', () => {
    const growth = grown([1000, 'I want']);
    growth.clear();
    expect(growth.lostAt(60_000)).toBeUndefined();
  });

  it('keeps what matters of a piece without end', () => {
    const growth = new PieceGrowth();
    for (let at = 0; at <= 90_000; at += 100) growth.grew('so '.repeat(at / 1000), at);
    const lost = growth.lostAt(90_000);
    expect(lost?.count).toBe(85);
  });
});

describe('a text that was heard again without its beginning', () => {
  const piece = 'I want to book a table for two people on Friday at eight';
  it.each([
    ['goes on where the beginning ends', 6, 'for two people', 'I want to book a table for two people'],
    ['repeats the last words of the beginning', 6, 'a table for two', 'I want to book a table for two'],
    ['begins later than that', 6, 'people on Friday', 'I want to book a table for two people on Friday'],
    ['begins with half a word', 6, 'able for two', 'I want to book a table for two'],
    ['is all of it', 8, 'I want to book a table for three', 'I want to book a table for three'],
    ['says something else', 6, 'with six', 'I want to book a table with six'],
    ['has a word of long ago', 9, 'to eat', 'I want to book a table for two people to eat'],
    ['is written another way', 6, 'Table, for two!', 'I want to book a Table, for two!'],
  ])('%s', (_, count, text, whole) => {
    expect(rejoined({ piece, count }, text)).toBe(whole);
  });
});
