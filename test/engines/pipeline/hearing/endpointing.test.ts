import { describe, expect, it } from 'vitest';
import { Endpointing, waitAfter } from '../../../../src/engines/pipeline/hearing/endpointing.js';
import { lexiconFor } from '../../../../src/engines/languages/lexicon.js';
import { DEFAULT_TURN_TAKING } from '../../../../src/engines/turn-taking.js';
import { FakeClock } from '../../../support/fake-clock.js';

const SETTINGS = { silences: DEFAULT_TURN_TAKING, lexicon: lexiconFor(undefined), isToldEnds: false };

describe('waitAfter', () => {
  it.each([
    ['', 500],
    ['I would like a table', 500],
    ['I would like a table.', 300],
    ['Are you open?', 300],
    ['Yes', 300],
    ['thank you', 300],
    ['I would like a table and', 1200],
    ['um', 1200],
    ['So, um,', 1200],
    ['My number is', 1200],
    ['I was thinking...', 1200],
    ['Well…', 1200],
    ['That is what I was looking for.', 300],
  ])('"%s": %i ms', (text, waitMs) => {
    expect(waitAfter(text, SETTINGS)).toBe(waitMs);
  });
});

type Step =
  | ['voiced' | 'quiet' | 'talk', number]
  | ['text' | 'interim', string]
  | ['stalled', number]
  | ['speech', number];

/** Runs the steps and tells when turns ended, and when their last voiced frame was. */
function run(steps: readonly Step[]): [endedAt: number, at: number][] {
  const clock = new FakeClock();
  const ends: [number, number][] = [];
  const endpointing = new Endpointing({
    ...SETTINGS,
    clock,
    onEndOfTurn: ({ endedAt }) => void ends.push([endedAt, clock.now()]),
  });
  for (const [kind, value] of steps) {
    if (kind === 'text' || kind === 'interim') endpointing.text(value, { isFinal: kind === 'text' });
    else if (kind === 'stalled') clock.advance(value);
    else if (kind === 'speech') endpointing.speechStarted(value);
    else
      for (let at = 0; at < Number(value); at += 20) {
        clock.advance(20);
        // A recognizer that writes what is said.
        if (kind === 'talk' && at % 1000 === 0) endpointing.text(`word ${at}`, { isFinal: false });
        endpointing.frame(kind !== 'quiet');
      }
  }
  expect(clock.pending).toBeLessThanOrEqual(1);
  return ends;
}

describe('Endpointing', () => {
  it.each<[string, Step[], [number, number][]]>([
    ['silence without speech is no turn', [['quiet', 5000]], []],
    [
      'waits 500 ms after plain text',
      [
        ['speech', 0],
        ['voiced', 400],
        ['text', 'a table'],
        ['quiet', 2000],
      ],
      [[400, 900]],
    ],
    [
      'waits 300 ms after a sentence',
      [
        ['speech', 0],
        ['voiced', 400],
        ['text', 'Yes.'],
        ['quiet', 2000],
      ],
      [[400, 700]],
    ],
    [
      'waits 1200 ms after a conjunction',
      [
        ['speech', 0],
        ['voiced', 400],
        ['text', 'ham and'],
        ['quiet', 2000],
      ],
      [[400, 1600]],
    ],
    [
      'a pause within the wait does not end it',
      [
        ['speech', 0],
        ['voiced', 400],
        ['quiet', 480],
        ['voiced', 100],
        ['quiet', 500],
      ],
      [[980, 1480]],
    ],
    [
      'text that comes in the silence shortens the wait',
      [
        ['speech', 0],
        ['voiced', 400],
        ['quiet', 400],
        ['text', 'Yes.'],
        ['quiet', 200],
      ],
      [[400, 820]],
    ],
    [
      'text without sound is a turn',
      [
        ['text', 'Hello'],
        ['quiet', 1000],
      ],
      [[0, 300]],
    ],
    [
      'ends by the clock where frames stop coming',
      [
        ['speech', 0],
        ['voiced', 400],
        ['stalled', 5000],
      ],
      [[400, 3400]],
    ],
    [
      'bunched frames do not end a turn',
      [
        ['speech', 0],
        ['voiced', 400],
        ['quiet', 320],
        ['stalled', 200],
        ['voiced', 100],
      ],
      [],
    ],
    [
      'a minute ends at the next short pause',
      [
        ['speech', 0],
        ['talk', 61_000],
        ['quiet', 200],
      ],
      [[61_000, 61_200]],
    ],
    [
      'a short pause in which a minute is full ends it',
      [
        ['speech', 0],
        ['talk', 59_780],
        ['quiet', 220],
      ],
      [[59_780, 60_000]],
    ],
    [
      'a minute and a half ends in any case',
      [
        ['speech', 0],
        ['talk', 90_000],
      ],
      [[90_000, 90_000]],
    ],
    [
      'words that no longer grow end a turn in a sound that goes on',
      [
        ['speech', 0],
        ['talk', 2000],
        ['interim', 'Are you open?'],
        ['voiced', 5000],
      ],
      [[2000, 3800]],
    ],
    [
      'so does a final text, when no new sound has begun behind it',
      [
        ['speech', 0],
        ['voiced', 1000],
        ['text', 'a table'],
        ['voiced', 5000],
      ],
      [[1000, 3000]],
    ],
    [
      'a sound behind a final text may be more, where the recognizer writes at the end only',
      [
        ['speech', 0],
        ['voiced', 1000],
        ['text', 'a table'],
        ['quiet', 200],
        ['speech', 1200],
        ['voiced', 5000],
        ['text', 'a table for two.'],
        ['quiet', 400],
      ],
      [[6200, 6500]],
    ],
    [
      'words that come again before that go on with the turn',
      [
        ['speech', 0],
        ['interim', 'a table'],
        ['voiced', 1900],
        ['interim', 'a table for two'],
        ['voiced', 1900],
      ],
      [],
    ],
    [
      'a sound of which nothing is written ends, sooner where words are written while they are said',
      [
        ['speech', 0],
        ['voiced', 10_000],
        ['interim', 'a table'],
        ['quiet', 500],
        ['speech', 10_500],
        ['voiced', 4000],
      ],
      [
        [9000, 9000],
        [10_000, 10_500],
        [13_500, 13_500],
      ],
    ],
  ])('%s', (_, steps, ends) => {
    expect(run(steps)).toEqual(ends);
  });

  it('leaves no timer behind a reset', () => {
    const clock = new FakeClock();
    const endpointing = new Endpointing({ ...SETTINGS, clock, onEndOfTurn: () => expect.unreachable() });
    endpointing.speechStarted(0);
    endpointing.reset();
    expect(clock.pending).toBe(0);
    expect(endpointing.active).toBe(false);
  });
});
