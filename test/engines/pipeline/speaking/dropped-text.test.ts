import { describe, expect, it } from 'vitest';
import { unheardPart } from '../../../../src/engines/pipeline/speaking/dropped-text.js';

const TEXT = 'One two. Three four.';
const DROPPED = [
  { offset: 0, text: 'A.' },
  { offset: 8, text: 'B.' },
  { offset: 8, text: 'C.' },
  { offset: TEXT.length, text: 'D.' },
];

describe('what was not heard of a text', () => {
  it.each([
    [0, 'A. One two. B. C. Three four. D.'],
    [3, 'A. two. B. C. Three four. D.'],
    [8, 'A. B. C. Three four. D.'],
    [14, 'A. B. C. four. D.'],
    [TEXT.length, 'A. B. C. D.'],
  ])('has what was dropped in its places, when %i characters were heard', (heard, unheard) => {
    expect(unheardPart(TEXT, DROPPED, heard)).toBe(unheard);
  });

  it('is the rest where nothing was dropped', () => {
    expect(unheardPart(TEXT, [])).toBe(TEXT);
    expect(unheardPart(TEXT, [], 8)).toBe('Three four.');
  });
});
