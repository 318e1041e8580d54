import { describe, expect, it } from 'vitest';
import type { CallSummary } from '../../../../src/contract/dashboard-api.js';
import { axisTop, chartsOf } from '../../../../src/dashboard/ui/state/charts.js';
import { unknownLatency } from '../../../../src/events/summarize.js';

function call(startedAt: number, fields: Partial<CallSummary> = {}): CallSummary {
  return {
    startedAt,
    outcome: 'answered',
    endReason: 'caller-hangup',
    error: null,
    cost: { stt: 1, llm: null, tts: 2, telephony: 3, total: 6 },
    latency: { avgMs: null, stages: unknownLatency() },
    ...fields,
  } as CallSummary;
}

function answered(endpointingMs: number, totalMs: number): Partial<CallSummary> {
  const stages = { ...unknownLatency(), endpointingMs, totalMs };
  return { latency: { avgMs: totalMs, p50Ms: totalMs, p95Ms: totalMs, p99Ms: totalMs, stages } };
}

const SPAN = { from: 0, to: 240 };

describe('charts', () => {
  it('add up each component of the cost of what began in a slice of time', () => {
    const charts = chartsOf([call(0), call(9), call(10)], SPAN);
    expect(charts?.slices).toHaveLength(24);
    expect(charts?.slices[0]?.costs).toEqual({ stt: 2, llm: 0, tts: 4, telephony: 6 });
    expect(charts?.slices[1]).toMatchObject({ from: 10, calls: 1 });
  });

  it('average the stages over the calls that have answers', () => {
    const calls = [call(0, answered(100, 400)), call(1, answered(300, 600)), call(2)];
    expect(chartsOf(calls, SPAN)?.slices[0]?.latency).toEqual({
      ...unknownLatency(),
      endpointingMs: 200,
      totalMs: 500,
    });
  });

  it('count what failed, and why calls ended', () => {
    const lost = call(5, { endReason: 'stream-lost' });
    const failed = call(239, { outcome: 'failed', endReason: 'stream-lost' });
    const charts = chartsOf([call(0), lost, failed], SPAN);
    expect(charts).toMatchObject({ calls: 3, failed: 2 });
    expect(charts?.slices.map((slice) => slice.failed).filter((count) => count > 0)).toEqual([1, 1]);
    expect(charts?.ends).toEqual([
      { reason: 'stream-lost', count: 2 },
      { reason: 'caller-hangup', count: 1 },
    ]);
  });

  it('say nothing of no call, and of no time', () => {
    expect(chartsOf([call(500)], SPAN)).toBeNull();
    expect(chartsOf([call(0)], { from: 0, to: 0 })).toBeNull();
  });

  it.each([
    [0, 1],
    [0.0042, 0.005],
    [1, 1],
    [1.2, 1.5],
    [730, 1000],
    [2000, 2000],
  ])('have an axis for %s that ends at %s', (value, top) => expect(axisTop(value)).toBeCloseTo(top, 9));
});
