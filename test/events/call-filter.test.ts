import { describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import { isMatch } from '../../src/events/call-filter.js';
import { reduceCall } from '../../src/events/reduce.js';
import { ended, say, stamp, started } from '../support/call-facts.js';

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

describe('a search in what was said', () => {
  const said = (text: string) =>
    stamp([started(NUMBERS), say(text), ended()]).reduce<CallRecord | undefined>(reduceCall, undefined);
  const isFound = (words: string, text = 'My number is 0171 555 0199 thank you') => {
    const call = said(text);
    return call !== undefined && isMatch(call, { words });
  };

  it.each([
    ['01715550199', true],
    ['0171-555-0199', true],
    ['(0171) 555.01/99', true],
    ['+0171 555', true],
    ['\u202a0171\u00a0555\u20110199\u202c', true],
    [' 17155 ', true],
    ['number is 017', true],
    ['0199 THANK', true],
    ['555 0199', true],
    ['15', false],
    ['1-5', false],
    ['5550200', false],
    ['number is 01715', false],
    ['- - -', false],
    ['', true],
  ])('takes a number however it is spaced, and words as they are: %j', (words, found) => {
    expect(isFound(words)).toBe(found);
  });

  it.each([
    ['It is 01715550199.', '0171 555 0199', true],
    ['It is (0171) 555\u20110199.', '555-0199', true],
    ['Table 12 for 34 people', '1234', false],
    ['0171 555, extension 0199', '5550199', false],
  ])('%j is asked for %j', (text, words, found) => {
    expect(isFound(words, text)).toBe(found);
  });

  it('does not join what two have said', () => {
    const facts = [started(NUMBERS), say('0171', { id: 'a' }), say('555', { id: 'b' }), ended()];
    const call = stamp(facts).reduce<CallRecord | undefined>(reduceCall, undefined);
    expect(call && isMatch(call, { words: '0171555' })).toBe(false);
  });
});
