import { beforeEach, describe, expect, it } from 'vitest';
import { LoadJudge } from '../../src/base/load-judge.js';
import { silentLogger } from '../../src/base/log.js';
import type { CallFact } from '../../src/contract/call-event.js';
import type { CallRecord, Cost } from '../../src/contract/call-record.js';
import { EventBus } from '../../src/events/bus.js';
import { reduceCall } from '../../src/events/reduce.js';
import { ServerMetrics } from '../../src/observability/server-metrics.js';
import { ended, IDENTITY, stamp, started, toolCall, turn } from '../support/call-facts.js';
import { readExposition, seriesOf, sampleOf } from '../support/exposition.js';
import { FakeClock } from '../support/fake-clock.js';

let clock: FakeClock;
let bus: EventBus;
let load: LoadJudge;
let metrics: ServerMetrics;
let isDraining = false;
let callsUp = 0;

beforeEach(() => {
  clock = new FakeClock();
  isDraining = false;
  callsUp = 0;
  bus = new EventBus(silentLogger);
  load = new LoadJudge({ logger: silentLogger, callsUp: () => 0 });
  metrics = new ServerMetrics({ bus, clock, load, callsUp: () => callsUp, isDraining: () => isDraining });
});

function publish(facts: readonly CallFact[], envelope: Parameters<typeof stamp>[1] = {}): void {
  for (const event of stamp(facts, envelope)) bus.publish(event);
}

const read = () => readExposition(metrics.text());

function cost(parts: Partial<Cost>): CallFact {
  const none = {
    stt: null,
    llm: null,
    tts: null,
    telephony: null,
    currency: 'USD',
    estimated: true,
  } as const;
  return { type: 'cost.updated', cost: { ...none, total: 0, ...parts }, usage: null };
}

it('counts of a call that another process had what is new, and its whole length', () => {
  const facts = [started(), cost({ llm: 0.03, stt: 0.002, telephony: 0.01 })];
  const record = stamp(facts, { stepMs: 30_000 }).reduce<CallRecord | undefined>(reduceCall, undefined);
  if (record === undefined) throw new Error('no record');
  metrics.adopt(record);
  const later = [
    { type: 'call.status', status: 'active', ...IDENTITY } as const,
    cost({ llm: 0.04, stt: 0.002, telephony: 0.02 }),
    cost({ llm: 0.04, stt: 0.002, telephony: 0.02, estimated: false }),
    ended(),
  ];
  publish(later, { at: record.startedAt + 90_000, stepMs: 0 });
  const families = read();
  const spent = (component: string) => sampleOf(families, 'offhook_spent_dollars_total', { component });
  expect(spent('llm')).toBeCloseTo(0.01, 9);
  expect(spent('stt') ?? 0).toBe(0);
  // Of the line nothing was counted before it was settled.
  publish([cost({ llm: 0.04, stt: 0.002, telephony: 0.02, estimated: false })], {
    at: record.startedAt + 90_000,
  });
  expect(sampleOf(read(), 'offhook_spent_dollars_total', { component: 'telephony' })).toBeCloseTo(0.02, 9);
  expect(seriesOf(families, 'offhook_call_duration_seconds')).toMatchObject({ count: 1, sum: 90 });
});

it('counts nothing more of a call once another process has it', () => {
  publish([started(), cost({ llm: 0.01 })], { callId: 'gone' });
  metrics.leave('gone');
  publish([cost({ llm: 0.05 })], { callId: 'gone' });
  expect(sampleOf(read(), 'offhook_spent_dollars_total', { component: 'llm' })).toBeCloseTo(0.01, 9);
});

