import { describe, expect, it, vi } from 'vitest';
import { isEcho, isGarbledEcho, isQuietEcho } from '../../src/engines/pipeline/hearing/echo.js';
import { BargeIn } from '../../src/engines/pipeline/hearing/barge-in.js';
import { waitAfter } from '../../src/engines/pipeline/hearing/endpointing.js';
import { isKeyTone } from '../../src/engines/pipeline/hearing/key-tone.js';
import { countWords, lexiconFor, isBackchannel } from '../../src/engines/languages/lexicon.js';
import { DEFAULT_TURN_TAKING } from '../../src/engines/turn-taking.js';
import { PressedKeys } from '../../src/engines/pressed-keys.js';
import { SentenceSplitter } from '../../src/engines/pipeline/speaking/sentence-splitter.js';
import { wantedDigits } from '../../src/engines/pipeline/hearing/spoken-digits.js';
import { makeSpeechTones } from '../../src/testing/index.js';
import { FakeClock } from '../support/fake-clock.js';

describe('how long a pause may last', () => {
  const DIGITS = 'What is your four-digit code?';
  const PHONE = 'May I have your phone number?';
  const silences = DEFAULT_TURN_TAKING;
  const ACCOUNT = 'Tell me the account number, please.';
  it.each([
    ['What day?', '7', 500],
    [DIGITS, '1 2', 1200],
    [DIGITS, 'One two.', 1200],
    [DIGITS, '1 2 3 4', 300],
    [DIGITS, 'it is twelve thirty-four', 300],
    [DIGITS, 'I do not know.', 300],
    [PHONE, '555 010', 1200],
    [PHONE, '555 010 1234', 500],
    [ACCOUNT, '4 4 7 1.', 1200],
  ])('after "%s": "%s" %i ms', (agent, said, waitMs) => {
    expect(waitAfter(said, { silences, lexicon: lexiconFor(undefined), digits: wantedDigits(agent) })).toBe(
      waitMs,
    );
  });

  it.each([
    ['de', 'Ich komme am Montag und', 1200],
    ['de', 'Das ist so', 500],
    ['de-CH', 'Ja genau', 500],
    ['de', 'genau', 300],
    ['es', 'sí', 300],
    ['fr-CA', 'je voudrais une table pour', 1200],
    ['hi', 'हाँ मैं आऊँगा।', 300],
    ['ar', 'متى تفتحون؟', 300],
    ['ja', '明日は休みですか。', 300],
    ['ja', '明日は', 500],
    ['xx', 'and', 500],
  ])('in %s: "%s" %i ms', (language, said, waitMs) => {
    expect(waitAfter(said, { silences, lexicon: lexiconFor(language) })).toBe(waitMs);
  });
});

describe('words', () => {
  it.each([
    ['what about', 2],
    ['', 0],
    ['… - …', 0],
    ['हाँ जी', 2],
    ['你好', 1],
    ['我要一个位子', 3],
  ])('are counted in every script: "%s" %i', (text, count) => {
    expect(countWords(text)).toBe(count);
  });

  it('of a listener and of an interruption are those of the language', () => {
    expect(isBackchannel('ja, genau', lexiconFor('de'))).toBe(true);
    expect(isBackchannel('ja, genau', lexiconFor('en'))).toBe(false);
    const machine = new BargeIn({ voicedMs: 500, words: 2, lexicon: lexiconFor('de') });
    expect(machine.text('Moment', 'careful')).toBe('interrupt');
  });
});

describe('isEcho', () => {
  const AGENT = 'We are open from eight to six on weekdays.';
  it.each([
    ['open from eight to six', 3, true],
    ['open frome eight to six', 3, true],
    ['we open from eight at six', 3, true],
    ['six to eight from open', 3, false],
    ['are you open on Sundays', 3, false],
    ['eight to six', 4, false],
    ['', 0, false],
    ['!?', 0, false],
  ])('"%s", at least %i words: %s', (text, minWords, expected) => {
    expect(isEcho(text, AGENT, minWords)).toBe(expected);
  });

  it.each([
    ['open for ate to', 1, true],
    ['from aid', 1, true],
    ['often form ate to', 1, false],
    ['on week', 1, true],
    ['s', 1, true],
    ['from aid', 3, false],
    ['', 0, false],
  ])('misheard: "%s", at least %i words: %s', (text, minWords, expected) => {
    expect(isEcho(text, AGENT, minWords)).toBe(false);
    expect(isQuietEcho(text, AGENT, minWords)).toBe(expected);
  });
});

