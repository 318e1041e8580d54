import { describe, expect, it } from 'vitest';
import { ReadAllowance } from '../../../../src/engines/tools/mcp/read-allowance.js';

const MIB = 1024 * 1024;

describe('what a program may write', () => {
  it('is 1 MiB unasked, and as much again for each request', () => {
    const allowance = new ReadAllowance(0);
    allowance.owe();
    expect(allowance.take(2 * MIB, 0)).toBe(true);
    expect(allowance.take(1, 0)).toBe(false);
  });

  it('is 16 MiB at most, however often it is asked', () => {
    const allowance = new ReadAllowance(0);
    for (let request = 0; request < 100; request += 1) allowance.owe();
    expect(allowance.take(16 * MIB, 0)).toBe(true);
    expect(allowance.take(1, 0)).toBe(false);
  });

  it('comes back with time: a program that chats for a week is not ended', () => {
    const allowance = new ReadAllowance(0);
    const seconds = 7 * 86_400;
    for (let second = 1; second <= seconds; second += 60)
      if (!allowance.take(60 * 1024, second * 1000)) expect.fail(`ended after ${second} s`);
    expect(allowance.take(MIB, (seconds + 60) * 1000)).toBe(true);
  });

  it('is 1 MiB after a long silence, and no more', () => {
    const allowance = new ReadAllowance(0);
    expect(allowance.take(MIB + 1, 86_400_000)).toBe(false);
  });

  it('takes nothing of what answers are owed when time passes', () => {
    const allowance = new ReadAllowance(0);
    allowance.owe();
    expect(allowance.take(2 * MIB, 60_000)).toBe(true);
  });
});
