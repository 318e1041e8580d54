import { describe, expect, it } from 'vitest';
import { AttemptLimit } from '../../src/dashboard/attempt-limit.js';
import { FakeClock } from '../support/fake-clock.js';

describe('AttemptLimit', () => {
  it('forgets the address that was silent for longest when there are too many', () => {
    const limit = new AttemptLimit(new FakeClock());
    const others = Array.from({ length: 10_000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
    const [last = '', ...rest] = others;
    const guesser = '203.0.113.1';
    for (let count = 0; count < 9; count += 1) limit.fail(guesser);
    for (const address of rest) limit.fail(address);
    limit.fail(guesser);
    limit.fail(last);
    expect(limit.closedMs(guesser)).toBe(15_000);
  });
});
