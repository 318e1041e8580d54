// Echo and caller are told apart by their sound, where their words are alike.
import { describe, expect, it } from 'vitest';
import { isDeep } from '../support/depth.js';
import { ANSWER } from './answering-rig.js';
import { MS_PER_CHAR } from './call-rig.js';
import { LineRig, spoken } from './line-rig.js';

const GREETING = 'Hello, this is Anna, how can I help?';
const userTexts = (rig: LineRig) =>
  rig.transcript.filter(({ role }) => role === 'user').map(({ text }) => text);
/** Every pair of them; the deep suite has all together. */
const each = <A, B, C>(as: readonly A[], bs: readonly B[], cs: readonly C[]) =>
  as.flatMap((a, first) =>
    bs.flatMap((b, second) =>
      cs.flatMap((c, third) => (isDeep || (first + second + third) % 2 === 0 ? [[a, b, c] as const] : [])),
    ),
  );

describe('a caller who speaks over a greeting', () => {
  it.each(
    each(
      ['Hello, who is this?', 'Hello, this is Hannah.', 'Hello? Can you hear me?', 'Anna, is this you?'],
      [100, 400, 800, 1400],
      [0, 5, 10, 20],
    ),
  )('says "%s" after %i ms, %i dB lower, and is heard', async (text, afterMs, lossDb) => {
    const rig = new LineRig({ firstMessage: GREETING });
    await rig.start();
    rig.model.answer('Of course.');
    await rig.passes(afterMs);
    await rig.speaks(text, { lossDb });
    await rig.passes(3000);
    expect(userTexts(rig)).toEqual([text]);
    expect(rig.model.requests).toHaveLength(1);
  });

  it.each(each(['Hello, who is this?'], [400, 800], [0, 5, 10]))(
    'says "%s" after %i ms, %i dB lower, over an echo, and is heard',
    async (text, afterMs, lossDb) => {
      const rig = new LineRig({ firstMessage: GREETING, lossDb: 25, delayMs: 200 });
      await rig.start();
      rig.model.answer('Of course.');
      await rig.passes(afterMs);
      await rig.speaks(text, { lossDb });
      await rig.passes(3000);
      expect(rig.model.requests).toHaveLength(1);
    },
  );
});

describe('a greeting that comes back', () => {
  it.each(
    each(
      [GREETING, 'Hell low this is an a how can I help', 'hello the sis Anna how can eye help'],
      [60, 160, 320, 500],
      [5, 10, 20, 30],
    ),
  )('as "%s" after %i ms, %i dB lower, is no caller', async (text, delayMs, lossDb) => {
    const rig = new LineRig({ firstMessage: GREETING, lossDb, delayMs });
    await rig.start();
    await rig.passes(delayMs);
    await rig.echoes(text);
    await rig.passes(3000);
    expect([rig.player.clears, rig.model.requests.length, userTexts(rig)]).toEqual([0, 0, []]);
  });
});

describe('an answer that comes back', () => {
  const answering = async (lossDb: number) =>
    new LineRig({ firstMessage: ANSWER, lossDb, delayMs: 160 }).start();

  it.each([
    ['half of the agent’s words', 'open for ate to', 25, 0],
    ['half of them, which only the recognizer hears', 'open for ate to', 40, 0],
    ['one of two of them', 'from aid', 25, 0],
    ['fewer of them', 'often form ate to', 25, 1],
    ['none of them', 'I meant Sunday', 25, 1],
    ['a stop word among them', 'from eight wait', 25, 1],
  ])('with %s is taken for an echo, or is not', async (_, text, lossDb, clears) => {
    const rig = await answering(lossDb);
    await rig.passes(1400);
    rig.ears.events.partial(text);
    expect(rig.player.clears).toBe(clears);
  });

  it('is known to its end', async () => {
    const rig = await answering(30);
    await rig.passes(160);
    await rig.echoes(ANSWER);
    await rig.passes(2000);
    expect([rig.player.clears, userTexts(rig)]).toEqual([0, []]);
  });

  it('is known word by word, below what is heard as a voice, and when its end is recognized late', async () => {
    const rig = await answering(40);
    const words = ANSWER.slice(0, -1).split(' ');
    for (const word of words) {
      await rig.passes((word.length + 1) * MS_PER_CHAR);
      // The end of a word is all that is heard of some.
      rig.ears.events.partial(word.slice(-3));
      rig.ears.events.final(word.slice(-3));
    }
    await rig.passes(1500);
    rig.ears.events.final('like');
    await rig.passes(3000);
    expect([rig.player.clears, rig.model.requests.length, userTexts(rig)]).toEqual([0, 0, []]);
  });

  it('is known behind a click, and behind a caller who was loud before', async () => {
    const clicked = await answering(25);
    await clicked.passes(1100);
    await clicked.passes(20, new Int16Array(320).fill(5000));
    await clicked.passes(280);
    clicked.ears.events.partial('open for ate to');
    expect(clicked.player.clears).toBe(0);
    const earlier = await answering(25);
    await earlier.passes(1000);
    await earlier.passes(100, new Int16Array(1600).fill(5000));
    await earlier.passes(1900);
    earlier.ears.events.partial('six one Saturday');
    expect(earlier.player.clears).toBe(0);
  });

  it('interrupts nobody by its sound, however loud', async () => {
    const rig = await answering(2);
    await rig.passes(ANSWER.length * MS_PER_CHAR);
    expect(rig.player.clears).toBe(0);
  });

  it('does not hide a caller', async () => {
    const rig = await answering(10);
    await rig.passes(2000);
    await rig.passes(1200, spoken('I would like to say something', 8000, 45));
    expect(rig.player.clears).toBe(1);
  });
});
