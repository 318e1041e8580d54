import { describe, expect, it } from 'vitest';
import type { CallSummary } from '../../../../src/contract/dashboard-api.js';
import {
  countChoices,
  filterOf,
  FIRST_VIEW,
  namesOf,
  selectCalls,
  spanOf,
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
    expect(spanOf(FIRST_VIEW)).toEqual({});
    const hour = { ...FIRST_VIEW, range: 'hour', until: 3_601_500 } as const;
    expect(spanOf(hour)).toEqual({ from: 1500 });
    expect(idsOf(selectCalls(CALLS, hour))).toEqual(['c', 'b']);
  });

  it.each([
    [1500, 2500, ['b']],
    [2500, 1500, ['b']],
    [null, 2000, ['a']],
    [2000, null, ['c', 'b']],
    [null, null, ['c', 'b', 'a']],
  ])('is between two dates, whichever came first: %j and %j', (from, to, ids) => {
    expect(idsOf(selectCalls(CALLS, { ...FIRST_VIEW, range: 'custom', from, to }))).toEqual(ids);
  });

  it('leaves the words that were said to the server, and no other condition', () => {
    const view = { ...FIRST_VIEW, words: 'tea', minLatencyMs: 600 };
    expect(idsOf(selectCalls(CALLS, view))).toEqual(['b']);
  });

  it('names what calls can be chosen by, and what is chosen', () => {
    const view = { ...FIRST_VIEW, provider: 'gone' };
    expect(namesOf(CALLS, 'provider', view)).toEqual(['fake', 'fake/llm', 'fake/stt', 'fake/tts', 'gone']);
    expect(namesOf(CALLS, 'carrier', view)).toEqual(['carrier-a']);
    expect(namesOf(CALLS, 'nodeId', view)).toEqual(['node-1']);
    expect(namesOf(CALLS, 'incident', view)).toEqual([]);
  });

  it('asks the server for the same calls', () => {
    const chosen = {
      words: 'tea',
      outcome: 'busy',
      endReason: 'busy',
      carrier: 'carrier-b',
      incident: 'turn-failed',
      minCost: 0,
    } as const;
    const view = { ...FIRST_VIEW, q: ' +1555 ', ...chosen };
    expect(filterOf(view)).toEqual({ status: 'completed', q: '+1555', ...chosen });
    expect([view, { ...FIRST_VIEW, q: '  ' }].map((each) => countChoices(each))).toEqual([7, 0]);
  });
});
