import { beforeEach, describe, expect, it } from 'vitest';
import type { CarrierWish } from '../../src/calls/call-ending.js';
import { Farewell } from '../../src/calls/farewell.js';
import { createFakeCarrier, createFakeCommands, FakeRest } from '../support/call-fakes.js';
import { FakeClock } from '../support/fake-clock.js';
import { RecordedLogger } from '../support/recorded-logger.js';

const FAILURE = new Error('503');

describe('Farewell', () => {
  let clock: FakeClock;
  let rest: FakeRest;
  let notes: string[];
  let isDone: boolean;

  beforeEach(() => {
    clock = new FakeClock();
    rest = new FakeRest();
    notes = [];
    isDone = false;
  });

  function bid(wish: CarrierWish, before?: Promise<boolean>): Farewell {
    const farewell = new Farewell({
      callId: 'call-1',
      wish,
      carrierCallId: () => 'X',
      before,
      carrier: createFakeCarrier({ rest, commands: createFakeCommands(rest) }),
      clock,
      logger: new RecordedLogger(),
      note: (code, message) => void notes.push(`${code} ${message}`),
    });
    void farewell.done.then(() => (isDone = true));
    return farewell;
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
    expect(clock.pending).toBe(0);
  });

  it('asks nothing when the carrier reports the end in time', async () => {
    const farewell = bid('confirm');
    await clock.advanceAsync(4999);
    expect(rest.requests).toEqual([]);
    farewell.carrierSaysOver();
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

  it('notes on the record that nothing has helped', async () => {
    rest.failure = FAILURE;
    bid('check');
    await clock.advanceAsync(2000);
    expect(rest.requests).toEqual(['lookUp X', 'hangUp X', 'lookUp X', 'hangUp X']);
    expect(notes).toEqual(['CARRIER_FAILED The carrier did not confirm the end of the call.']);
    expect(isDone).toBe(true);
  });

  it('is spared the second try by a report', async () => {
    rest.failures.hangUp = FAILURE;
    const farewell = bid('hang-up');
    await clock.advanceAsync(500);
    farewell.carrierSaysOver();
    await clock.advanceAsync(5000);
    expect(rest.requests).toEqual(['hangUp X']);
    expect(notes).toEqual([]);
  });

  it('makes no pause in a hurry', async () => {
    rest.failures.hangUp = FAILURE;
    const farewell = bid('hang-up');
    await clock.advanceAsync(0);
    farewell.hurry();
    await clock.advanceAsync(0);
    expect(rest.requests).toEqual(['hangUp X', 'lookUp X', 'hangUp X']);
    expect(isDone).toBe(true);
  });

  it('abandoned, it waits for nobody and says so, once', async () => {
    rest.answer = new Promise(() => {});
    const farewell = bid('hang-up');
    farewell.abandon();
    farewell.abandon();
    await clock.advanceAsync(10_000);
    expect(isDone).toBe(true);
    expect(notes).toHaveLength(1);
    expect(clock.pending).toBe(0);
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
