import { describe, expect, it } from 'vitest';
import { type FilteredCall, isMatch } from '../../src/events/call-filter.js';

const CALL: FilteredCall = {
  callId: 'call-12-34',
  carrierCallId: 'CA99',
  carrier: 'carrier-a',
  caller: '+15550107777',
  callee: 'sip:+1-555-010-0100@example.com',
  direction: 'inbound',
  status: 'completed',
  outcome: 'answered',
  endReason: 'caller-hangup',
  startedAt: 1000,
};

describe('a search among calls', () => {
  it.each([
    ['+1 (555) 010-7777', true],
    ['555.010/7777', true],
    ['\u202a+1\u00a0555\u2011010\u20117777\u202c', true],
    ['5550100100', true],
    ['12-34', true],
    ['ca99', true],
    ['+555 010', false],
    ['1234', false],
    ['call 12', false],
    ['- -', false],
    ['', true],
  ])('takes a number however it is spaced, and an id as it is: %j', (q, isFound) => {
    expect(isMatch(CALL, { q })).toBe(isFound);
  });
});
