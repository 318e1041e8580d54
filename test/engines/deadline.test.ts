import { expect, it } from 'vitest';
import { Deadline } from '../../src/engines/deadline.js';
import { FakeClock } from '../support/fake-clock.js';

function rig() {
  const clock = new FakeClock();
  const rung: number[] = [];
  const deadline = new Deadline(clock, () => rung.push(clock.now()));
  return { clock, rung, deadline };
}

it('rings once, when the time has come', () => {
  const { clock, rung, deadline } = rig();
  deadline.set(100);
  clock.advance(99);
  expect(rung).toEqual([]);
  clock.advance(500);
  expect(rung).toEqual([100]);
  expect(clock.pending).toBe(0);
});

it.each([
  ['earlier', 40],
  ['later', 300],
])('goes by the time that was set last: %s', (_, at) => {
  const { clock, rung, deadline } = rig();
  deadline.set(100);
  deadline.set(at);
  clock.advance(1000);
  expect(rung).toEqual([at]);
});

it('leaves no timer where nothing is due', () => {
  const { clock, rung, deadline } = rig();
  deadline.set(100);
  deadline.set(null);
  expect(clock.pending).toBe(0);
  deadline.set(200);
  clock.advance(1000);
  expect(rung).toEqual([200]);
});

it('can be set by what it rings for', () => {
  const clock = new FakeClock();
  const rung: number[] = [];
  const deadline: Deadline = new Deadline(clock, () => {
    rung.push(clock.now());
    if (rung.length < 3) deadline.set(clock.now() + 10);
  });
  deadline.set(10);
  clock.advance(1000);
  expect(rung).toEqual([10, 20, 30]);
});

it('rings at once for a time that has passed', () => {
  const { clock, rung, deadline } = rig();
  clock.advance(50);
  deadline.set(20);
  clock.advance(0);
  expect(rung).toEqual([50]);
});
