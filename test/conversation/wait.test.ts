import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Awaited,
  beginWait,
  deadlineOf,
  endWait,
  excuse,
  isTakenOver,
  isWaiting,
  leftMs,
  minAnswerMs,
  NOBODY_WAITS,
  onClock,
  silentMs,
  takeOverWait,
  type Wait,
  waitedMs,
  withoutSound,
  withSound,
  withWords,
} from '../../src/conversation/wait.js';

const REPLACEABLE: Wait = { ...NOBODY_WAITS, isReplaceable: true };

/** A caller who waits since `since`, as known at `at`. */
function waiting(since: number, { at = since, minMs = 0, wait = NOBODY_WAITS } = {}): Wait {
  return beginWait(wait, { since, at, minMs });
}

/** What whoever had the call before has left of a wait of so long. */
function leaving(ms: number, at: number): Wait {
  return waiting(at - ms, { at });
}

function lefts(wait: Wait, at: number, ...awaited: Awaited[]): number[] {
  return awaited.map((each) => leftMs(wait, each, at));
}

describe('the wait of a caller', () => {
  it('has no end while nobody waits', () => {
    expect(leftMs(NOBODY_WAITS, 'any', 0)).toBe(Number.POSITIVE_INFINITY);
    const over = endWait(waiting(0), 0);
    expect(lefts(over, 0, 'any', 'words')).toEqual([Infinity, Infinity]);
  });

  it('leaves the carrier time to be heard within five seconds, and the voice some before that', () => {
    expect(lefts(waiting(400, { at: 1000 }), 1000, 'any', 'words')).toEqual([4000, 3600]);
  });

  it('is shorter where another voice mode can answer', () => {
    expect(leftMs(waiting(0, { wait: REPLACEABLE }), 'any', 0)).toBe(2950);
  });

  it('goes on until it is ended, and is then for what is owed after that', () => {
    const longer = waiting(2900, { at: 3000, wait: waiting(0) });
    expect([leftMs(longer, 'any', 3000), silentMs(longer, 3000)]).toEqual([1600, 3000]);
    const next = waiting(2900, { at: 3000, wait: endWait(longer, 3000) });
    expect([leftMs(next, 'any', 3000), silentMs(next, 3000)]).toEqual([4500, 100]);
  });

  it('leaves an answer the time that it has in any case, and then none for the voice to apologize', () => {
    const wait = waiting(0, { at: 3500 });
    expect(lefts(wait, 3500, 'any', 'words')).toEqual([1100, 700]);
    const answered = waiting(0, { at: 3500, minMs: minAnswerMs(wait), wait });
    expect(lefts(answered, 3500, 'any', 'words')).toEqual([1600, 1600]);
  });

  it('leaves an answer less where another voice mode can answer', () => {
    const wait = waiting(0, { at: 3000, minMs: minAnswerMs(REPLACEABLE), wait: REPLACEABLE });
    expect(lefts(wait, 3000, 'any', 'words')).toEqual([800, 800]);
  });

  it('begins behind the last sound', () => {
    const wait = withSound(waiting(0), 2000);
    expect(leftMs(wait, 'any', 1500)).toBe(5100);
    expect(leftMs(withoutSound(wait, 1500), 'any', 1500)).toBe(4600);
  });

  it('does not count the silence that the application needs', () => {
    const wait = withSound(waiting(0), 1000);
    // Of these 2500 ms the caller heard something for 500.
    const excused = excuse(wait, { from: 500, at: 3000 });
    expect(leftMs(excused, 'any', 3000)).toBe(4600);
    expect(leftMs(excuse(excused, { from: 3500, at: 4000 }), 'any', 4000)).toBe(4100);
  });

  it('counts what the application takes once, whoever tells of it', () => {
    const once = excuse(waiting(-2000, { at: 0 }), { from: 0, at: 1000 });
    expect(leftMs(excuse(once, { from: 500, at: 1200 }), 'any', 1200)).toBe(2600);
  });

  it('excuses nothing while the voice has words that do not sound', () => {
    const wait = withWords(waiting(0), { has: true, at: 0 });
    expect(leftMs(excuse(wait, { from: 500, at: 2000 }), 'any', 2000)).toBe(2600);
  });

  it('says how long the caller has waited, whatever they wait longer for an answer', () => {
    const told = (wait: Wait, at: number) => [waitedMs(wait, 'any', at), leftMs(wait, 'any', at)];
    expect(waitedMs(NOBODY_WAITS, 'any', 0)).toBe(0);
    const wait = waiting(0, { at: 4000, minMs: 1200 });
    expect([...told(wait, 4000), waitedMs(wait, 'words', 4000)]).toEqual([4000, 1200, 4000]);
    const heard = withSound(wait, 5000);
    expect(told(heard, 4000)).toEqual([0, 5600]);
    expect(told(heard, 5500)).toEqual([500, 4100]);
    // Another wait has its own.
    expect(told(waiting(5400, { at: 5500, wait: endWait(heard, 5500) }), 5500)).toEqual([100, 4500]);
  });

  it('excuses the application from a wait that is longer than others', () => {
    const wait = waiting(0, { at: 4000, minMs: 1200 });
    expect(leftMs(excuse(wait, { from: 4000, at: 5000 }), 'any', 5000)).toBe(1200);
  });

  it('grants nobody what the application took before it was granted', () => {
    const wait = waiting(9000, { at: 9000, wait: waiting(0, { minMs: 1600 }) });
    expect(leftMs(excuse(wait, { from: 0, at: 9000 }), 'any', 9000)).toBe(4600);
  });

  it('is not for words while the voice has some to say', () => {
    const wait = withWords(waiting(0), { has: true, at: 0 });
    expect(leftMs(wait, 'words', 0)).toBe(Number.POSITIVE_INFINITY);
    const heard = withSound(wait, 500);
    expect(leftMs(heard, 'words', 0)).toBe(4700);
    expect(leftMs(withWords(heard, { has: false, at: 500 }), 'words', 500)).toBe(4200);
  });

  it('gives the voice an end also where nobody waits, and a moment in any case', () => {
    expect(leftMs(NOBODY_WAITS, 'sound', 0)).toBe(Number.POSITIVE_INFINITY);
    const words = withWords(NOBODY_WAITS, { has: true, at: 1000 });
    expect([leftMs(words, 'sound', 1000), waitedMs(words, 'sound', 1500)]).toEqual([4600, 500]);
    const late = waiting(-3500, { at: 1000, wait: words });
    expect(lefts(late, 1000, 'any', 'sound')).toEqual([100, 400]);
    expect(leftMs(withWords(late, { has: true, at: 1400 }), 'sound', 1400)).toBe(0);
  });

  it('that was taken over goes on in what is said first', () => {
    const taken = takeOverWait(NOBODY_WAITS, leaving(2000, 9000), 9000);
    const said = waiting(9000, { minMs: 3000, wait: taken });
    expect(leftMs(said, 'any', 9000)).toBe(2600);
    expect(leftMs(waiting(9000, { wait: endWait(said, 9000) }), 'any', 9000)).toBe(4600);
  });

  it('that was taken over is not ended by what was before that, and is news for as long as it leaves', () => {
    const taken = takeOverWait(NOBODY_WAITS, leaving(9000, 20_000), 20_000);
    expect(endWait(taken, 19_999)).toEqual(taken);
    expect([isTakenOver(taken, 21_249), isTakenOver(taken, 21_250)]).toEqual([true, false]);
    expect(takeOverWait(NOBODY_WAITS, NOBODY_WAITS, 20_000)).toEqual(NOBODY_WAITS);
  });

  it('tells how long nothing was heard in it, whoever took the time', () => {
    expect(silentMs(NOBODY_WAITS, 0)).toBe(0);
    const wait = withSound(waiting(0), 1000);
    expect(silentMs(wait, 900)).toBe(0);
    const excused = excuse(wait, { from: 2000, at: 5900 });
    expect(silentMs(excused, 5900)).toBe(4900);
    const over = endWait(excused, 5900);
    expect(silentMs(over, 5900)).toBe(0);
    expect(silentMs(takeOverWait(over, leaving(9000, 5900), 5900), 5900)).toBe(4900);
  });

  it('is on until it has been over for a second', () => {
    expect(isWaiting(NOBODY_WAITS, 0)).toBe(false);
    expect([isWaiting(waiting(0), 5599), isWaiting(waiting(0), 5600)]).toEqual([true, false]);
  });

  it.each([
    [0, 4600],
    [1000, 3600],
    [3080, 1520],
    [9000, 1250],
  ])('is taken over after %i ms with %i left', (ms, left) => {
    expect(leftMs(takeOverWait(NOBODY_WAITS, leaving(ms, 20_000), 20_000), 'any', 20_000)).toBe(left);
  });
});