describe('calls', () => {
  it('are counted at their end, by direction, outcome and reason', () => {
    publish([started(), ended()], { callId: 'a', stepMs: 42_000 });
    publish([started(), ended({ endReason: 'agent-hangup' })], { callId: 'b' });
    publish(
      [
        { type: 'call.status', status: 'ringing', ...IDENTITY, direction: 'outbound' },
        ended({ endReason: 'busy', outcome: 'busy' }),
      ],
      { callId: 'c' },
    );
    publish([started()], { callId: 'still up' });
    const families = read();
    const count = (direction: string, outcome: string, reason: string) =>
      sampleOf(families, 'offhook_calls_total', { direction, outcome, end_reason: reason });
    expect(count('inbound', 'answered', 'caller-hangup')).toBe(1);
    expect(count('inbound', 'answered', 'agent-hangup')).toBe(1);
    expect(count('outbound', 'busy', 'busy')).toBe(1);
    expect(families.get('offhook_calls_total')?.metrics).toHaveLength(3);
    // One that was never answered has no duration.
    expect(seriesOf(families, 'offhook_call_duration_seconds')).toMatchObject({ count: 2, sum: 42.01 });
  });

  it('are counted once, and also when nothing but their end is heard', () => {
    publish([ended(), ended()]);
    expect(read().get('offhook_calls_total')?.metrics).toMatchObject([
      { labels: { direction: 'unknown' }, value: 1 },
    ]);
  });

  it('tell the stages of their turns in seconds, and only those that are known', () => {
    const latency = { endpointingMs: 400, sttMs: 100, llmFirstTokenMs: 300, totalMs: 1000 };
    publish([
      started(),
      { type: 'turn.completed', turn: turn(0) },
      {
        type: 'turn.completed',
        turn: {
          ...turn(1, latency),
          interrupted: true,
          toolCalls: [
            toolCall({ name: 'search', startedAt: 0, durationMs: 5, error: null }),
            toolCall({
              name: 'search',
              startedAt: 0,
              durationMs: 5,
              error: 'It failed for the caller Ottilie.',
            }),
          ],
        },
      },
    ]);
    const families = read();
    expect(sampleOf(families, 'offhook_turns_total', { interrupted: 'false' })).toBe(1);
    expect(sampleOf(families, 'offhook_turns_total', { interrupted: 'true' })).toBe(1);
    const stages = families.get('offhook_turn_stage_seconds')?.metrics ?? [];
    expect(stages.map(({ labels, sum, count }) => [labels.stage, sum, count])).toEqual([
      ['endpointing', 0.4, 1],
      ['stt', 0.1, 1],
      ['llm_first_token', 0.3, 1],
      ['total', 1, 1],
    ]);
    expect(sampleOf(families, 'offhook_tool_calls_total', { result: 'ok' })).toBe(1);
    expect(sampleOf(families, 'offhook_tool_calls_total', { result: 'error' })).toBe(1);
    expect(metrics.text()).not.toContain('Ottilie');
  });

  it('count a tool that is done behind its turn when it is, and one that never is at the end', () => {
    const tool = toolCall({ name: 'search', startedAt: 0, durationMs: null, error: null });
    const counted = (result: string) => sampleOf(read(), 'offhook_tool_calls_total', { result });
    const tell: CallFact = {
      type: 'transcript.segment',
      entry: { id: 'tool-1', turnIndex: 0, role: 'tool', text: 'search failed', at: 0, final: true },
      tool: { ...tool, durationMs: 9000, error: 'No.' },
    };
    const used = (...toolCalls: (typeof tool)[]): CallFact => ({
      type: 'turn.completed',
      turn: { ...turn(0), toolCalls },
    });
    publish([started(), used(tool, tool), tell], { callId: 'still up' });
    expect([counted('ok'), counted('error')]).toEqual([undefined, 1]);
    publish([started(), used(tool), tell, tell, ended()], { callId: 'a' });
    expect([counted('ok'), counted('error')]).toEqual([undefined, 2]);
    publish([started(), used(tool, tool), tell, ended(), tell], { callId: 'b' });
    expect([counted('ok'), counted('error')]).toEqual([1, 3]);
  });

  const spent = (component: string) => sampleOf(read(), 'offhook_spent_dollars_total', { component });

  it('spend money that only rises, also when the price is told after the end', () => {
    publish([
      started(),
      cost({ llm: 0.01 }),
      cost({ llm: 0.03, stt: 0.002 }),
      cost({ llm: 0.02 }),
      ended(),
      cost({ llm: 0.03, telephony: 0.0085 }),
      cost({ llm: 0.03, telephony: 0.0085 }),
    ]);
    publish([cost({ llm: 99 })], { callId: 'never heard of' });
    expect(spent('llm')).toBeCloseTo(0.03, 9);
    expect(spent('stt')).toBeCloseTo(0.002, 9);
    expect(spent('telephony')).toBeCloseTo(0.0085, 9);
  });

  it('count the line at the price of the carrier, also where that is below the estimate', () => {
    const facts = [started(), cost({ telephony: 0.017, llm: 0.01 }), ended()];
    publish([...facts, cost({ telephony: 0.0085, llm: 0.01, estimated: false })]);
    expect(spent('telephony')).toBeCloseTo(0.0085, 9);
    // The price is the estimate.
    publish([...facts, cost({ telephony: 0.017, llm: 0.01, estimated: false })], { callId: 'b' });
    expect(spent('telephony')).toBeCloseTo(0.0255, 9);
    // What else is told late says nothing of the line.
    publish([...facts, cost({ telephony: 0.017, llm: 0.02 })], { callId: 'c' });
    expect(spent('telephony')).toBeCloseTo(0.0255, 9);
    expect(spent('llm')).toBeCloseTo(0.04, 9);
  });

  it('count the estimate of a line twelve minutes after the end, where no price has come', () => {
    publish([started(), cost({ telephony: 0.017 })], { callId: 'up' });
    publish([started(), cost({ telephony: 0.017 }), ended()]);
    clock.advance(12 * 60_000 - 1);
    expect(spent('telephony')).toBeUndefined();
    clock.advance(1);
    expect(spent('telephony')).toBeCloseTo(0.017, 9);
    publish(
      [cost({ telephony: 0.034 })].map((fact) => fact),
      { callId: 'call-1' },
    );
    expect(spent('telephony')).toBeCloseTo(0.034, 9);
  });

  it('tell of incidents by code', () => {
    publish([started(), { type: 'incident.noted', code: 'stream-replaced', message: 'A word.' }]);
    expect(sampleOf(read(), 'offhook_incidents_total', { code: 'stream-replaced' })).toBe(1);
  });

  it('that never end are forgotten after ten thousand others', () => {
    for (let index = 0; index <= 10_000; index += 1) publish([started()], { callId: `call-${index}` });
    publish([ended()], { callId: 'call-0' });
    publish([ended()], { callId: 'call-1' });
    expect(
      read()
        .get('offhook_calls_total')
        ?.metrics.map(({ labels }) => labels.direction),
    ).toEqual(['unknown', 'inbound']);
  });
});

