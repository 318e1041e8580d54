import { expect, it } from 'vitest';
import { type CallForgotten, CallRing } from '../../src/stores/call-ring.js';

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
