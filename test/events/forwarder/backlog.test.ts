import { describe, expect, it } from 'vitest';
import { Backlog } from '../../../src/events/forwarder/backlog.js';
import { ended, say, stamp, started } from '../../support/call-facts.js';

const LARGE = 'x'.repeat(290_000);

describe('what a forwarder holds', () => {
  it('is 32 MiB of facts at most', () => {
    const backlog = new Backlog({ isStored: false });
    for (let call = 0; call < 120; call += 1) {
      for (const fact of stamp([started(), say(LARGE), ended()], { callId: `call-${call}` }))
        backlog.append(fact);
    }
    const calls = [...backlog.logs];
    const length = calls.reduce((sum, log) => sum + log.length, 0);
    expect(length).toBeLessThanOrEqual(32 * 1024 * 1024);
    expect(length).toBeGreaterThan(31 * 1024 * 1024);
    expect(backlog.lost).toBe((120 - calls.length) * 3);
    // The oldest go first.
    expect(calls.at(-1)?.callId).toBe('call-119');
  });

  it.each([
    ['facts', { events: 6 }],
    ['calls', { calls: 2 }],
  ])('is a number of %s', (_, bounds) => {
    const backlog = new Backlog({ isStored: false, bounds });
    for (const callId of ['a', 'b', 'c']) {
      for (const fact of stamp([started(), say('Hello.'), ended()], { callId })) backlog.append(fact);
    }
    expect([...backlog.logs].map(({ callId }) => callId)).toEqual(['b', 'c']);
    expect([backlog.size, backlog.lost]).toEqual([6, 3]);
  });

  it('has a call of the store once, with its facts', () => {
    const backlog = new Backlog({ isStored: true });
    const facts = stamp([started(), say('Hello.'), ended()], { callId: 'kept' });
    expect(backlog.adopt(facts)?.count).toBe(3);
    expect(backlog.adopt(facts)).toBeUndefined();
    expect([...backlog.logs].map(({ callId }) => callId)).toEqual(['kept']);
    expect(backlog.size).toBe(3);
  });

  it('is no fact that fits into no batch', () => {
    const backlog = new Backlog({ isStored: false });
    for (const fact of stamp([started(), say('x'.repeat(300_001))])) backlog.append(fact);
    expect([backlog.size, backlog.lost]).toEqual([1, 1]);
  });

  it('lets go of a deleted call once the dashboard has heard of it, however many there are', () => {
    const backlog = new Backlog({ isStored: true, bounds: { calls: 5 } });
    for (const fact of stamp([started(), say('Hello.')], { callId: 'live' })) backlog.append(fact);
    for (let call = 0; call < 20; call += 1) {
      const place = { callId: `call-${call}`, nodeId: 'node-1', term: 2, seq: 1, at: 9000 };
      backlog.append({ type: 'call.forgotten', ...place });
      const log = backlog.find(place);
      if (log === undefined) throw new Error('not held');
      backlog.learn(log, { ...place, ended: true, wanted: true });
      backlog.settle(log);
    }
    expect([...backlog.logs].map(({ callId, count }) => [callId, count])).toEqual([['live', 2]]);
  });
});
