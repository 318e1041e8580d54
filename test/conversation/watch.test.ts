// The rules of what a model owes as a value; with the timer of its holder they stand in `engines/realtime-watch.test.ts`.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beginWait, NOBODY_WAITS } from '../../src/conversation/wait.js';
import {
  alive,
  back,
  began,
  cameToNothing,
  deadlineOf,
  due,
  ended,
  lost,
  opening,
  owes,
  owesCaller,
  ready,
  rest,
  type Watch,
  watching,
} from '../../src/conversation/watch.js';

const LAST = watching({ isReplaceable: false });
const up = (watch: Watch) => ready(opening(watch, { left: undefined, at: 0 }), 0);
const leaving = (ms: number, at: number) => beginWait(NOBODY_WAITS, { since: at - ms, at });

describe('what a model owes', () => {
  it('has no deadline while it owes nothing', () => {
    expect([deadlineOf(LAST), deadlineOf(up(LAST))]).toEqual([null, null]);
  });

  it.each([
    [0, 4500],
    [2000, 2500],
    [4000, 1500],
  ])('is a connection and an answer in what %i ms of waiting have left', (waitedMs, leftMs) => {
    const left = leaving(waitedMs, 10_000);
    const open = opening(LAST, { left, at: 10_000 });
    expect(deadlineOf(open)).toBe(10_000 + leftMs);
    const asked = ready(owes(open, { isAsked: true, waitedMs: 0, at: 10_000 }), 10_500);
    expect(deadlineOf(asked)).toBe(10_000 + leftMs);
    expect(deadlineOf(began(asked, 11_000))).toBe(15_000);
  });

  it('is found once, and nothing is before its time', () => {
    const watch = owes(up(LAST), { isAsked: false, waitedMs: 0, at: 1000 });
    expect(due(watch, 2999)).toEqual({ watch, found: undefined });
    const late = due(watch, 3000);
    expect([late.found, deadlineOf(late.watch)]).toEqual(['late', null]);
    const asked = owes(late.watch, { isAsked: true, waitedMs: 0, at: 3000 });
    const silent = due(asked, 5000);
    expect([silent.found, deadlineOf(silent.watch), due(silent.watch, 9000).found]).toEqual([
      'silent',
      null,
      undefined,
    ]);
  });

  it('is asked for again in the time that is left where it came to nothing', () => {
    const watch = began(owes(up(LAST), { isAsked: true, waitedMs: 300, at: 0 }), 1000);
    expect(deadlineOf(cameToNothing(watch, 1200))).toBe(1200 + 4000 - 1300);
  });

  it('is another connection in what an unanswered caller has left, whom the model may have missed', () => {
    const watch = up(watching({ isReplaceable: true }));
    const by = (unansweredMs: number | null, agoMs = 0) =>
      deadlineOf(lost(watch, { agoMs, unansweredMs, at: 10_000 }));
    expect([by(null), by(0), by(2000, 1000), by(2000, 3000)]).toEqual([12_500, 12_500, 11_450, 10_950]);
    const owing = lost(owesCaller(watch, { agoMs: 500, at: 9000 }), {
      agoMs: 0,
      unansweredMs: 2000,
      at: 10_000,
    });
    expect(deadlineOf(owing)).toBe(10_225);
    expect(deadlineOf(rest(owing, 10_000))).toBe(10_950);
  });
});

describe('whatever happens to a model', () => {
  const ms = fc.integer({ min: 0, max: 6000 });
  type Happening = (watch: Watch, at: number) => Watch;
  const happening: fc.Arbitrary<Happening> = fc.oneof(
    fc.constantFrom<Happening>(ready, back, began, alive, ended, cameToNothing, rest),
    fc.constant<Happening>((watch, at) => due(watch, at).watch),
    fc.option(ms, { nil: undefined }).map(
      (waitedMs): Happening =>
        (watch, at) => {
          return opening(watch, { left: waitedMs === undefined ? undefined : leaving(waitedMs, at), at });
        },
    ),
    fc.tuple(ms, fc.option(ms)).map(
      ([agoMs, unansweredMs]): Happening =>
        (watch, at) => {
          return lost(watch, { agoMs, unansweredMs, at });
        },
    ),
    fc.tuple(fc.boolean(), ms).map(
      ([isAsked, waitedMs]): Happening =>
        (watch, at) => {
          return owes(watch, { isAsked, waitedMs, at });
        },
    ),
    ms.map(
      (agoMs): Happening =>
        (watch, at) =>
          owesCaller(watch, { agoMs, at }),
    ),
  );
  const steps = fc.array(fc.record({ afterMs: ms, happening }), { maxLength: 20 });
  const each = (check: (watch: Watch, at: number) => void) =>
    fc.assert(
      fc.property(fc.boolean(), steps, (isReplaceable, all) => {
        let [watch, at] = [watching({ isReplaceable }), 0];
        for (const step of all) {
          at += step.afterMs;
          watch = step.happening(watch, at);
          check(watch, at);
        }
      }),
    );

  it('it is the same when it was stored and read again', () => {
    each((watch) => expect(JSON.parse(JSON.stringify(watch))).toEqual(watch));
  });

  it('nothing is found before the deadline, something at it, and each once', () => {
    each((watch) => {
      const deadline = deadlineOf(watch);
      if (deadline === null) return;
      expect(due(watch, deadline - 1)).toEqual({ watch, found: undefined });
      let [left, found] = [watch, [] as (string | undefined)[]];
      for (let at = deadlineOf(left); at !== null && found.length < 5; at = deadlineOf(left)) {
        const next = due(left, at);
        found = [...found, next.found];
        left = next.watch;
      }
      expect(found).not.toContain(undefined);
      expect(found.length).toBeLessThanOrEqual(3);
    });
  });

  it('an answer that is owed with a connection is looked for within the longest silence', () => {
    each((watch, at) => {
      if (!watch.isReady) return;
      const deadline = deadlineOf(owes(watch, { isAsked: false, waitedMs: 0, at })) ?? Infinity;
      expect(deadline - at).toBeLessThanOrEqual(4500);
    });
  });
});
