import { beforeEach, describe, expect, it } from 'vitest';
import type { CallEvent } from '../../src/contract/call-event.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import { reduceCall } from '../../src/events/reduce.js';
import { CallBench } from '../support/call-fakes.js';
import { ended, stamp, started } from '../support/call-facts.js';

const RECORDING = { url: 'https://example.com/r', durationMs: 5000, status: 'completed' } as const;

describe('a call that ended before this process began', () => {
  let bench: CallBench;
  let record: CallRecord;
  const recordAfter = (events: readonly CallEvent[]) => events.reduce<CallRecord>(reduceCall, record);

  beforeEach(() => {
    bench = new CallBench();
    const cost = {
      stt: 0.01,
      llm: 0.02,
      tts: 0.03,
      telephony: 0.5,
      total: 0.56,
      currency: 'USD',
      estimated: true,
    } as const;
    const facts = [
      started({ carrierCallId: 'carrier-call-1' }),
      { type: 'cost.updated', cost, usage: null } as const,
      ended(),
    ];
    const made = stamp(facts, { at: bench.clock.wallNow() - 1000 }).reduce<CallRecord | undefined>(
      reduceCall,
      undefined,
    );
    if (made === undefined) throw new Error('no record');
    record = made;
    bench.desk.recall(record);
  });

  it('is not woken by a webhook that comes again', () => {
    expect(bench.ring()).toEqual({ type: 'hang-up' });
    expect(bench.events).toEqual([]);
  });

  it('takes a recording, once', () => {
    bench.report({ type: 'recording', recording: RECORDING });
    bench.report({ type: 'recording', recording: RECORDING });
    expect(bench.types()).toEqual(['recording.completed']);
    expect(recordAfter(bench.events)).toEqual({ ...record, recording: RECORDING, seq: record.seq + 1 });
  });

  it('takes what the carrier charges in place of an estimate', () => {
    bench.report({ type: 'cost', costUsd: 0.004 });
    bench.report({ type: 'cost', costUsd: 0.004 });
    bench.report({ type: 'cost', costUsd: Number.NaN });
    expect(bench.types()).toEqual(['cost.updated']);
    expect(recordAfter(bench.events).cost).toEqual({
      ...record.cost,
      telephony: 0.004,
      total: 0.064,
      estimated: false,
    });
  });

  it('keeps the estimate of a stream that the figure does not cover', () => {
    const pricing = { 'carrier-a': { stream: { perMinute: 0.0044 } } };
    const priced = new CallBench({ pricing });
    priced.desk.recall(record);
    priced.report({ type: 'cost', costUsd: 0.004 });
    expect(recordAfter(priced.events).cost).toMatchObject({
      telephony: 0.0084,
      total: 0.0684,
      estimated: true,
    });
  });

  it('knows the facts of its own, and no other call', () => {
    bench.report({ type: 'recording', recording: RECORDING, carrierCallId: 'another' });
    expect(bench.events).toEqual([]);
  });
});