describe('measurements', () => {
  it('are shown in base units', () => {
    metrics.frameSent(0);
    metrics.frameSent(7);
    metrics.queued(400);
    metrics.queued(-20);
    metrics.providerFailed('llm', 'PROVIDER_FAILED');
    metrics.webhookRefused('carrier-a', 'SIGNATURE_MISSING');
    metrics.audioDropped(2500);
    const families = read();
    expect(seriesOf(families, 'offhook_frame_lateness_seconds')).toMatchObject({
      count: 2,
      sum: 0.007,
      buckets: {
        ...{ '0.0005': 1, '0.001': 1, '0.002': 1, '0.005': 1 },
        ...{ '0.01': 2, '0.02': 2, '0.05': 2, '0.1': 2, '0.2': 2, '0.5': 2, '1': 2, '+Inf': 2 },
      },
    });
    expect(sampleOf(families, 'offhook_outbound_queue_seconds')).toBe(0.38);
    expect(sampleOf(families, 'offhook_inbound_audio_dropped_seconds_total')).toBe(2.5);
    expect(
      sampleOf(families, 'offhook_provider_errors_total', { stage: 'llm', code: 'PROVIDER_FAILED' }),
    ).toBe(1);
    expect(
      sampleOf(families, 'offhook_webhooks_refused_total', {
        carrier: 'carrier-a',
        code: 'SIGNATURE_MISSING',
      }),
    ).toBe(1);
  });

  it('tell how late the event loop is', () => {
    clock.advance(200);
    clock.stall(230);
    clock.advance(0);
    expect(seriesOf(read(), 'offhook_event_loop_lag_seconds')).toMatchObject({
      count: 2,
      sum: expect.closeTo(0.18, 9),
    });
  });

  it('tell of the process', () => {
    const families = read();
    expect(sampleOf(families, 'process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(sampleOf(families, 'process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(sampleOf(families, 'nodejs_heap_size_used_bytes')).toBeGreaterThan(1e5);
    const start = sampleOf(families, 'process_start_time_seconds') ?? 0;
    expect(start).toBeCloseTo(clock.wallNow() / 1000 - process.uptime(), 0);
  });

  it('stop with the server', () => {
    metrics.close();
    publish([started(), ended()]);
    expect(clock.pending).toBe(0);
    expect(read().has('offhook_calls_total')).toBe(false);
  });
});

it('an overload is shown, judged by the lateness of loop and frames', () => {
  expect(sampleOf(read(), 'offhook_overloaded')).toBe(0);
  for (let sample = 0; sample < 30; sample += 1) {
    for (let frame = 0; frame < 50; frame += 1) metrics.frameSent(150);
    clock.advance(100);
  }
  expect(sampleOf(read(), 'offhook_overloaded')).toBe(1);
  clock.advance(10_000);
  expect(sampleOf(read(), 'offhook_overloaded')).toBe(0);
});

it('a drain is shown', () => {
  expect(sampleOf(read(), 'offhook_draining')).toBe(0);
  expect(sampleOf(read(), 'offhook_server_calls')).toBe(0);
  callsUp = 2;
  expect(sampleOf(read(), 'offhook_server_calls')).toBe(2);
  isDraining = true;
  expect(sampleOf(read(), 'offhook_draining')).toBe(1);
});
