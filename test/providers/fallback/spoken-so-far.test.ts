import { describe, expect, it } from 'vitest';
import { SpokenSoFar } from '../../../src/providers/fallback/spoken-so-far.js';
import type { SpokenPiece } from '../../../src/providers/text-to-speech.js';

const TEXT = 'Three loaves are ready now.';
const audio = (ms: number) => new Int16Array(ms * 16);

/** Every word of a text takes 300 ms. */
function words(text: string): SpokenPiece[] {
  return [...text.matchAll(/\S+/g)].map((word, index) => ({
    start: word.index,
    end: word.index + word[0].length,
    startMs: index * 300,
    endMs: index * 300 + 300,
  }));
}

/** Every character takes 50 ms. */
function characters(text: string): SpokenPiece[] {
  return [...text].map((_, index) => ({
    start: index,
    end: index + 1,
    startMs: index * 50,
    endMs: index * 50 + 50,
  }));
}

describe('SpokenSoFar', () => {
  it('leaves all of it when nothing was heard', () => {
    const spoken = new SpokenSoFar(TEXT);
    spoken.timed(words(TEXT));
    expect(spoken.breakOff()).toBe(TEXT);
  });

  it.each([
    [100, ' loaves are ready now.'],
    [700, ' ready now.'],
    [1500, ''],
  ])('leaves what no word was begun of after %i ms', (ms, rest) => {
    const spoken = new SpokenSoFar(TEXT);
    spoken.timed(words(TEXT));
    spoken.take(audio(ms));
    expect(spoken.breakOff()).toBe(rest);
  });

  it('takes a word as said of which only a letter was', () => {
    const spoken = new SpokenSoFar(TEXT);
    spoken.timed(characters(TEXT));
    spoken.take(audio(330));
    expect(spoken.breakOff()).toBe(' are ready now.');
  });

  it('tells pieces of a rest where they are in all of it', () => {
    const spoken = new SpokenSoFar(TEXT);
    spoken.timed(words(TEXT));
    spoken.take(audio(400));
    const rest = spoken.breakOff();
    expect(rest).toBe(' are ready now.');
    const [piece] = spoken.timed(words(rest));
    expect(piece).toEqual({ start: 13, end: 16, startMs: 400, endMs: 700 });
    spoken.take(audio(200));
    expect(spoken.breakOff()).toBe(' ready now.');
  });

  it('takes the words as heard that were timed, up to half a second behind the last of them', () => {
    for (const [timed, ms, rest] of [
      ['Three', 100, ' loaves are ready now.'],
      ['Three loaves', 1100, ' are ready now.'],
      ['Three loaves', 1101, ''],
    ] as const) {
      const spoken = new SpokenSoFar(TEXT);
      spoken.timed(words(timed));
      spoken.take(audio(ms));
      expect(spoken.breakOff()).toBe(rest);
    }
  });

  it('leaves nothing where nobody knows how far it came', () => {
    const untimed = new SpokenSoFar(TEXT);
    untimed.take(audio(100));
    expect(untimed.breakOff()).toBe('');
    const halfTimed = new SpokenSoFar(TEXT);
    halfTimed.timed(words('Three loaves'));
    halfTimed.take(audio(1200));
    expect(halfTimed.breakOff()).toBe('');
  });

  it('survives pieces that are none', () => {
    const spoken = new SpokenSoFar(TEXT);
    expect(spoken.timed('no' as never)).toEqual([]);
    expect(spoken.timed([null, 7] as never)).toEqual([]);
    spoken.take(audio(100));
    expect(spoken.breakOff()).toBe('');
  });

  it('keeps no more pieces than there are characters, however many it is told', () => {
    const spoken = new SpokenSoFar(TEXT);
    const [first] = words(TEXT);
    const again = Array.from({ length: TEXT.length }, () => first as SpokenPiece);
    spoken.timed(again);
    spoken.take(audio(700));
    // A later one would tell how far it has come.
    spoken.timed(words(TEXT));
    expect(spoken.breakOff()).toBe(' loaves are ready now.');
  });
});