describe('isGarbledEcho', () => {
  const AGENT = 'Hello, this is the bakery.';
  it.each([
    ['hel l this', 1, true],
    ['hello this is the bake', 1, true],
    ['thisis the', 3, false],
    ['hel', 1, false],
    ['hell', 1, true],
    ['hello there', 1, false],
    ['I need a cake', 1, false],
    ['', 0, false],
  ])('"%s", at least %i words: %s', (text, minWords, expected) => {
    expect(isGarbledEcho(text, AGENT, minWords)).toBe(expected);
  });
});

describe('PressedKeys', () => {
  it('gives a flood of keys out in pieces, and early when it is told to', () => {
    const clock = new FakeClock();
    const onComplete = vi.fn();
    const keys = new PressedKeys({ clock, pauseMs: 1500, onComplete });
    for (let count = 0; count < 65; count += 1) keys.press('1');
    expect(onComplete.mock.calls).toEqual([['1'.repeat(64)]]);
    expect(keys.take()).toBe('1');
    clock.advance(5000);
    expect(onComplete).toHaveBeenCalledTimes(1);
    expect(keys.take()).toBe('');
  });
});

describe('isKeyTone', () => {
  const tone = (frequencies: readonly number[], amplitude = 8000) =>
    Int16Array.from({ length: 320 }, (_, at) =>
      frequencies.reduce((sum, hz) => sum + amplitude * Math.sin((2 * Math.PI * hz * at) / 16_000), 0),
    );

  it('knows all sixteen keys, loud and quiet', () => {
    for (const row of [697, 770, 852, 941])
      for (const column of [1209, 1336, 1477, 1633]) {
        expect(isKeyTone(tone([row, column])), `${row} ${column}`).toBe(true);
        expect(isKeyTone(tone([row * 1.01, column * 0.99], 900)), `${row} ${column}`).toBe(true);
      }
  });

  it.each([
    ['silence', []],
    ['one tone', [770]],
    ['two of the same group', [697, 941]],
    ['a vowel', [700, 1220, 2600, 3300]],
    ['a dial tone', [350, 440]],
  ])('is not taken in by %s', (_, frequencies) => {
    expect(isKeyTone(tone(frequencies, 4000))).toBe(false);
  });

  it('is not taken in by speech', () => {
    const speech = makeSpeechTones(3000);
    let tones = 0;
    for (let at = 0; at + 320 <= speech.length; at += 320)
      if (isKeyTone(speech.subarray(at, at + 320))) tones += 1;
    expect(tones).toBe(0);
  });
});

describe('sentences of other scripts', () => {
  const split = (text: string) => {
    const splitter = new SentenceSplitter();
    return [...[...text].flatMap((char) => splitter.push(char)), ...splitter.flush()];
  };
  it.each([
    ['हम सोमवार से शुक्रवार तक खुले हैं। कृपया कल सुबह आइए।', ['हम सोमवार से शुक्रवार तक खुले हैं।', 'कृपया कल सुबह आइए।']],
    [
      'هل تريد حجز طاولة لهذا المساء؟ نحن مفتوحون الآن.',
      ['هل تريد حجز طاولة لهذا المساء؟', 'نحن مفتوحون الآن.'],
    ],
    [
      '我们每天早上八点开门。晚上六点关门！欢迎您来。',
      ['我们每天早上八点开门。', '晚上六点关门！欢迎您来。'],
    ],
  ])('%s', (text, pieces) => {
    expect(split(text)).toEqual(pieces);
  });

  it('may begin with any clause when hurried, once', () => {
    const splitter = new SentenceSplitter();
    expect(splitter.push('Of course we are open, and you')).toEqual([]);
    expect(splitter.hurry()).toEqual(['Of course we are open,']);
    expect(splitter.push(' may come at eight, or nine, or')).toEqual([]);
    expect(splitter.hurry()).toEqual([]);
  });
});
