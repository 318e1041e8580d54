import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { latencyOf, type Milestone, reached, UNMEASURED } from '../../src/conversation/latency.js';
import { reduceCall } from '../../src/events/reduce.js';
import {
  aggregate,
  average,
  percentile,
  roundMoney,
  summarizeLatency,
  Tally,
  toSummary,
  unknownLatency,
} from '../../src/events/summarize.js';
import type { CallFact } from '../../src/contract/call-event.js';
import type { CallRecord, TurnLatency } from '../../src/contract/call-record.js';
import { callsOfEvents, interleave, anyPicks } from '../support/call-event-arbitraries.js';
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

  it('counts a call as completed when it is, and as active before', () => {
    const parties = {
      carrierCallId: 'CA1',
      carrier: 'carrier-a',
      direction: 'inbound',
      caller: '',
      callee: '',
    } as const;
    const statuses = ['initiated', 'ringing', 'active'] as const;
    const up = statuses.map((status) => record([{ type: 'call.status', status, ...parties }]));
    expect(aggregate(up)).toMatchObject({ totalCalls: 3, activeCalls: 3, completedCalls: 0 });
    expect(aggregate([...up, record([started(), ended()])])).toMatchObject({
      activeCalls: 3,
      completedCalls: 1,
    });
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

describe('the latency of a call', () => {
  const MILESTONES: readonly Milestone[] = [
    'turnEnded',
    'textFinal',
    'firstToken',
    'firstSentence',
    'firstAudio',
    'firstFrameSent',
  ];
  const PARTS = [
    'endpointingMs',
    'sttMs',
    'llmFirstTokenMs',
    'sentenceMs',
    'ttsFirstByteMs',
    'sendMs',
  ] as const;

  /** As an engine measures it: fractions of milliseconds, milestones a little out of order, an answer that may stop anywhere. */
  const measured = fc
    .record({
      start: fc.option(fc.double({ min: 0, max: 1e7, noNaN: true }), { freq: 8 }),
      steps: fc.array(fc.double({ min: -30, max: 2500, noNaN: true }), { minLength: 6, maxLength: 6 }),
      count: fc.integer({ min: 0, max: 9 }),
      heardAfter: fc.option(fc.double({ min: 0, max: 900, noNaN: true })),
    })
    .map(({ start, steps, count, heardAfter }) => {
      let latency = UNMEASURED;
      let at = start ?? 0;
      if (start !== null) latency = reached(latency, 'speechEnded', start);
      for (const [index, milestone] of MILESTONES.slice(0, count).entries()) {
        at += steps[index] ?? 0;
        latency = reached(latency, milestone, at);
      }
      if (heardAfter !== null && count >= MILESTONES.length)
        latency = reached(latency, 'heard', at + heardAfter);
      return latencyOf(latency);
    });
  const sumOf = (values: readonly (number | null)[]) =>
    values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

  it('has parts that sum to the whole, in each turn and on the average', () => {
    fc.assert(
      fc.property(fc.array(measured, { minLength: 1, maxLength: 40 }), (latencies) => {
        for (const latency of latencies) {
          for (const part of PARTS) expect(latency[part] ?? 0).toBeGreaterThanOrEqual(0);
          if (latency.totalMs === null) continue;
          expect(Math.abs(sumOf(PARTS.map((part) => latency[part])) - latency.totalMs)).toBeLessThanOrEqual(
            20,
          );
        }
        const { avgMs, p50Ms, p95Ms, p99Ms, stages } = summarizeLatency(
          latencies.map((latency, index) => turn(index, latency)),
        );
        const totals = latencies.flatMap(({ totalMs }) => (totalMs === null ? [] : [totalMs]));
        if (totals.length === 0) {
          expect([avgMs, p50Ms, p95Ms, p99Ms, stages.endpointingMs]).toEqual([null, null, null, null, null]);
          return;
        }
        expect(Math.abs(sumOf(PARTS.map((part) => stages[part])) - (avgMs ?? 0))).toBeLessThanOrEqual(20);
        expect(stages.totalMs).toBe(avgMs);
        for (const value of [p50Ms, p95Ms, p99Ms]) expect(totals).toContain(value);
        expect([p50Ms, p95Ms, p99Ms]).toEqual([p50Ms, p95Ms, p99Ms].sort((a, b) => (a ?? 0) - (b ?? 0)));
      }),
    );
  });

  it('is by the plain definition: averages of what is known over the answered turns, nearest ranks', () => {
    const whole = (value: number | null) => (value === null ? null : Math.round(value));
    const known = (values: readonly (number | null)[]) => values.filter((value) => value !== null);
    const anyLatency = fc.oneof(measured, fc.record({ totalMs: fc.nat(3000), sttMs: fc.option(fc.nat(90)) }));
    fc.assert(
      fc.property(fc.array(anyLatency, { maxLength: 60 }), (latencies) => {
        const turns = latencies.map((latency, index) => turn(index, latency));
        const before = structuredClone(turns);
        const answered = turns.map(({ latency }) => latency).filter(({ totalMs }) => totalMs !== null);
        const totals = known(answered.map(({ totalMs }) => totalMs));
        expect(summarizeLatency(turns)).toEqual({
          avgMs: whole(average(totals)),
          p50Ms: whole(percentile(totals, 50)),
          p95Ms: whole(percentile(totals, 95)),
          p99Ms: whole(percentile(totals, 99)),
          stages: Object.fromEntries(
            Object.keys(unknownLatency()).map((stage) => [
              stage,
              whole(average(known(answered.map((latency) => latency[stage as keyof TurnLatency])))),
            ]),
          ),
        });
        expect(turns).toEqual(before);
      }),
    );
  });

  it('counts an interrupted answer, and neither a greeting nor a turn that was cut off before its answer', () => {
    const answered = {
      endpointingMs: 10,
      sttMs: 10,
      llmFirstTokenMs: 10,
      sentenceMs: 10,
      ttsFirstByteMs: 5,
      sendMs: 5,
    };
    const latency = summarizeLatency([
      turn(0),
      turn(1, { ...answered, totalMs: 50, heardMs: 70 }),
      { ...turn(2, { ...answered, endpointingMs: 110, totalMs: 150 }), interrupted: true },
      { ...turn(3, { endpointingMs: 900, sttMs: 900 }), interrupted: true, agentText: '' },
    ]);
    expect(latency).toMatchObject({ avgMs: 100, p50Ms: 50, p95Ms: 150, p99Ms: 150 });
    expect(latency.stages).toMatchObject({ endpointingMs: 60, sttMs: 10, totalMs: 100, heardMs: 70 });
  });

  it.each([
    [99, 99],
    [100, 99],
    [101, 100],
  ])('takes the nearest rank for P99 of %i turns', (count, expected) => {
    const turns = Array.from({ length: count }, (_, index) => turn(index, { totalMs: index + 1 }));
    expect(summarizeLatency(turns).p99Ms).toBe(expected);
    const own = { ...record([started()]), turns };
    expect(aggregate([own]).p99LatencyMs).toBe(expected);
  });
});

describe('a tally', () => {
  it('is at any time what adding up the records gives', () => {
    fc.assert(
      fc.property(callsOfEvents, anyPicks, fc.nat(3), (calls, picks, gone) => {
        const tally = new Tally();
        const records = new Map<string, CallRecord>();
        for (const event of interleave(calls, picks)) {
          const before = records.get(event.callId);
          const after = reduceCall(before, event);
          tally.replace(before, after);
          records.set(event.callId, after);
        }
        const left = records.get(`call-${gone}`);
        if (left !== undefined) tally.replace(left, undefined);
        records.delete(`call-${gone}`);
        const all = [...records.values()];
        expect(tally.result()).toEqual(aggregate(all));
        expect(tally.result().totalCost).toBe(roundMoney(all.reduce((sum, { cost }) => sum + cost.total, 0)));
        const totals = all.flatMap(({ turns }) => turns.flatMap(({ latency }) => latency.totalMs ?? []));
        expect(tally.result().p95LatencyMs).toBe(percentile(totals, 95));
      }),
    );
  });
});
