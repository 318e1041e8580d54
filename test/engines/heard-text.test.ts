import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { heardPart, isWhole, partBetween, type SentenceAudio } from '../../src/engines/heard-text.js';
import { SpokenTiming } from '../../src/engines/spoken-timing.js';
import { estimateMs } from '../../src/engines/syllables.js';
import type { SpokenPiece } from '../../src/providers/text-to-speech.js';

/** Audio of a sentence with what its voice has told of its times. */
function audioOf(text: string, rest: Partial<SentenceAudio>, ...pieces: unknown[]): SentenceAudio {
  const timing = new SpokenTiming(text);
  timing.timed(pieces as SpokenPiece[]);
  return { producedMs: 1000, complete: true, timing, ...rest };
}

const piece = (start: number, end: number, startMs: number, endMs: number): SpokenPiece => ({
  start,
  end,
  startMs,
  endMs,
});

describe('heardPart', () => {
  // 20 characters at 50 ms each.
  const text = 'one two three four.x';
  it.each([
    [0, ''],
    [-5, ''],
    [100, ''],
    [150, 'one'],
    [349, 'one'],
    [350, 'one two'],
    [999, 'one two three'],
    [1000, text],
    [5000, text],
  ])('of a sentence of 1000 ms after %i ms', (heardMs, part) => {
    expect(heardPart(text, heardMs, audioOf(text, {}))).toBe(part);
  });

  it('is all of it, its blanks too, as soon as the last sample was heard', () => {
    const blank = 'one two. ';
    expect(heardPart(blank, 999, audioOf(blank, {}))).toBe('one two.');
    expect(heardPart(blank, 1000, audioOf(blank, {}))).toBe(blank);
  });

  it('estimates the length of what is not yet synthesized, by its syllables', () => {
    const long = 'We are open from Monday to Friday, from eight in the morning until six.';
    const early = audioOf(long, { producedMs: 500, complete: false });
    // 500 ms are two syllables.
    expect(heardPart(long, 500, early)).toBe('We are');
    expect(heardPart(long, 500, { ...early, complete: true })).toBe(long);
  });

  it('never takes a sentence for heard whole while more of it is to come', () => {
    const slow = audioOf(text, { producedMs: 9000, complete: false });
    expect(heardPart(text, 9000, slow)).toBe('one two three');
  });

  it('is nothing of what was never made', () => {
    expect(heardPart(text, 100, audioOf(text, { producedMs: 0 }))).toBe('');
  });

  it('has a word when its last letter is out, whatever sign stands behind that', () => {
    // 10 units at 100 ms each.
    const smile = 'Hi\u{1F600} there';
    expect(heardPart(smile, 250, audioOf(smile, {}))).toBe('Hi\u{1F600}');
    const bold = 'Hi \u{1D400}\u{1D401} go';
    expect(heardPart(bold, 650, audioOf(bold, {}))).toBe('Hi');
    expect(heardPart(bold, 750, audioOf(bold, {}))).toBe('Hi \u{1D400}\u{1D401}');
  });

  it('cuts where there are no blanks, too', () => {
    const chinese = '我们今天营业。明天休息。';
    expect(heardPart(chinese, 499, audioOf(chinese, {}))).toBe('我们今天营');
    expect(heardPart(chinese, 600, audioOf(chinese, {}))).toBe('我们今天营业。');
  });
});

