import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/conversation/limits.js';
import {
  apologyBegun,
  deadlineOf,
  due,
  ended,
  failed,
  type Failing,
  isHeardOut,
  missed,
  NO_TROUBLE,
  saidAll,
  silenced,
  type Trouble,
  type TroubleStep,
} from '../../src/conversation/trouble.js';
import { beginWait, NOBODY_WAITS } from '../../src/conversation/wait.js';
import { runs } from '../support/depth.js';

const { soundMs, longestMs } = LIMITS.apology;

const FAILING: Failing = {
  stage: 'llm',
  isPassing: false,
  hasFallback: false,
  isLeaving: false,
  hasVoice: true,
  isHeld: false,
  isAwaited: false,
  awaitedSince: null,
  wait: NOBODY_WAITS,
  at: 10_000,
};

const fails = (change: Partial<Failing> = {}, trouble: Trouble = NO_TROUBLE) =>
  failed(trouble, { ...FAILING, ...change });

describe('who tells the caller of a failure', () => {
  it.each<[string, Partial<Failing>, string]>([
    ['the agent, of a model', {}, 'apologize'],
    ['the agent, of the recognizer', { stage: 'stt' }, 'apologize'],
    ['the agent, of one turn, and the call goes on', { isPassing: true }, 'apologize-for-turn'],
    ['the carrier, of the voice', { stage: 'tts' }, 'leave-to-carrier'],
    ['the carrier, where no voice was opened', { hasVoice: false }, 'leave-to-carrier'],
    ['the carrier, where nobody listens to the agent', { isHeld: true }, 'leave-to-carrier'],
    ['nobody, where another engine goes on', { hasFallback: true }, 'hand-over'],
    ['nobody, of one turn that another engine answers', { hasFallback: true, isPassing: true }, 'hand-over'],
    ['nobody, of the recognizer in a goodbye', { stage: 'stt', isLeaving: true }, 'do-without'],
    ['the agent, of the model in a goodbye', { isLeaving: true }, 'apologize'],
  ])('%s', (_, change, recourse) => {
    expect(fails(change).recourse.type).toBe(recourse);
  });

  it('the agent, of a recognizer that is missed after all', () => {
    const { trouble } = fails({ stage: 'stt', isLeaving: true });
    expect(fails({ stage: 'stt' }, trouble).recourse.type).toBe('nothing');
    expect(fails({ stage: 'stt' }, missed(trouble)).recourse.type).toBe('apologize');
  });

  it('the carrier, where the voice fails in the apology; of anything else that fails then nobody is told', () => {
    const { trouble } = fails();
    expect(fails({}, trouble).recourse.type).toBe('nothing');
    expect(fails({ isPassing: true }, trouble).recourse.type).toBe('nothing');
    expect(fails({ stage: 'tts' }, trouble).recourse.type).toBe('leave-to-carrier');
  });
});

describe('the silence that is told of', () => {
  const wait = beginWait(NOBODY_WAITS, { since: 7000, at: 7000 });

  it('began when the caller began to wait, or with the failure where they did not', () => {
    expect(fails({ wait, hasFallback: true }).recourse).toMatchObject({ silentSince: 7000 });
    expect(fails({ hasFallback: true }).recourse).toMatchObject({ silentSince: 10_000 });
  });

  it('is that of the first failure', () => {
    const { trouble } = fails({ wait });
    const later = fails({ stage: 'tts', wait: NOBODY_WAITS, at: 11_000 }, trouble);
    expect(later.recourse).toMatchObject({ silentSince: 7000 });
  });
});

