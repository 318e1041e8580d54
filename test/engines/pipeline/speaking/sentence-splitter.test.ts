import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  SentenceSplitter,
  singleSentences,
} from '../../../../src/engines/pipeline/speaking/sentence-splitter.js';

function split(text: string, size = 1): string[] {
  const splitter = new SentenceSplitter();
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(...splitter.push(text.slice(at, at + size)));
  return [...pieces, ...splitter.flush()];
}

describe('SentenceSplitter', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['   \n ', []],
    ['Hello', ['Hello']],
    ['We are open today. Come and see us soon.', ['We are open today. Come and see us soon.']],
    ['We are open every day. Come and see us soon!', ['We are open every day.', 'Come and see us soon!']],
    ['Yes. I can do that for you. Anything else?', ['Yes. I can do that for you.', 'Anything else?']],
    [
      'Please ask for Dr. Smith or Mrs. Jones at the desk. Thank you.',
      ['Please ask for Dr. Smith or Mrs. Jones at the desk.', 'Thank you.'],
    ],
    [
      'The total is 3.50 dollars and 10.25 cents. Is that all right?',
      ['The total is 3.50 dollars and 10.25 cents.', 'Is that all right?'],
    ],
    [
      'We open at 8.30 and close at 5 p.m. on Friday. Bye.',
      ['We open at 8.30 and close at 5 p.m. on Friday.', 'Bye.'],
    ],
    [
      'The last train goes at 11 p.m. Please be early for it.',
      ['The last train goes at 11 p.m.', 'Please be early for it.'],
    ],
    [
      'See www.example.com/a.b?c=d. for the whole list of it. Good?',
      ['See example.com. for the whole list of it.', 'Good?'],
    ],
    [
      'The writer J. R. R. Tolkien lived in the U.K. for years. Yes.',
      ['The writer J. R. R. Tolkien lived in the U.K. for years.', 'Yes.'],
    ],
    [
      '1. Take the first street\n2. Turn left at the church\n',
      ['1. Take the first street', '2. Turn left at the church'],
    ],
    [
      'Wait... I am looking for it. Here it is, finally!',
      ['Wait... I am looking for it.', 'Here it is, finally!'],
    ],
    [
      'She said "we are closed." Then she left the room.',
      ['She said "we are closed."', 'Then she left the room.'],
    ],
    [
      '**Bold** words and `code` with a [link](https://x.y/z). Fine 😀 then.',
      ['Bold words and code with a link.', 'Fine then.'],
    ],
    [
      '今日は営業しています、どうぞお越しくださいませ。明日は休みです。',
      ['今日は営業しています、どうぞお越しくださいませ。', '明日は休みです。'],
    ],
  ])('%j', (text, pieces) => {
    expect(split(text)).toEqual(pieces);
    expect(split(text, 1000)).toEqual(pieces);
  });

  it('gives a sentence out as soon as the next one begins', () => {
    const splitter = new SentenceSplitter();
    expect(splitter.push('We are open every day.')).toEqual([]);
    expect(splitter.push(' ')).toEqual(['We are open every day.']);
  });

  it('begins early at a clause, and only the first time', () => {
    const clause = 'If you come to us on a Tuesday or on a Thursday in the morning,';
    const splitter = new SentenceSplitter();
    expect(splitter.push(`${clause} there`)).toEqual([clause]);
    expect(splitter.push(`, ${clause} more`)).toEqual([]);
  });

  it('loses no word, gives nothing over 300 characters, and is indifferent to the chunks', () => {
    const word = fc.stringMatching(/^[a-z]{1,30}[.,!?]?$/);
    fc.assert(
      fc.property(fc.array(word, { maxLength: 120 }), fc.integer({ min: 1, max: 40 }), (words, size) => {
        const text = words.join(' ');
        const pieces = split(text, size);
        expect(pieces.join(' ')).toBe(text);
        expect(pieces.every((piece) => piece.length <= 300)).toBe(true);
      }),
    );
  });

  it.each<[string, string[], string, string[]]>([
    ['We have apple ca', ['We have apple'], 'ke today.', ['cake today.']],
    ['Six', [], 'ty.', ['Sixty.']],
    ['Six.', ['Six.'], '', []],
    ['It costs 3.', ['It costs'], '50.', ['3.50.']],
    ['今日は営業', ['今日は営業'], 'です。', ['です。']],
  ])('gives of %j the words that are whole where nobody can wait for more', (text, words, more, rest) => {
    const splitter = new SentenceSplitter();
    expect(splitter.push(text)).toEqual([]);
    expect([splitter.takeWords(), splitter.takeWords()]).toEqual([words, []]);
    expect([...splitter.push(more), ...splitter.flush()]).toEqual(rest);
  });

  it('cuts a word that is longer than a voice can take', () => {
    const pieces = split(`${'a'.repeat(299)}😀${'b'.repeat(400)}`);
    expect(pieces.every((piece) => piece.length <= 300)).toBe(true);
    expect(pieces.join('')).toBe('a'.repeat(299) + 'b'.repeat(400));
  });
});

describe('single sentences', () => {
  it.each([
    ['We open at eight. Come by. Do!', ['We open at eight.', 'Come by.', 'Do!']],
    ['Mr. Smith opens at 8.30 a.m. on Mondays. OK?', ['Mr. Smith opens at 8.30 a.m. on Mondays.', 'OK?']],
    ['はい。八時です。', ['はい。', '八時です。']],
    ['', []],
  ])('of %j', (text, sentences) => {
    expect(singleSentences(text)).toEqual(sentences);
    expect(sentences.flatMap(singleSentences)).toEqual(sentences);
  });

  it('are not cut at a clause, in no hurry and however they come', () => {
    const splitter = new SentenceSplitter({ single: true });
    const said = `${'We are open on every day of the week, '.repeat(5)}and at night.`;
    const pieces = said
      .split(/(?<= )/)
      .flatMap((delta) => [...splitter.push(delta), ...splitter.hurry(), ...splitter.takeWords()]);
    expect([...pieces, ...splitter.flush()]).toEqual([said]);
  });

  it('are cut where they are longer than any piece', () => {
    const pieces = singleSentences(`${'word '.repeat(100)}end.`);
    expect(pieces.map(({ length }) => length <= 300)).toEqual([true, true]);
    expect(pieces.join(' ')).toBe(`${'word '.repeat(100)}end.`);
  });
});