describe('whatever happens to a wait', () => {
  const ms = fc.integer({ min: 0, max: 6000 });
  const happening: fc.Arbitrary<(wait: Wait, at: number) => Wait> = fc.oneof(
    fc.tuple(ms, ms).map(([ago, minMs]) => (wait: Wait, at: number) => {
      return beginWait(wait, { since: at - ago, at, minMs });
    }),
    fc.constant(endWait),
    fc.constant(withoutSound),
    ms.map((ahead) => (wait: Wait, at: number) => withSound(wait, at + ahead)),
    fc.boolean().map((has) => (wait: Wait, at: number) => withWords(wait, { has, at })),
    ms.map((ago) => (wait: Wait, at: number) => excuse(wait, { from: at - ago, at })),
    ms.map((ago) => (wait: Wait, at: number) => takeOverWait(wait, leaving(ago, at), at)),
  );
  const schedule = fc.record({
    isReplaceable: fc.boolean(),
    steps: fc.array(fc.record({ afterMs: ms, happening }), { maxLength: 20 }),
  });
  const played = ({ isReplaceable, steps }: typeof schedule extends fc.Arbitrary<infer S> ? S : never) => {
    let [wait, at]: [Wait, number] = [{ ...NOBODY_WAITS, isReplaceable }, 0];
    return steps.map((step) => {
      at += step.afterMs;
      wait = step.happening(wait, at);
      return { wait, at };
    });
  };
  const each = (check: (wait: Wait, at: number) => void) =>
    fc.assert(
      fc.property(schedule, (steps) => {
        for (const { wait, at } of played(steps)) check(wait, at);
      }),
    );

  it('it is the same when it was stored and read again', () => {
    each((wait) => expect(JSON.parse(JSON.stringify(wait))).toEqual(wait));
  });

  it('it is the same wait on another clock', () => {
    each((wait, at) => {
      const moved = onClock(wait, 5000);
      expect(silentMs(moved, at + 5000)).toBe(silentMs(wait, at));
      expect(onClock(moved, -5000)).toEqual(wait);
      for (const awaited of ['any', 'words', 'sound'] as const)
        expect(leftMs(moved, awaited, at + 5000)).toBe(leftMs(wait, awaited, at));
    });
  });

  it('time alone moves no deadline back, and none on but that for words, which nobody waits for while some sound', () => {
    each((wait, at) => {
      for (const passedMs of [1, 300, 5000]) {
        for (const awaited of ['any', 'sound'] as const)
          expect(deadlineOf(wait, awaited, at + passedMs)).toBe(deadlineOf(wait, awaited, at));
        const [now, then] = [deadlineOf(wait, 'words', at), deadlineOf(wait, 'words', at + passedMs)];
        expect(then === null || then === now).toBe(true);
      }
    });
  });

  it('the caller has heard nothing for no longer than there was no sound, and without what was excused', () => {
    each((wait, at) => {
      expect(waitedMs(wait, 'any', at)).toBeLessThanOrEqual(silentMs(wait, at));
      if (wait.soundsUntil !== null)
        expect(silentMs(wait, at)).toBeLessThanOrEqual(Math.max(0, at - wait.soundsUntil));
    });
  });

  it('there is something to say before the wait is over, unless it was granted to the last', () => {
    each((wait, at) => {
      const [words, end] = [deadlineOf(wait, 'words', at), deadlineOf(wait, 'any', at)];
      if (words !== null && end !== null) expect(words).toBeLessThanOrEqual(end);
    });
  });

  it('a sound of the caller ends it', () => {
    each((wait, at) => {
      const over = endWait(wait, at);
      expect([silentMs(over, at), deadlineOf(over, 'any', at), isWaiting(over, at)]).toEqual([
        0,
        null,
        false,
      ]);
    });
  });
});
