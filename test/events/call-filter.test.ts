import { describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import { isMatch } from '../../src/events/call-filter.js';
import { reduceCall } from '../../src/events/reduce.js';
import { ended, stamp, started } from '../support/call-facts.js';

const NUMBERS = { caller: '+15550107777', callee: 'sip:+1-555-010-0100@example.com', carrierCallId: 'CA99' };
const CALL = stamp([started(NUMBERS), ended()], { callId: 'call-12-34' }).reduce<CallRecord | undefined>(
  reduceCall,
  undefined,
);

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
    expect(CALL && isMatch(CALL, { q })).toBe(isFound);
  });
});
