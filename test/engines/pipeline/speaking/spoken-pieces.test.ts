import { describe, expect, it } from 'vitest';
import { SpokenPieces } from '../../../../src/engines/pipeline/speaking/spoken-pieces.js';

const LONG = 'We are open from eight to six.';

describe('SpokenPieces', () => {
  it('gives a sentence that is long enough at once, and holds a shorter one for its successor', () => {
    const pieces = new SpokenPieces();
    expect(pieces.add(LONG)).toEqual([{ text: LONG, dropped: [] }]);
    expect(pieces.add('Hi.')).toEqual([]);
    expect(pieces.held.text).toBe('Hi.');
    expect(pieces.add(LONG)).toEqual([{ text: `Hi. ${LONG}`, dropped: [] }]);
    expect(pieces.flush()).toEqual([]);
  });

  it('says of a piece what was dropped before and in it', () => {
    const pieces = new SpokenPieces();
    pieces.drop('A.');
    pieces.add('Hi.');
    pieces.drop('B.');
    const dropped = [
      { offset: 0, text: 'A.' },
      { offset: 3, text: 'B.' },
    ];
    expect(pieces.add(LONG)).toEqual([{ text: `Hi. ${LONG}`, dropped }]);
    pieces.drop('C.');
    expect(pieces.flush()).toEqual([]);
    expect(pieces.held).toEqual({ text: '', dropped: [{ offset: 0, text: 'C.' }] });
  });

  it('makes no piece longer than a voice takes', () => {
    const pieces = new SpokenPieces();
    pieces.add('Hi.');
    const whole = 'x'.repeat(299);
    expect(pieces.add(whole).map(({ text }) => text)).toEqual(['Hi.', whole]);
  });
});
