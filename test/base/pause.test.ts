import { expect, it } from 'vitest';
import { toNextBeat, toNextRound } from '../../src/base/pause.js';
import { FakeClock } from '../support/fake-clock.js';

it('rounds and beats of all who have the same clock are at the same moments, and none is done again at once', () => {
  const clock = new FakeClock();
  const moments = [toNextRound, toNextBeat].map((next) => () => clock.now() + next(clock, 1000));
  const at = (ms: number) => {
    clock.advance(ms - clock.now());
    return moments.map((next) => next());
  };
  expect(at(300)).toEqual([1000, 1000]);
  expect(at(500)).toEqual([1000, 1000]);
  expect(at(900)).toEqual([1000, 1000]);
  expect(at(950)).toEqual([1000, 2000]);
  expect(at(1000)).toEqual([2000, 2000]);
});
