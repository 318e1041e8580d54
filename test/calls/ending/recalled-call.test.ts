import { beforeEach, describe, expect, it } from 'vitest';
import type { OtherProcesses } from '../../../src/calls/call-environment.js';
import type { CallEvent } from '../../../src/contract/call-event.js';
import type { CallRecord } from '../../../src/contract/call-record.js';
import { reduceCall } from '../../../src/events/reduce.js';
import { CallBench } from '../../support/call-bench.js';
import { ended, stamp, started } from '../../support/call-facts.js';

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
    for (const costUsd of [Number.NaN, 1e99, -1]) bench.report({ type: 'cost', costUsd });
    expect(bench.types()).toEqual(['cost.updated']);
    expect(recordAfter(bench.events).cost).toEqual({
      ...record.cost,
      telephony: 0.004,
      total: 0.064,
      estimated: false,
    });
  });

  it('stays an estimate where its process died: what was used last may be missing', () => {
    const lost = { ...record, endReason: 'process-lost' } as const;
    const other = new CallBench();
    other.desk.recall(lost);
    other.report({ type: 'cost', costUsd: 0.004 });
    expect(recordAfter(other.events).cost).toMatchObject({ telephony: 0.004, estimated: true });
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

  it('goes on in the next term, as the same call of the process that it began in', () => {
    bench.desk.recall({ ...record, nodeId: 'node-of-before', originId: 'node-of-first', term: 3 });
    bench.report({ type: 'recording', recording: RECORDING });
    expect(bench.events).toMatchObject([
      { nodeId: 'node-1', originId: 'node-of-first', term: 4, seq: record.seq + 1 },
    ]);
  });

  it('goes on in the term in which this process has claimed it, where that is higher', () => {
    const others = { claimedTerm: () => 5 } as Partial<OtherProcesses> as OtherProcesses;
    const other = new CallBench({ others });
    other.desk.recall({ ...record, nodeId: 'node-of-before', term: 3 });
    other.report({ type: 'recording', recording: RECORDING });
    expect(other.events).toMatchObject([{ nodeId: 'node-1', term: 5, seq: record.seq + 1 }]);
  });

  it('goes on in its own term where this process has ended it', () => {
    bench.desk.recall({ ...record, nodeId: 'node-1', originId: 'node-of-first', term: 2 });
    bench.report({ type: 'recording', recording: RECORDING });
    expect(bench.events).toMatchObject([{ nodeId: 'node-1', term: 2, seq: record.seq + 1 }]);
  });

  describe('because its process died', () => {
    const lost = (fields: Partial<CallRecord> = {}): CallRecord => ({
      ...record,
      endReason: 'process-lost',
      ...fields,
    });
    const transfer = (result: NonNullable<CallRecord['transfer']>['result']) => ({
      transfer: { to: '+15550123', startedAt: 1, result },
    });

    it.each<[string, boolean, Partial<CallRecord>]>([
      ['may be up', true, {}],
      ['is not asked about without an id of the carrier', false, { carrierCallId: null }],
      ['is not asked about at another carrier', false, { carrier: 'carrier-b' }],
      ['is not asked about when no call takes so long', false, { endedAt: 1 }],
      ['is left to whom it was being handed over', false, transfer(null)],
      ['is left to whom it was handed over', false, transfer('connected')],
      ['may be up if handing it over has failed', true, transfer('busy')],
    ])('%s', (_what, mayBeUp, fields) => {
      expect(bench.desk.mayBeUp(lost(fields))).toBe(mayBeUp);
    });
  });

  describe('and was not hung up by then', () => {
    const pending = (fields: Partial<CallRecord> = {}): CallRecord => ({
      ...record,
      hangUp: 'pending',
      ...fields,
    });

    it.each<[string, boolean, Partial<CallRecord>, string[]]>([
      ['is hung up', false, {}, ['lookUp carrier-call-1', 'hangUp carrier-call-1']],
      [
        'is hung up, whoever ended it',
        false,
        { endReason: 'process-lost' },
        ['lookUp carrier-call-1', 'hangUp carrier-call-1'],
      ],
      ['is left alone if the carrier has not got it', true, {}, ['lookUp carrier-call-1']],
      ['is not asked about at another carrier', false, { carrier: 'carrier-b' }, []],
      ['is not asked about once that is done', false, { hangUp: 'done' }, []],
      ['is not asked about where that has failed', false, { hangUp: 'failed' }, []],
    ])('%s', async (_what, over, fields, requests) => {
      bench.rest.over = over;
      bench.desk.recall(pending(fields));
      await bench.clock.advanceAsync(4000);
      expect(bench.rest.requests).toEqual(requests);
      expect(bench.types()).toEqual(requests.length > 0 ? ['hangup.updated'] : []);
      if (requests.length > 0) expect(recordAfter(bench.events).hangUp).toBe('done');
    });

    it('is asked about for what is left of a day, and its record says when that was for nothing', async () => {
      bench.rest.failure = new Error('503');
      bench.desk.recall(pending({ endedAt: bench.clock.wallNow() - 20 * 3_600_000 }));
      await bench.clock.advanceAsync(3 * 3_600_000);
      expect(bench.events).toEqual([]);
      await bench.clock.advanceAsync(2 * 3_600_000);
      expect(recordAfter(bench.events)).toMatchObject({
        hangUp: 'failed',
        incidents: [{ code: 'hangup-failed' }],
      });
    });

    it('is asked about no more once the carrier reports the end', async () => {
      bench.rest.failures.hangUp = new Error('503');
      bench.desk.recall(pending());
      await bench.clock.advanceAsync(500);
      bench.status('completed', { outcome: 'answered' });
      await bench.clock.advanceAsync(4000);
      expect(bench.rest.requests).toEqual(['lookUp carrier-call-1', 'hangUp carrier-call-1']);
      expect(recordAfter(bench.events).hangUp).toBe('done');
    });

    it('is hung up when the carrier reports its end, also where that had failed', async () => {
      bench.desk.recall(pending({ hangUp: 'failed' }));
      bench.status('ringing');
      expect(bench.events).toEqual([]);
      bench.status('completed', { outcome: 'answered' });
      bench.status('completed', { outcome: 'answered' });
      expect(bench.types()).toEqual(['hangup.updated']);
      expect(recordAfter(bench.events).hangUp).toBe('done');
      expect(bench.rest.requests).toEqual([]);
    });

    it('is asked about again at a webhook of it, however late', async () => {
      bench.rest.failures.hangUp = new Error('503');
      bench.desk.recall(pending());
      await bench.clock.advanceAsync(8 * 3_600_000);
      const before = bench.rest.requests.length;
      delete bench.rest.failures.hangUp;
      bench.report({ type: 'dtmf', digit: '1' });
      await bench.clock.advanceAsync(0);
      expect(bench.rest.requests.slice(before)).toEqual(['lookUp carrier-call-1', 'hangUp carrier-call-1']);
      expect(recordAfter(bench.events).hangUp).toBe('done');
    });
  });
});
