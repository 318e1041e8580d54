import { describe, expect, it } from 'vitest';
import type { CallFact } from '../../../../src/contract/call-event.js';
import { hearOffset, NO_OFFSETS, offsetOf } from '../../../../src/dashboard/ui/state/clock-offsets.js';
import { ended, stamp, started } from '../../../support/call-facts.js';

const HOUR_MS = 3_600_000;
const NOW = 1_800_000_000_000;

function event(callId: string, at: number, fact: CallFact = started()) {
  const [made] = stamp([fact], { callId, at });
  if (made === undefined) throw new Error('no event');
  return { ...made, at };
}

describe('the offsets of clocks', () => {
  it('are those of each call, whose server’s clock was set while it was up', () => {
    for (const byMs of [-HOUR_MS, HOUR_MS]) {
      const before = hearOffset(NO_OFFSETS, event('before', NOW - 20), NOW);
      const offsets = hearOffset(before, event('after', NOW + 1000 + byMs), NOW + 1000);
      expect([offsetOf(offsets, 'before'), offsetOf(offsets, 'after')]).toEqual([20, -byMs]);
    }
  });

  it('are told best by the fact that took the shortest way', () => {
    const slow = hearOffset(NO_OFFSETS, event('one', NOW - 500), NOW);
    const quick = hearOffset(slow, event('one', NOW - 10), NOW);
    expect(offsetOf(hearOffset(quick, event('one', NOW - 300), NOW), 'one')).toBe(10);
  });

  it('are those of the server for a call of which nothing was heard, and forgotten with the call', () => {
    expect(offsetOf(NO_OFFSETS, 'one')).toBe(0);
    const heard = hearOffset(NO_OFFSETS, event('one', NOW - 20), NOW);
    expect([offsetOf(heard, undefined), offsetOf(heard, 'two')]).toEqual([20, 20]);
    expect(hearOffset(heard, event('one', NOW, ended()), NOW).byCall.size).toBe(0);
  });
});
