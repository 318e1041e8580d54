import { describe, expect, it } from 'vitest';
import type { CallSummary } from '../../../../src/contract/dashboard-api.js';
import {
  filterOf,
  FIRST_VIEW,
  isNarrowed,
  selectCalls,
  startOf,
} from '../../../../src/dashboard/ui/state/view.js';
import { reduceCall } from '../../../../src/events/reduce.js';
import { toSummary } from '../../../../src/events/summarize.js';
import { ended, stamp, started, turn } from '../../../support/call-facts.js';

function call(callId: string, at: number, latencyMs: number | null): CallSummary {
  const facts = [started(), ended()];
  if (latencyMs !== null)
    facts.splice(1, 0, { type: 'turn.completed', turn: turn(0, { totalMs: latencyMs }) });
  const record = stamp(facts, { callId, at }).reduce<ReturnType<typeof reduceCall> | undefined>(
    reduceCall,
    undefined,
  );
  return toSummary(record!);
}

const CALLS = [call('c', 3000, null), call('b', 2000, 900), call('a', 1000, 500)];
const idsOf = (calls: readonly CallSummary[]) => calls.map(({ callId }) => callId);

describe('the view of the history', () => {
  it('orders by a value either way, what has none last', () => {
    const byLatency = { ...FIRST_VIEW, sort: 'latency' } as const;
    expect(idsOf(selectCalls(CALLS, FIRST_VIEW))).toEqual(['c', 'b', 'a']);
    expect(idsOf(selectCalls(CALLS, byLatency))).toEqual(['b', 'a', 'c']);
    expect(idsOf(selectCalls(CALLS, { ...byLatency, isDescending: false }))).toEqual(['a', 'b', 'c']);
  });

  it('begins where its range does, counted from when it was chosen', () => {
    expect(startOf(FIRST_VIEW)).toBeUndefined();
    const hour = { ...FIRST_VIEW, range: 'hour', until: 3_601_500 } as const;
    expect(startOf(hour)).toBe(1500);
    expect(idsOf(selectCalls(CALLS, hour))).toEqual(['c', 'b']);
  });

  it('asks the server for the same calls', () => {
    const view = {
      ...FIRST_VIEW,
      q: ' +1555 ',
      outcome: 'busy',
      endReason: 'busy',
      carrier: 'carrier-b',
    } as const;
    expect(filterOf(view)).toEqual({
      status: 'completed',
      q: '+1555',
      outcome: 'busy',
      endReason: 'busy',
      carrier: 'carrier-b',
    });
    expect([isNarrowed(view), isNarrowed({ ...FIRST_VIEW, q: '  ' })]).toEqual([true, false]);
  });
});
