import { describe, expect, it } from 'vitest';
import { type CallReach, outcomeOf, reportedEnd } from '../../../src/calls/ending/call-ending.js';
import type { CallOutcome, EndReason } from '../../../src/contract/call-record.js';

const ringing: CallReach = { direction: 'inbound', answered: false, started: false };
const dialed: CallReach = { ...ringing, direction: 'outbound' };
const answered: CallReach = { ...ringing, answered: true };
const started: CallReach = { ...answered, started: true };

describe('what a carrier’s report of the end says', () => {
  type Source = 'caller' | 'callee' | undefined;
  it.each<[CallReach, CallOutcome | null, Source, EndReason, CallOutcome | undefined]>([
    [ringing, 'canceled', undefined, 'caller-hangup', 'canceled'],
    [ringing, 'no-answer', undefined, 'caller-hangup', 'no-answer'],
    [ringing, null, undefined, 'caller-hangup', 'canceled'],
    [ringing, 'failed', undefined, 'failed', 'failed'],
    [ringing, 'answered', undefined, 'caller-hangup', 'answered'],
    [dialed, 'busy', 'callee', 'busy', 'busy'],
    [dialed, 'no-answer', undefined, 'no-answer', 'no-answer'],
    [dialed, 'canceled', undefined, 'canceled', 'canceled'],
    [dialed, null, undefined, 'failed', 'failed'],
    // Who leaves before the stream is up leaves by themselves.
    [dialed, 'answered', undefined, 'caller-hangup', 'answered'],
    [dialed, 'answered', 'callee', 'caller-hangup', 'answered'],
    [dialed, 'answered', 'caller', 'carrier-hangup', 'answered'],
    [answered, 'answered', undefined, 'caller-hangup', undefined],
    [answered, 'answered', 'caller', 'caller-hangup', undefined],
    [answered, 'answered', 'callee', 'carrier-hangup', undefined],
    [started, null, undefined, 'carrier-hangup', undefined],
    [started, 'answered', undefined, 'carrier-hangup', undefined],
    [started, 'answered', 'caller', 'caller-hangup', undefined],
    [started, 'answered', 'callee', 'carrier-hangup', undefined],
    [{ ...started, direction: 'outbound' }, 'answered', 'callee', 'caller-hangup', undefined],
    [{ ...started, direction: 'outbound' }, 'answered', 'caller', 'carrier-hangup', undefined],
    [started, 'failed', undefined, 'failed', undefined],
  ])('%j %s by %s -> %s, %s', (reach, reported, endedBy, reason, outcome) => {
    expect(reportedEnd({ outcome: reported, endedBy }, reach)).toEqual({
      reason,
      ...(outcome && { outcome }),
    });
  });
});

describe('the outcome of a call', () => {
  it.each<[EndReason, CallReach, CallOutcome]>([
    ['operator-hangup', ringing, 'canceled'],
    ['server-shutdown', dialed, 'canceled'],
    ['operator-hangup', answered, 'answered'],
    ['stream-lost', answered, 'failed'],
    ['stream-lost', started, 'answered'],
    ['protocol-error', ringing, 'failed'],
    ['failed', dialed, 'failed'],
    ['failed', started, 'answered'],
    ['busy', dialed, 'busy'],
    ['no-answer', dialed, 'no-answer'],
    ['canceled', dialed, 'canceled'],
    ['provider-failed', answered, 'failed'],
  ])('that ends with %s at %j is %s', (reason, reach, outcome) => {
    expect(outcomeOf({ reason }, reach)).toBe(outcome);
    expect(outcomeOf({ reason, outcome: 'voicemail' }, reach)).toBe('voicemail');
  });
});