describe('the apology of the agent', () => {
  it('is left to the carrier where it does not sound in time, or when the caller has waited too long', () => {
    const { trouble } = fails();
    expect(deadlineOf(trouble)).toBe(10_000 + soundMs);
    const wait = beginWait(NOBODY_WAITS, { since: 6000, at: 6000 });
    const tired = fails({ wait }).trouble;
    expect(deadlineOf(tired)).toBe(6000 + LIMITS.silence.lastMs);
    const late = due(tired, { isAudible: false, at: 11_000 });
    expect(late.recourse).toMatchObject({ type: 'leave-to-carrier', stops: true, silentSince: 6000 });
  });

  it('comes behind what is heard, within its time', () => {
    const at = 10_000 + soundMs;
    const behind = due(fails().trouble, { isAudible: true, at });
    expect(behind.recourse.type).toBe('nothing');
    expect(deadlineOf(behind.trouble)).toBe(10_000 + longestMs);
    const late = due(behind.trouble, { isAudible: true, at: 10_000 + longestMs });
    expect(late.recourse.type).toBe('leave-to-carrier');
  });

  it('ends the call when it was heard, when it comes to no end, and not when the voice gave nothing of it', () => {
    const { trouble } = fails();
    const begun = apologyBegun(trouble, 10_500);
    expect(saidAll(begun).recourse.type).toBe('end');
    expect(due(begun, { isAudible: true, at: 10_500 + longestMs }).recourse.type).toBe('end');
    expect(saidAll(trouble).recourse.type).toBe('leave-to-carrier');
  });

  it('is not cut off once more by a hold, which nobody hears it in', () => {
    expect(silenced(fails().trouble).recourse).toMatchObject({ type: 'leave-to-carrier', stops: false });
    expect(silenced(NO_TROUBLE).recourse.type).toBe('nothing');
  });
});

describe('whatever fails, and whenever,', () => {
  const stage = fc.constantFrom('stt', 'llm', 'tts', 'engine');
  const happening = fc.oneof(
    fc.record({
      type: fc.constant('failed' as const),
      change: fc.record({
        stage: stage as fc.Arbitrary<Failing['stage']>,
        isPassing: fc.boolean(),
        hasVoice: fc.boolean(),
        isHeld: fc.boolean(),
        isLeaving: fc.boolean(),
      }),
    }),
    fc.record({ type: fc.constantFrom('begun' as const, 'said', 'held', 'missed', 'wait') }),
  );

  it('the caller is told once, or the call goes on, and an apology is over within its deadline', () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 20 }), fc.boolean(), (schedule, isAudible) => {
        let trouble: Trouble = NO_TROUBLE;
        let at = 10_000;
        let apologizingSince: number | undefined;
        const told: string[] = [];
        const follow = (step: TroubleStep) => {
          trouble = JSON.parse(JSON.stringify(step.trouble));
          const { type } = step.recourse;
          if (type === 'apologize') {
            expect(apologizingSince).toBeUndefined();
            apologizingSince = at;
          }
          if (type === 'hand-over' || type === 'leave-to-carrier' || type === 'end') told.push(type);
        };
        for (const one of schedule) {
          if (one.type === 'failed') follow(failed(trouble, { ...FAILING, ...one.change, at }));
          else if (one.type === 'begun') trouble = apologyBegun(trouble, at);
          else if (one.type === 'said') follow(saidAll(trouble));
          else if (one.type === 'held') follow(silenced(trouble));
          else if (one.type === 'missed') trouble = missed(trouble);
          else {
            at += 1000;
            follow(due(trouble, { isAudible, at }));
          }
        }
        for (let dueAt = deadlineOf(trouble); dueAt !== null; dueAt = deadlineOf(trouble)) {
          at = Math.max(at, dueAt);
          follow(due(trouble, { isAudible, at }));
        }
        expect(told.length).toBeLessThanOrEqual(1);
        if (apologizingSince === undefined) return;
        expect(told).toHaveLength(1);
        expect(trouble.phase).toBe('over');
        expect(deadlineOf(ended(trouble))).toBeNull();
      }),
      { numRuns: runs(200, 20_000) },
    );
  });
});

describe('what a model has said that is gone', () => {
  const gone = { hasFallback: false, isLeaving: false, isHeld: false, isResponding: false, inHandMs: 3000 };

  it.each([
    ['is heard to its end', {}, true],
    ['is not, where nobody listens', { isHeld: true }, false],
    ['is not, where it takes too long', { inHandMs: LIMITS.session.inHandMs + 1 }, false],
    ['is not, where another engine can hear the caller at once', { hasFallback: true }, false],
    ['is, where the call ends with it and all of it is there', { hasFallback: true, isLeaving: true }, true],
    [
      'is not, where another engine can say the rest of a goodbye',
      { hasFallback: true, isLeaving: true, isResponding: true },
      false,
    ],
  ])('%s', (_, change, heardOut) => {
    expect(isHeardOut({ ...gone, ...change })).toBe(heardOut);
  });
});
