import { expect, it } from 'vitest';
import { EndedCalls } from '../../src/calls/ended-calls.js';
import { FakeClock } from '../support/fake-clock.js';

const HOUR_MS = 60 * 60_000;
const call = {};

it('remembers for more than an hour, and not for ever', () => {
  const clock = new FakeClock();
  const ended = new EndedCalls<object>(clock);
  ended.add(call, 'ours', null, 'theirs');
  clock.advance(HOUR_MS);
  expect([ended.has('ours'), ended.has('theirs'), ended.has('other')]).toEqual([true, true, false]);
  expect(ended.get('theirs')).toBe(call);
  clock.advance(HOUR_MS);
  expect(ended.has('ours')).toBe(false);
});

it('forgets the oldest first when there are too many, and an id told again is young again', () => {
  const ended = new EndedCalls<object>(new FakeClock(), { maxIds: 2 });
  for (const id of ['a', 'b', 'a', 'c']) ended.add(call, id);
  expect(['a', 'b', 'c'].map((id) => ended.has(id))).toEqual([true, false, true]);
});
