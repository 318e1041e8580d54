import { expect, it } from 'vitest';
import { type CallForgotten, CallRing } from '../../src/stores/call-ring.js';
import { ended, stamp, started } from '../support/call-facts.js';
import { FakeClock } from '../support/fake-clock.js';

const MINUTE_MS = 60_000;

/** A ring of two, and what has a call end that began a second before. */
function ringOfTwo() {
  const clock = new FakeClock();
  const ring = new CallRing(2, clock);
  const end = (callId: string, at: number) => {
    const facts = stamp([started({ carrierCallId: callId }), ended()], {
      callId,
      at: at - 1000,
      stepMs: 1000,
    });
    return facts.map((fact) => ring.apply(fact)?.evicted?.callId).at(-1);
  };
  return { clock, end };
}

it('holds the calls that ended last, also where one is heard of late', () => {
  const { clock, end } = ringOfTwo();
  const now = clock.wallNow();
  expect([end('c', now - 2 * MINUTE_MS), end('b', now - 3 * MINUTE_MS)]).toEqual([undefined, undefined]);
  // Older than all: it leaves at once.
  expect(end('a', now - 4 * MINUTE_MS)).toBe('a');
  expect(end('d', now - MINUTE_MS)).toBe('b');
  expect(end('e', now)).toBe('c');
});

it('holds calls that end after the clock was set back, and lets those of before go', () => {
  const { clock, end } = ringOfTwo();
  for (const callId of ['a', 'b']) expect(end(callId, clock.wallNow())).toBeUndefined();
  clock.setWall(-60 * MINUTE_MS);
  expect(end('c', clock.wallNow())).toBe('a');
  clock.advance(1000);
  expect(end('d', clock.wallNow())).toBe('b');
});

it('remembers ten thousand deleted calls: the one that was deleted first is forgotten for the next', () => {
  const ring = new CallRing();
  const deleted = (index: number): CallForgotten => ({
    type: 'call.forgotten',
    callId: `call-${index}`,
    nodeId: 'node',
    term: 1,
    seq: 1,
    at: index,
  });
  for (let index = 0; index < 10_000; index += 1) expect(ring.remember(deleted(index))).toBeUndefined();
  for (const index of [0, 1]) expect(ring.remember(deleted(10_000 + index))).toEqual(deleted(index));
  expect(ring.forgotten()).toHaveLength(10_000);
  expect(ring.forgottenAs('call-1')).toBeUndefined();
  expect(ring.forgottenAs('call-2')).toEqual(deleted(2));
});
