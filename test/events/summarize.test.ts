import { describe, expect, it } from 'vitest';
import { reduceCall } from '../../src/events/reduce.js';
import {
  aggregate,
  average,
  percentile,
  roundMoney,
  summarizeLatency,
  toSummary,
} from '../../src/events/summarize.js';
import type { CallFact } from '../../src/contract/call-event.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import { ended, stamp, started, turn } from '../support/call-facts.js';

function record(facts: CallFact[], stepMs = 10): CallRecord {
  const result = stamp(facts, { stepMs }).reduce<CallRecord | undefined>(reduceCall, undefined);
  if (result === undefined) throw new Error('no facts');
  return result;
}

function costing(total: number, stt: number | null): CallFact {
  return {
    type: 'cost.updated',
    cost: { stt, llm: null, tts: null, telephony: null, total, currency: 'USD', estimated: true },
    usage: {
      sttSeconds: 0,
      llmInputTokens: 0,
      llmCachedTokens: 0,
      llmOutputTokens: 0,
      ttsCharacters: 0,
      telephonySeconds: 0,
    },
  };
}

describe('figures', () => {
  it.each([
    [[], 95, null],
    [[7], 50, 7],
    [[3, 1, 2], 50, 2],
    [[1, 2, 3, 4], 50, 2],
    [Array.from({ length: 20 }, (_, index) => index + 1), 95, 19],
    [Array.from({ length: 21 }, (_, index) => index + 1), 95, 20],
    [[5, 9], 0, 5],
    [[5, 9], 100, 9],
  ])('percentile of %j at %d is %s', (values, percent, expected) => {
    expect(percentile(values, percent)).toBe(expected);
  });

  it('has no average of nothing, and rounds money to a millionth', () => {
    expect(average([])).toBeNull();
    expect(average([1, 2])).toBe(1.5);
    expect(roundMoney(0.1 + 0.2)).toBe(0.3);
    expect(roundMoney(0.0000014)).toBe(0.000001);
  });

  it('leaves turns without a value out of the latency', () => {
    const latency = summarizeLatency([
      turn(0),
      turn(1, { totalMs: 100 }),
      turn(2, { totalMs: 301, sttMs: 40 }),
    ]);
    expect(latency).toMatchObject({
      avgMs: 201,
      p50Ms: 100,
      p95Ms: 301,
      p99Ms: 301,
      stages: { sttMs: 40, llmFirstTokenMs: null },
    });
  });

  it('adds up calls: what is ringing counts as active, unknown values are left out', () => {
    const records = [
      record([
        started(),
        costing(0.1, 0.1),
        { type: 'turn.completed', turn: turn(0, { totalMs: 500 }) },
        ended(),
      ]),
      record([started(), costing(0.2, null), ended()], 20),
      record([{ ...started(), type: 'call.status', status: 'ringing' } as CallFact]),
    ];
    expect(aggregate(records)).toEqual({
      totalCalls: 3,
      activeCalls: 1,
      completedCalls: 2,
      totalCost: 0.3,
      costBreakdown: { stt: 0.1, llm: 0, tts: 0, telephony: 0 },
      avgDurationMs: 35,
      avgLatencyMs: 500,
      p95LatencyMs: 500,
      p99LatencyMs: 500,
    });
    expect(aggregate([])).toMatchObject({
      totalCalls: 0,
      totalCost: 0,
      avgDurationMs: null,
      p95LatencyMs: null,
    });
  });

  it('lists a record without its turns and transcript', () => {
    const summary = toSummary(record([started()]));
    expect(summary).toMatchObject({ callId: 'call-1', status: 'active' });
    expect(summary).not.toHaveProperty('turns');
    expect(summary).not.toHaveProperty('transcript');
  });
});
