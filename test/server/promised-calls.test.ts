import { describe, expect, it } from 'vitest';
import { PromisedCalls } from '../../src/server/promised-calls.js';
import { FakeClock } from '../support/fake-clock.js';

describe('promised calls', () => {
  it('count until they are settled or ten seconds old, each call once', () => {
    const clock = new FakeClock();
    const promises = new PromisedCalls(clock);
    promises.add('a');
    clock.advance(5000);
    promises.add('b');
    promises.add('a');
    promises.add('c');
    expect(promises.count(() => false)).toBe(3);
    expect(promises.count((callId) => callId === 'b')).toBe(2);
    clock.advance(9999);
    expect(promises.count(() => false)).toBe(2);
    clock.advance(1);
    expect(promises.count(() => false)).toBe(0);
  });
});
