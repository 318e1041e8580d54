import { describe, expect, it } from 'vitest';
import type { CallFact } from '../../../../src/contract/call-event.js';
import { hearOffset, NO_OFFSETS, offsetOf } from '../../../../src/dashboard/ui/state/clock-offsets.js';
import { unknownCost } from '../../../../src/events/summarize.js';
import { ended, stamp, started } from '../../../support/call-facts.js';

const HOUR_MS = 3_600_000;
const NOW = 1_800_000_000_000;

const at = (now: number, ...up: string[]) => ({ now, up: new Set(up) });

function event(callId: string, at: number, fact: CallFact = started()) {
  const [made] = stamp([fact], { callId, at });
  if (made === undefined) throw new Error('no event');
  return { ...made, at };
}

describe('the offsets of clocks', () => {
  it('are those of each call, whose server’s clock was set while it was up', () => {
    for (const byMs of [-HOUR_MS, HOUR_MS]) {
      const before = hearOffset(NO_OFFSETS, event('before', NOW - 20), at(NOW, 'before'));
      const offsets = hearOffset(
        before,
        event('after', NOW + 1000 + byMs),
        at(NOW + 1000, 'before', 'after'),
      );
      expect([offsetOf(offsets, 'before'), offsetOf(offsets, 'after')]).toEqual([20, -byMs]);
    }
  });

  it('are told best by the fact that took the shortest way', () => {
    const slow = hearOffset(NO_OFFSETS, event('one', NOW - 500), at(NOW, 'one'));
    const quick = hearOffset(slow, event('one', NOW - 10), at(NOW, 'one'));
    expect(offsetOf(hearOffset(quick, event('one', NOW - 300), at(NOW, 'one')), 'one')).toBe(10);
  });

  it('are those of the server for a call of which nothing was heard, and forgotten with the call', () => {
    expect(offsetOf(NO_OFFSETS, 'one')).toBe(0);
    const heard = hearOffset(NO_OFFSETS, event('one', NOW - 20), at(NOW, 'one'));
    expect([offsetOf(heard, undefined), offsetOf(heard, 'two')]).toEqual([20, 20]);
    const over = hearOffset(heard, event('one', NOW, ended()), at(NOW));
    expect(over.byCall.size).toBe(0);
    // What comes when a call is over keeps nothing of it, and a call whose end was missed goes with the next fact.
    const late = { type: 'cost.updated', cost: unknownCost(), usage: null } as const;
    expect(hearOffset(over, event('one', NOW, late), at(NOW)).byCall.size).toBe(0);
    expect([...hearOffset(heard, event('two', NOW), at(NOW, 'two')).byCall.keys()]).toEqual(['two']);
  });
});
