import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplayWindow } from '../../src/cluster/replay-window.js';

describe('ReplayWindow', () => {
  it('takes every number once, in any order, as long as it is among the last 1024', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3000), { maxLength: 400 }), (numbers) => {
        const window = new ReplayWindow();
        const taken = new Set<number>();
        for (const number of numbers) {
          const newest = Math.max(-1, ...taken);
          const isNew = !taken.has(number) && number > newest - 1024;
          expect(window.take('a', number)).toBe(isNew);
          if (isNew) taken.add(number);
        }
      }),
    );
  });

  it('keeps senders apart', () => {
    const window = new ReplayWindow();
    expect(window.take('a', 1)).toBe(true);
    expect(window.take('b', 1)).toBe(true);
    expect(window.take('a', 1)).toBe(false);
  });

  it('forgets who has been silent for the longest time, and no other', () => {
    const window = new ReplayWindow();
    window.take('silent', 7);
    window.take('talks', 7);
    for (let sender = 0; sender < 9_999; sender += 1) {
      window.take(`sender-${sender}`, 1);
      window.take('talks', 8 + sender);
    }
    expect(window.take('talks', 7 + 9_999)).toBe(false);
    expect(window.take('silent', 7)).toBe(true);
  });
});
