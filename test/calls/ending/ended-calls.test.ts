import { expect, it } from 'vitest';
import { EndedCalls } from '../../../src/calls/ending/ended-calls.js';
import { FakeClock } from '../../support/fake-clock.js';

const HOUR_MS = 60 * 60_000;
const call = { isTakingLeave: false };

it('remembers for more than an hour, and not for ever', () => {
  const clock = new FakeClock();
  const ended = new EndedCalls<{ isTakingLeave: boolean }>(clock);
  ended.add(call, 'ours', null, 'theirs');
  clock.advance(HOUR_MS);
  expect([ended.has('ours'), ended.has('theirs'), ended.has('other')]).toEqual([true, true, false]);
  expect(ended.get('theirs')).toBe(call);
  clock.advance(HOUR_MS);
  expect(ended.has('ours')).toBe(false);
});

it('forgets the oldest first when there are too many, and an id told again is young again', () => {
  const ended = new EndedCalls<{ isTakingLeave: boolean }>(new FakeClock(), { maxIds: 2, maxLateIds: 1 });
  for (const id of ['a', 'b', 'a', 'c']) ended.add(call, id);
  expect(['a', 'b', 'c'].map((id) => ended.has(id))).toEqual([true, false, true]);
});

it('takes late facts of as many calls as it may, of a call that takes its leave as long as that lasts, and knows the others by their ids', () => {
  const clock = new FakeClock();
  const ended = new EndedCalls<{ isTakingLeave: boolean }>(clock, { maxLateIds: 2 });
  const leaving = { isTakingLeave: true };
  ended.add(leaving, 'leaving');
  for (const id of ['a', 'b', 'c']) ended.add({ isTakingLeave: false }, id);
  expect(['leaving', 'a', 'b', 'c'].map((id) => ended.get(id) !== undefined)).toEqual([
    true,
    false,
    false,
    true,
  ]);
  expect(['leaving', 'a', 'b', 'c'].every((id) => ended.has(id))).toBe(true);
  clock.advance(5 * HOUR_MS);
  expect(['leaving', 'a', 'c'].map((id) => ended.has(id))).toEqual([true, false, false]);
  expect(ended.get('leaving')).toBe(leaving);
  leaving.isTakingLeave = false;
  expect(ended.get('leaving')).toBeUndefined();
});
