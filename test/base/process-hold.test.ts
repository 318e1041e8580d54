import { expect, it } from 'vitest';
import { heldTimer, holdProcess } from '../../src/base/process-hold.js';
import { FakeClock } from '../support/fake-clock.js';

/** Timers that keep the process up. */
const holding = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

it('keeps the process up until it is released', () => {
  const before = holding();
  const release = holdProcess();
  expect(holding()).toBe(before + 1);
  release();
  release();
  expect(holding()).toBe(before);
});

it('keeps the process up until the timer rings, or is cancelled', () => {
  const [before, clock] = [holding(), new FakeClock()];
  const rings: number[] = [];
  heldTimer(clock, 10, () => rings.push(holding()));
  const cancelled = heldTimer(clock, 10, () => rings.push(-1));
  expect(holding()).toBe(before + 2);
  cancelled.cancel();
  clock.advance(10);
  expect(rings).toEqual([before]);
});
