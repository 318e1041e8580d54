// Whatever reads what strangers write is fed a long text of its worst input, whole and piece by piece, and takes as much work for each sign
// as with an eighth of it. Work is counted (see `work-meter`): steps of expressions, signs that methods of strings go through, and runs of
// the loops in the sources. No time is measured.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs } from './support/depth.js';
import { WorkMeter } from './support/work-meter.js';
import type { TranscriptEntry } from '../src/contract/call-record.js';

const LONG = runs(2000, 30_000);
/** Of what comes piece by piece, and of what is cut to a length before it is looked at. */
const LESS = runs(2000, 20_000);
/** A thing that starts small may have a bound that the short input does not reach. */
const FACTOR = 8 * 1.3;

const meter = new WorkMeter();
beforeAll(() => meter.start());
afterAll(() => meter.stop());

const fill = (unit: string) => (length: number) =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length);

async function expectLinear(task: (length: number) => unknown, length = LONG): Promise<void> {
  // What is made once, like a table, is not counted with either.
  await meter.count(() => task(100));
  const short = await meter.count(() => task(length / 8));
  const long = await meter.count(() => task(length));
  expect(long).toBeLessThan(Number.POSITIVE_INFINITY);
  expect(long / Math.max(short, 1)).toBeLessThan(FACTOR);
}

const engines = '../src/engines';

