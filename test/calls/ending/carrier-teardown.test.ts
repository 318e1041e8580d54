import { beforeEach, describe, expect, it } from 'vitest';
import { CarrierError } from '../../../src/base/errors.js';
import type { CarrierWish } from '../../../src/calls/ending/call-ending.js';
import { CarrierTeardown } from '../../../src/calls/ending/carrier-teardown.js';
import type { HangUpState } from '../../../src/contract/call-record.js';
import { createFakeCarrier, createFakeCommands, FakeRest } from '../../support/call-fakes.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

const FAILURE = new Error('503');
const NOTE = 'hangup-failed The carrier did not confirm the end of the call: it may still be up there.';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('CarrierTeardown', () => {
  let clock: FakeClock;
  let rest: FakeRest;
  let logger: RecordedLogger;
  let notes: string[];
  let told: HangUpState[];
  let isDone: boolean;
  let isRecordKept: boolean;

  beforeEach(() => {
    clock = new FakeClock();
    rest = new FakeRest();
    logger = new RecordedLogger();
    notes = [];
    told = [];
    isDone = false;
    isRecordKept = true;
  });

  function bid(wish: CarrierWish, before?: Promise<boolean>, askedMs = 0): CarrierTeardown {
    const teardown = new CarrierTeardown({
      callId: 'call-1',
      wish,
      carrierCallId: () => 'X',
      before,
      carrier: createFakeCarrier({ rest, commands: createFakeCommands(rest) }),
      clock,
      logger,
      askedMs,
      isRecordKept: () => isRecordKept,
      tell: (state) => void told.push(state),
      note: (code, message) => void notes.push(`${code} ${message}`),
    });
    void teardown.done.then(() => (isDone = true));
    return teardown;
  }

  it.each<[CarrierWish, boolean, string[]]>([
    ['hang-up', false, ['hangUp X']],
    ['check', true, ['lookUp X']],
    ['check', false, ['lookUp X', 'hangUp X']],
    ['confirm', false, ['lookUp X', 'hangUp X']],
    ['stop-stream', false, ['stopStream X']],
  ])('%s of a call that is over at the carrier: %s', async (wish, over, requests) => {
    rest.over = over;
    bid(wish);
    await clock.advanceAsync(5000);
    expect(rest.requests).toEqual(requests);
    expect(isDone).toBe(true);
    expect(notes).toEqual([]);
    expect(told).toEqual(wish === 'stop-stream' ? [] : ['pending', 'done']);
    expect(clock.pending).toBe(0);
  });

  it('asks nothing when the carrier reports the end in time', async () => {
    const teardown = bid('confirm');
    await clock.advanceAsync(4999);
    expect(rest.requests).toEqual([]);
    teardown.carrierSaysOver();
    await clock.advanceAsync(5000);
    expect(rest.requests).toEqual([]);
    expect(isDone).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it('tries again after a pause, and is content when the carrier says that the call is over', async () => {
    rest.failures.hangUp = FAILURE;
    rest.over = true;
    bid('hang-up');
    await clock.advanceAsync(1999);
    expect(rest.requests).toEqual(['hangUp X']);
    await clock.advanceAsync(1);
    expect(rest.requests).toEqual(['hangUp X', 'lookUp X']);
    expect(notes).toEqual([]);
  });

  it.each([4000, MINUTE_MS, HOUR_MS, 20 * HOUR_MS])(
    'hangs up after an outage of %i ms, some minutes later at most',
    async (ms) => {
      rest.failure = FAILURE;
      const teardown = bid('hang-up');
      await clock.advanceAsync(ms);
      expect(await teardown.tried).toBe('pending');
      expect([told, notes, isDone]).toEqual([['pending'], [], false]);
      rest.failure = undefined;
      await clock.advanceAsync(Math.min(ms, 5 * MINUTE_MS));
      expect([told, notes, isDone]).toEqual([['pending', 'done'], [], true]);
      expect(clock.pending).toBe(0);
    },
  );

  it('asks less and less often: some three hundred times a day, and no more then', async () => {
    rest.failure = FAILURE;
    bid('hang-up');
    await clock.advanceAsync(MINUTE_MS);
    expect(rest.of('hangUp')).toHaveLength(5);
    await clock.advanceAsync(25 * HOUR_MS);
    expect(rest.of('hangUp').length).toBeLessThan(300);
    expect([told, notes, isDone]).toEqual([['pending', 'failed'], [NOTE], true]);
    expect(logger.lines.at(-1)).toMatchObject({ level: 'error', fields: { callId: 'call-1' } });
    expect(clock.pending).toBe(0);
  });

  it('counts the time that a process before this one has asked', async () => {
    rest.failure = FAILURE;
    bid('check', undefined, 23 * HOUR_MS);
    await clock.advanceAsync(HOUR_MS + 5 * MINUTE_MS);
    expect(told).toEqual(['pending', 'failed']);
    bid('check', undefined, 24 * HOUR_MS);
    await clock.advanceAsync(0);
    expect(told).toEqual(['pending', 'failed', 'pending', 'failed']);
  });

  it.each([{ status: 401 }, { status: 403 }, { status: 404, isFinal: true }])(
    'gives up at once where the carrier has said its last word with %j, and says so',
    async (failure) => {
      rest.failures.hangUp = new CarrierError('No.', { retryable: false, ...failure });
      const teardown = bid('hang-up');
      await clock.advanceAsync(0);
      expect(await teardown.tried).toBe('failed');
      expect([rest.requests, told, notes]).toEqual([['hangUp X'], ['pending', 'failed'], [NOTE]]);
      expect(logger.lines.at(-1)).toMatchObject({ level: 'error' });
    },
  );

  it.each([null, 404, 422, 429, 500, 503])('goes on where the answer may change: %s', async (status) => {
    rest.failure = new CarrierError('No.', { status, retryable: false });
    bid('hang-up');
    await clock.advanceAsync(HOUR_MS);
    expect([told, isDone]).toEqual([['pending'], false]);
  });

  it('asks at once when something is heard of the leg, or somebody wants it', async () => {
    rest.failure = FAILURE;
    const teardown = bid('hang-up');
    await clock.advanceAsync(HOUR_MS);
    const before = rest.of('hangUp').length;
    teardown.nudge();
    await clock.advanceAsync(0);
    expect(rest.of('hangUp')).toHaveLength(before + 1);
    const tried = teardown.tryNow();
    expect(await tried).toBe('pending');
    rest.failure = undefined;
    expect(await teardown.tryNow()).toBe('done');
    expect(told).toEqual(['pending', 'done']);
  });

  it('answers everybody who wants it, whenever they ask', async () => {
    rest.failure = FAILURE;
    const teardown = bid('hang-up');
    await clock.advanceAsync(HOUR_MS);
    const atOnce = [teardown.tryNow(), teardown.tryNow()];
    expect(await Promise.all(atOnce)).toEqual(['pending', 'pending']);
    let answer = () => {};
    rest.answer = new Promise((resolve) => (answer = resolve));
    const first = teardown.tryNow();
    await clock.advanceAsync(0);
    const whileItIsTried = teardown.tryNow();
    answer();
    expect(await Promise.all([first, whileItIsTried])).toEqual(['pending', 'pending']);
    expect(rest.of('hangUp').length).toBeLessThan(25);
  });

  it('tells who wants it in the middle of a try how that one went', async () => {
    rest.failure = FAILURE;
    const teardown = bid('hang-up');
    await clock.advanceAsync(0);
    expect(await teardown.tried).toBe('pending');
    rest.failure = undefined;
    let answer = () => {};
    rest.answer = new Promise((resolve) => (answer = resolve));
    await clock.advanceAsync(2000);
    const asked = teardown.tryNow();
    answer();
    expect(await asked).toBe('done');
    expect(await teardown.tryNow()).toBe('done');
  });

  it('is not disturbed by what is heard of a leg that the carrier may end by itself', async () => {
    const teardown = bid('confirm');
    teardown.nudge();
    await clock.advanceAsync(4000);
    expect(rest.requests).toEqual([]);
  });

  it('is spared the second try by a report', async () => {
    rest.failures.hangUp = FAILURE;
    const teardown = bid('hang-up');
    await clock.advanceAsync(500);
    teardown.carrierSaysOver();
    await clock.advanceAsync(5000);
    expect(rest.requests).toEqual(['hangUp X']);
    expect(notes).toEqual([]);
  });

  describe.each([
    { kept: true, what: 'leaves what is open to the next process', states: ['pending'], note: [] },
    {
      kept: false,
      what: 'says that it has failed where no process would know',
      states: ['pending', 'failed'],
      note: [NOTE],
    },
  ])('when the server stops, it $what', ({ kept, states, note }) => {
    beforeEach(() => {
      isRecordKept = kept;
    });

    it('after one more try', async () => {
      rest.failures.hangUp = FAILURE;
      const teardown = bid('hang-up');
      await clock.advanceAsync(0);
      teardown.hurry();
      await clock.advanceAsync(0);
      expect(rest.requests).toEqual(['hangUp X', 'lookUp X', 'hangUp X']);
      expect([isDone, told, notes, clock.pending]).toEqual([true, states, note, 0]);
    });

    it('after one more try in the middle of a long pause', async () => {
      rest.failure = FAILURE;
      const teardown = bid('hang-up');
      await clock.advanceAsync(HOUR_MS);
      const before = rest.of('hangUp').length;
      teardown.hurry();
      await clock.advanceAsync(0);
      expect(rest.of('hangUp')).toHaveLength(before + 1);
      expect([isDone, told, notes, clock.pending]).toEqual([true, states, note, 0]);
    });

    it('abandoned, without waiting for anybody, once', async () => {
      rest.answer = new Promise(() => {});
      const teardown = bid('hang-up');
      teardown.abandon();
      teardown.abandon();
      await clock.advanceAsync(10_000);
      expect([isDone, told, notes, clock.pending]).toEqual([true, states, note, 0]);
      expect(await teardown.tried).toBe(states.at(-1));
    });
  });

  it.each([
    [true, ['hangUp X']],
    [false, []],
  ])('waits for what must be known first: %s', async (answer, requests) => {
    let know: (value: boolean) => void = () => {};
    bid('hang-up', new Promise((resolve) => (know = resolve)));
    await clock.advanceAsync(5000);
    expect(rest.requests).toEqual([]);
    know(answer);
    await clock.advanceAsync(0);
    expect(rest.requests).toEqual(requests);
    expect(isDone).toBe(true);
  });

  it('asks nobody without credentials', async () => {
    rest.configured = false;
    bid('hang-up');
    await clock.advanceAsync(0);
    expect(rest.requests).toEqual([]);
    expect(isDone).toBe(true);
  });
});
