import { describe, expect, it } from 'vitest';
import type { CallSummary } from '../../../../src/contract/dashboard-api.js';
import { trendsOf } from '../../../../src/dashboard/ui/state/trends.js';

function call(startedAt: number, endedAt: number, avgMs: number | null = null): CallSummary {
  const latency = { avgMs, p50Ms: avgMs, p95Ms: avgMs };
  return {
    startedAt,
    endedAt,
    durationMs: endedAt - startedAt,
    latency,
    cost: { total: 0.5 },
  } as CallSummary;
}

describe('trends', () => {
  it('puts each call into the slice of time in which it began', () => {
    const trends = trendsOf([call(0, 5, 400), call(1, 6, 600), call(240, 250)], { from: 0, to: 240 });
    expect(trends?.calls).toHaveLength(24);
    expect([trends?.calls[0], trends?.calls[1], trends?.calls[23]]).toEqual([2, 0, 1]);
    expect([trends?.latencyMs[0], trends?.latencyMs[1], trends?.latencyMs[23]]).toEqual([500, null, null]);
    expect([trends?.p95Ms[0], trends?.cost[0], trends?.durationMs[23]]).toEqual([600, 1, 10]);
  });

  it('counts calls that were up at the same time, over the borders of slices', () => {
    const trends = trendsOf([call(0, 25), call(5, 15), call(15, 30)], { from: 0, to: 240 });
    expect(trends?.active.slice(0, 4)).toEqual([2, 2, 2, 0]);
  });

  it('says nothing of no time, and of few calls', () => {
    const calls = [call(0, 5), call(1, 6), call(2, 7)];
    expect(trendsOf(calls, { from: 5, to: 5 })).toBeNull();
    expect(trendsOf(calls, { from: Number.NaN, to: 5 })).toBeNull();
    expect(trendsOf(calls, { from: 0, to: 5 })).not.toBeNull();
    expect(trendsOf(calls.slice(1), { from: 0, to: 5 })).toBeNull();
  });
});