describe('the meter', () => {
  it.each<[string, (text: string) => unknown]>([
    ['an expression', (text) => /[.?!]+["']*(?=\s)/.exec(text)],
    ['a method of texts', (text) => Array.from(text, (_, at) => text.indexOf(' ', at))],
  ])('tells where %s looks at a sign again and again', async (_, task) => {
    const steps = async (length: number) => meter.count(() => task('.'.repeat(length)));
    expect((await steps(800)) / (await steps(100))).toBeGreaterThan(20);
  });

  it('tells where a loop of ours does', async () => {
    const { nearestName } = await import('../src/base/nearest-name.js');
    const steps = (length: number) =>
      meter.count(() => nearestName('a'.repeat(length), ['b'.repeat(length)]));
    expect((await steps(400)) / (await steps(50))).toBeGreaterThan(20);
  });
});

describe('an answer of a model, and what is made of it', () => {
  const TEXTS: readonly [string, (length: number) => string][] = [
    ['dots', fill('.')],
    ['dots and quotes', fill('."')],
    ['small abbreviations', fill('e.g. ')],
    ['initials', fill('a.')],
    ['one word', fill('a')],
    ['commas', fill('a, ')],
    ['blanks', fill(' ')],
    ['lines', fill('\n- ')],
    ['full stops without blanks', fill('。')],
    ['angle brackets', fill('<')],
    ['tags that never end', fill('<a b="')],
    ['thoughts in thoughts', fill('<think>')],
    ['thoughts that never end', (length) => `<think>${fill('</thin')(length)}`],
    ['brackets', fill('[')],
    ['links that never end', fill('[a](')],
    ['addresses', fill('https://')],
    ['an address with dots', (length) => `https://a.b/${fill('.')(length)}`],
    ['ticks', fill('`')],
    ['stars', fill('*')],
    ['underlines and blanks', fill('_ ')],
    ['a table', fill('|-')],
  ];

  it.each(TEXTS)(
    '%s',
    async (_, text) => {
      const { SentenceSplitter } = await import(`${engines}/pipeline/speaking/sentence-splitter.js`);
      const { toSpeakable } = await import('../src/base/speakable.js');
      await expectLinear((length) => {
        const splitter = new SentenceSplitter();
        return [...splitter.push(text(length)), ...splitter.flush()];
      });
      await expectLinear((length) => {
        const splitter = new SentenceSplitter();
        for (const sign of text(length)) splitter.push(sign);
        return splitter.flush();
      });
      await expectLinear((length) => toSpeakable(text(length)));
    },
    60_000,
  );

  it.each(['.', 'a', '<', '., '])(
    '%j, in tokens, with words taken early',
    async (unit) => {
      const { SentenceSplitter } = await import(`${engines}/pipeline/speaking/sentence-splitter.js`);
      await expectLinear((length) => {
        const splitter = new SentenceSplitter();
        const text = fill(unit)(length);
        for (let at = 0; at < length; at += 40) {
          splitter.push(text.slice(at, at + 40));
          splitter.hurry();
          splitter.takeWords();
        }
        return splitter.flush();
      });
    },
    60_000,
  );

  it.each(['.', 'a', ' ', 'a '])('%j, as far as it was heard', async (unit) => {
    const { heardPart, partBetween } = await import(`${engines}/heard-text.js`);
    await expectLinear((length) => {
      const audio = { producedMs: 1000, complete: false };
      heardPart(fill(unit)(length), 990, audio);
      partBetween(fill(unit)(length), { fromMs: 10, toMs: 990 }, audio);
    }, LESS);
  });

  it('a tool call whose name comes with every piece', async () => {
    const { ToolCallAssembly } = await import('../src/providers/llm/tool-call-assembly.js');
    await expectLinear((length) => {
      const assembly = new ToolCallAssembly();
      assembly.push([{ function: { name: 'f', arguments: '{"a":"' } }]);
      for (let at = 0; at < length; at += 1) assembly.push([{ function: { name: 'f', arguments: 'b' } }]);
      return assembly.finish();
    });
  });

  it('events of a stream, byte by byte', async () => {
    const { SseReader } = await import('../src/base/sse.js');
    for (const unit of ['a', ':', '\n', '\r', 'data: a\n'])
      await expectLinear((length) => {
        const reader = new SseReader();
        const bytes = new TextEncoder().encode(fill(unit)(length));
        for (let at = 0; at < length; at += 1) reader.push(bytes.subarray(at, at + 1));
        return reader.end();
      });
  }, 60_000);

  it('arguments of a tool', async () => {
    const { complaintAbout } = await import(`${engines}/tools/json-schema-check.js`);
    const pattern = { type: 'string', pattern: '^(a|a)*b$' };
    expect(complaintAbout('a'.repeat(257), pattern)).toMatch(/256 characters or fewer/);
    await expectLinear((length) => complaintAbout('a'.repeat(length), { enum: ['b', 'c'] }));
    await expectLinear((length) => complaintAbout(new Array(length).fill(1), { items: { type: 'number' } }));
  });
});

describe('words of a caller', () => {
  const AGENT = 'Hello, this is Anna of the front desk. How can I help you today?';

  it.each(['a', 'a ', '.', ' ', 'hello ', '1 ', '-', '。'])(
    '%j',
    async (unit) => {
      const { wordsOf, countWords, lexiconFor } = await import(`${engines}/languages/lexicon.js`);
      const { DEFAULT_TURN_TAKING: silences } = await import(`${engines}/turn-taking.js`);
      const { isEcho, isGarbledEcho, isQuietEcho } = await import(`${engines}/pipeline/hearing/echo.js`);
      const { countDigits, endsInDigits, wantedDigits } = await import(
        `${engines}/pipeline/hearing/spoken-digits.js`
      );
      const { waitAfter } = await import(`${engines}/pipeline/hearing/endpointing.js`);
      const { withoutRepeated } = await import(`${engines}/pipeline/hearing/repeated-words.js`);
      const { rejoined } = await import(`${engines}/pipeline/hearing/piece-growth.js`);
      const { estimateMs } = await import(`${engines}/syllables.js`);
      const { scriptedAnswer } = await import('../src/providers/llm/scripted/rules.js');
      const { toFliteRequests } = await import('../src/providers/tts/flite/text.js');
      const tasks: readonly ((text: string) => unknown)[] = [
        wordsOf,
        countWords,
        countDigits,
        endsInDigits,
        wantedDigits,
        (text) => waitAfter(text, { silences, lexicon: lexiconFor(undefined) }),
        estimateMs,
        toFliteRequests,
        (text) => withoutRepeated(text, text),
        (text) => rejoined({ piece: text, count: 3 }, text),
        (text) => scriptedAnswer([{ role: 'user', content: text }]),
        (text) => scriptedAnswer([{ role: 'user', content: `repeat ${text}` }]),
        (text) => [isEcho, isGarbledEcho, isQuietEcho].map((compare) => compare(text, AGENT, 1)),
      ];
      for (const task of tasks) await expectLinear((length) => task(fill(unit)(length)));
    },
    120_000,
  );

  it.each(
    'a|a |1|1 |12, |one |un |double |drei mal |einund|de |May |at |@|a@|@a.|a.b@|.|dot |a dot |card |4 EUR|- |1-|e-mail is |1:|123 if |\u0301|𝟏'.split(
      '|',
    ),
  )(
    '%j, where private numbers are looked for',
    async (unit) => {
      const { findPrivate } = await import('../src/calls/privacy/finder.js');
      for (const end of [undefined, 'open', 'speaking'] as const)
        await expectLinear((length) => findPrivate(fill(unit)(length), { end, asked: ['Your card?'] }), LESS);
    },
    60_000,
  );

  it.each(['a', '1', ' ', '1 ', '-', '1-', '(1) ', '\u202a', '+'])(
    '%j, where a number is searched for',
    async (unit) => {
      const { numbersIn, wantedNumber } = await import('../src/events/call-filter.js');
      for (const task of [numbersIn, wantedNumber, (text: string) => wantedNumber(`${text}a`)])
        await expectLinear((length) => task(fill(unit)(length)));
    },
    60_000,
  );

  it('are bounded where one piece of them, or a turn, has no end', async () => {
    const { UserSpeech } = await import(`${engines}/pipeline/hearing/user-speech.js`);
    const { NOTHING_UNTAKEN, worded } = await import('../src/conversation/untaken.js');
    let untaken = NOTHING_UNTAKEN;
    const speech = new UserSpeech({
      entries: () => untaken.entries,
      tell: (entry: TranscriptEntry) => {
        untaken = worded(untaken, entry);
      },
      wallNow: () => 0,
      now: () => 0,
      turnIndex: () => 0,
      suffix: () => '',
    });
    for (let count = 0; count < 100; count += 1) speech.final(fill('a ')(4000));
    expect(speech.text.length).toBeLessThanOrEqual(20_000);
  });
});

describe('what requests and webhooks say', () => {
  it.each(['a', '; ', '=', '{', '[:', '%', '0.', '{a'])(
    '%j',
    async (unit) => {
      const { readCookies } = await import('../src/dashboard/token.js');
      const { fillPlaceholders, findUnfilled } = await import('../src/base/placeholders.js');
      const { normalizeAddress } = await import('../src/base/network-address.js');
      const { maskPhone } = await import('../src/base/redact.js');
      const { nearestName } = await import('../src/base/nearest-name.js');
      const { isE164 } = await import('../src/base/e164.js');
      const { escapeXml } = await import('../src/carriers/carrier-a/xml.js');
      const { bounded } = await import(`${engines}/tools/tool-result.js`);
      const tasks: readonly ((text: string) => unknown)[] = [
        (text) => readCookies(text, 'a'),
        (text) => fillPlaceholders(text, { a: 'b' }),
        (text) => fillPlaceholders('{a}', { a: text }),
        (text) => findUnfilled(text, {}),
        (text) => normalizeAddress(text),
        (text) => maskPhone(text),
        (text) => nearestName(text, ['greeting', 'language']),
        (text) => isE164(text),
        (text) => escapeXml(text),
        (text) => bounded(text),
      ];
      for (const task of tasks) await expectLinear((length) => task(fill(unit)(length)));
    },
    60_000,
  );
});