describe('heardPart of a voice that tells its times', () => {
  // The pause is as long as the words.
  const text = 'One, two three.';
  const words = [piece(0, 3, 100, 300), piece(5, 8, 1300, 1500), piece(9, 14, 1500, 1900)];
  const voiced = (rest: Partial<SentenceAudio> = {}, pieces: unknown[] = words) =>
    audioOf(text, { producedMs: 2000, ...rest }, ...pieces);

  it.each([
    [99, ''],
    [299, ''],
    [300, 'One,'],
    [1499, 'One,'],
    [1500, 'One, two'],
    [1899, 'One, two'],
    [1900, text],
  ])('after %i ms', (heardMs, part) => {
    expect(heardPart(text, heardMs, voiced())).toBe(part);
    expect(heardPart(text, heardMs, voiced({ complete: false }))).toBe(part);
  });

  it('tells the words between two moments', () => {
    expect(partBetween(text, { fromMs: 350, toMs: 1200 }, voiced())).toBe('');
    expect(partBetween(text, { fromMs: 350, toMs: 1400 }, voiced())).toBe('two');
    expect(partBetween(text, { fromMs: -500, toMs: 200 }, voiced())).toBe('One,');
    expect(partBetween(text, { fromMs: 2500, toMs: 3000 }, voiced())).toBe('');
  });

  it('goes by share of text where a time is missing: before, between and behind the others', () => {
    const [first, second, third] = words;
    expect(heardPart(text, 1400, voiced({}, [third]))).toBe('One, two');
    expect(heardPart(text, 700, voiced({}, [first, third]))).toBe('One,');
    expect(heardPart(text, 1299, voiced({}, [first, third]))).toBe('One,');
    expect(heardPart(text, 1300, voiced({}, [first, third]))).toBe('One, two');
    expect(heardPart(text, 1700, voiced({}, [first, second]))).toBe('One, two');
  });

  it('estimates what the voice has not come to, behind what it has', () => {
    const audio = voiced({ producedMs: 1500, complete: false }, words.slice(0, 2));
    expect(heardPart(text, 1500, audio)).toBe('One, two');
  });

  it.each<[string, unknown]>([
    ['no object', null],
    ['no numbers', { start: '0', end: 3, startMs: 0, endMs: 1 }],
    ['not finite', piece(0, 3, 0, Number.NaN)],
    ['an end before its start', piece(3, 0, 0, 200)],
    ['a time that runs backwards', piece(0, 3, 300, 100)],
    ['a place behind the text', piece(0, 99, 0, 200)],
    ['a place before it', piece(-2, 3, 0, 200)],
  ])('leaves out what is no piece: %s', (_, wrong) => {
    expect(heardPart(text, 1499, voiced({}, [wrong, ...words]))).toBe('One,');
    expect(heardPart(text, 1500, voiced({}, [wrong, ...words]))).toBe('One, two');
  });

  it('leaves out pieces that are out of order, and times that lie behind the end of the audio', () => {
    const [first, second, third] = words;
    for (const pieces of [
      [first, second, first, third],
      [first, second, piece(9, 14, 100, 200), third],
      [first, second, third, piece(14, 15, 90_000, 99_000)],
    ])
      expect(heardPart(text, 1499, voiced({}, pieces))).toBe('One,');
    expect(heardPart(text, 1000, voiced({}, [piece(0, 3, 1e12, 2e12)]))).toBe('One,');
  });

  it('only grows, and is the beginning of the text, whatever the voice tells', () => {
    const number = fc.oneof(
      fc.integer({ min: -2, max: 20 }),
      fc.integer({ min: -100, max: 3000 }),
      fc.double(),
    );
    const told = fc.array(fc.record({ start: number, end: number, startMs: number, endMs: number }));
    fc.assert(
      fc.property(told, fc.boolean(), fc.nat(2500), (pieces, complete, producedMs) => {
        const audio = audioOf(text, { producedMs, complete }, ...pieces);
        let last = '';
        for (let heardMs = -100; heardMs <= producedMs; heardMs += 50) {
          const part = heardPart(text, heardMs, audio);
          expect(text.startsWith(part) && part.startsWith(last)).toBe(true);
          expect(['', 'One,', 'One, two', text]).toContain(part);
          last = part;
        }
      }),
    );
  });

  it('takes no list for nothing', () => {
    const timing = new SpokenTiming(text);
    for (const wrong of [undefined, null, 7, 'abc', {}]) timing.timed(wrong as never);
    expect(timing.points(2000)).toEqual([]);
  });
});

describe('estimateMs', () => {
  it.each([
    ['', 0],
    ['...!', 0],
    ['Good morning.', 3],
    ['Café für Öl', 4],
    ['Room 42', 3],
    ['Добрый день', 3],
    ['我们今天营业', 6],
    ['안녕하세요', 5],
    ['صباح الخير', 4.5],
    ['psst', 1],
  ])('of %j', (text, syllables) => {
    expect(estimateMs(text) * 3.8).toBeCloseTo(syllables * 1000);
  });
});

describe('isWhole', () => {
  const long = 'We are open from Monday to Friday, from eight in the morning until six.';
  const producedMs = estimateMs(long);
  const timed = (...pieces: SpokenPiece[]) => audioOf(long, { producedMs }, ...pieces);

  it('is what can have been said in its time, by the fastest of voices', () => {
    expect(isWhole(long, { producedMs: 500 })).toBe(false);
    expect(isWhole(long, { producedMs: producedMs * 0.19 })).toBe(false);
    expect(isWhole(long, { producedMs: producedMs * 0.21 })).toBe(true);
    expect(isWhole('…', { producedMs: 1 })).toBe(true);
  });

  it('is not what a voice broke off, nor what it told no time of and had none for', () => {
    const broken = timed();
    broken.timing?.brokeOff();
    expect(isWhole(long, broken)).toBe(false);
    const few = timed(piece(0, 2, 0, 200), piece(3, 6, 200, producedMs - 100));
    expect(isWhole(long, few)).toBe(false);
    expect(isWhole(long, timed(piece(0, 2, 0, 200)))).toBe(true);
    expect(isWhole(long, timed(piece(0, long.length - 1, 0, producedMs)))).toBe(true);
  });
});
