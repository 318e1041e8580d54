import { describe, expect, it } from 'vitest';
import {
  began,
  type CallerWords,
  finished,
  NO_WORDS,
  taken,
  worded,
} from '../../src/conversation/caller-words.js';

const POLICY = { transcribesCaller: true };
const moment = (ms: number) => ({ now: ms, wall: 100_000 + ms });

/** Each begins and ends so, in milliseconds; the model tells of the end so much later. */
function say(
  words: CallerWords,
  itemId: string,
  [from, to]: [number | null, number],
  agoMs = 0,
): CallerWords {
  const speaking = from === null ? words : began(words, moment(from));
  return finished(speaking, { itemId, turnIndex: 0, agoMs, at: moment(to + agoMs) }, POLICY).words;
}
const dates = ({ said }: CallerWords) => said.map(({ itemId, at }) => [itemId, at - 100_000]);

describe('when the caller said something', () => {
  it('is when they began it, each time anew', () => {
    const words = say(say(NO_WORDS, 'one', [500, 900]), 'two', [3000, 4000]);
    expect(dates(words)).toEqual([
      ['one', 500],
      ['two', 3000],
    ]);
    expect(words.startedAt).toBe(100_500);
  });

  it('is when they ended it, where the model does not tell the beginning, or too late', () => {
    expect(dates(say(NO_WORDS, 'one', [null, 900], 250.7))).toEqual([['one', 900]]);
    expect(dates(say(NO_WORDS, 'one', [2000, 900], 1200))).toEqual([['one', 900]]);
  });

  it('is when they began it where the turn took what was before in the middle of it', () => {
    const before = began(say(NO_WORDS, 'one', [500, 900]), moment(3000));
    const words = taken(before, 0, POLICY).words;
    expect(dates(say(words, 'two', [null, 9000]))).toContainEqual(['two', 3000]);
  });

  it('does not date the next turn by what was answered already', () => {
    const named = worded(
      NO_WORDS,
      { itemId: 'one', turnIndex: 0, text: 'Yes', isFinal: false, at: moment(900) },
      POLICY,
    );
    const words = say(taken(named.words, 0, POLICY).words, 'one', [null, 1000]);
    expect(words.startedAt).toBeNull();
    expect(began(words, moment(20_000)).startedAt).toBe(120_000);
  });
});
