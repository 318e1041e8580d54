import { expect, it, vi } from 'vitest';
import { grace, systemClock } from '../../src/base/clock.js';
import { LooseEnds } from '../../src/base/loose-ends.js';

it('waits for what ends by itself', async () => {
  const looseEnds = new LooseEnds();
  await looseEnds.settled();
  let cuts = 0;
  let isSettled = false;
  const [first, second] = [looseEnds.add(() => (cuts += 1)), looseEnds.add(() => (cuts += 1))];
  const settled = looseEnds.settled().then(() => {
    isSettled = true;
  });
  first();
  await Promise.resolve();
  expect(isSettled).toBe(false);
  second();
  await settled;
  looseEnds.cut();
  expect(cuts).toBe(0);
});

it('cuts what is left, once, and at once what comes later', () => {
  const looseEnds = new LooseEnds();
  const cut: string[] = [];
  looseEnds.add(() => cut.push('first'));
  looseEnds.cut();
  looseEnds.cut();
  looseEnds.add(() => cut.push('late'));
  expect(cut).toEqual(['first', 'late']);
});

it('grants no grace where all is over', () => {
  const looseEnds = new LooseEnds();
  looseEnds.cut();
  let ends = 0;
  const timer = grace({ ...systemClock, looseEnds }, 60_000, () => {
    ends += 1;
  });
  expect(ends).toBe(1);
  timer.cancel();
});

it('ends a grace once, when the server stops or when its time is over', () => {
  vi.useFakeTimers();
  try {
    const looseEnds = new LooseEnds();
    let ends = 0;
    grace({ ...systemClock, looseEnds }, 5000, () => {
      ends += 1;
    });
    looseEnds.cut();
    expect(ends).toBe(1);
    vi.advanceTimersByTime(60_000);
    expect(ends).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});
