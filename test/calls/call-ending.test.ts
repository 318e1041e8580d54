import { describe, expect, it } from 'vitest';
import { type CallReach, outcomeOf, reportedEnd } from '../../src/calls/call-ending.js';
import type { CallOutcome, EndReason } from '../../src/contract/call-record.js';

const ringing: CallReach = { direction: 'inbound', answered: false, started: false };
const dialled: CallReach = { ...ringing, direction: 'outbound' };
const answered: CallReach = { ...ringing, answered: true };
const started: CallReach = { ...answered, started: true };

describe('what a carrier’s report of the end says', () => {
  it.each<[CallReach, CallOutcome | null, EndReason, CallOutcome | undefined]>([
    [ringing, 'canceled', 'caller-hangup', 'canceled'],
    [ringing, 'no-answer', 'caller-hangup', 'no-answer'],
    [ringing, null, 'caller-hangup', 'canceled'],
    [ringing, 'failed', 'failed', 'failed'],
    [ringing, 'answered', 'caller-hangup', 'answered'],
    [dialled, 'busy', 'busy', 'busy'],
    [dialled, 'no-answer', 'no-answer', 'no-answer'],
    [dialled, 'canceled', 'canceled', 'canceled'],
    [dialled, null, 'failed', 'failed'],
    [dialled, 'answered', 'carrier-hangup', 'answered'],
    [answered, 'answered', 'carrier-hangup', undefined],
    [started, null, 'carrier-hangup', undefined],
    [started, 'failed', 'failed', undefined],
  ])('%j %s -> %s, %s', (reach, reported, reason, outcome) => {
    expect(reportedEnd(reported, reach)).toEqual({ reason, ...(outcome && { outcome }) });
  });
});

describe('the outcome of a call', () => {
  it.each<[EndReason, CallReach, CallOutcome]>([
    ['operator-hangup', ringing, 'canceled'],
    ['server-shutdown', dialled, 'canceled'],
    ['operator-hangup', answered, 'answered'],
    ['stream-lost', answered, 'failed'],
    ['stream-lost', started, 'answered'],
    ['protocol-error', ringing, 'failed'],
    ['failed', dialled, 'failed'],
    ['failed', started, 'answered'],
    ['busy', dialled, 'busy'],
    ['no-answer', dialled, 'no-answer'],
    ['canceled', dialled, 'canceled'],
    ['provider-failed', answered, 'failed'],
  ])('that ends with %s at %j is %s', (reason, reach, outcome) => {
    expect(outcomeOf({ reason }, reach)).toBe(outcome);
    expect(outcomeOf({ reason, outcome: 'voicemail' }, reach)).toBe('voicemail');
  });
});
