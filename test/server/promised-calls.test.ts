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

  it('are forgotten although nobody counts them', () => {
    const clock = new FakeClock();
    const promises = new PromisedCalls(clock);
    promises.add('a');
    clock.advance(10_000);
    promises.add('b');
    const asked: string[] = [];
    // Set back: what the count finds is what was still kept.
    clock.stall(-10_000);
    promises.count((callId) => asked.push(callId) === 0);
    expect(asked).toEqual(['b']);
  });
});
