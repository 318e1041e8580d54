import { describe, expect, it } from 'vitest';
import type { CallFact } from '../../../../src/contract/call-event.js';
import type { CallRecord } from '../../../../src/contract/call-record.js';
import {
  keepOrder,
  LIVE_ORDERS,
  longWaits,
  selectLive,
  waitingSince,
} from '../../../../src/dashboard/ui/state/live.js';
import { reduceCall } from '../../../../src/events/reduce.js';
import { IDENTITY, stamp, started } from '../../../support/call-facts.js';

function call(callId: string, at: number, ...facts: CallFact[]): CallRecord {
  const record = stamp(facts, { callId, at }).reduce<CallRecord | undefined>(reduceCall, undefined);
  if (record === undefined) throw new Error('no record');
  return record;
}

const thinking: CallFact = { type: 'phase.changed', phase: 'thinking' };
const held: CallFact = { type: 'phase.changed', phase: 'held' };
const speaking: CallFact = { type: 'phase.changed', phase: 'speaking' };
const trouble: CallFact = { type: 'incident.noted', code: 'turn-failed', message: 'It failed.' };
const ringing: CallFact = { type: 'call.status', status: 'ringing', ...IDENTITY };

const CALLS = [
  call('talks', 1000, started(), thinking, speaking),
  call('thinks', 4000, started({ caller: '+15557770001' }), thinking),
  call('rings', 3000, ringing),
  call('dials', 2000, { ...ringing, direction: 'outbound' }),
  call('held', 5000, started(), held, trouble),
  call('troubled', 500, started({ agent: 'Front desk' } as object), trouble, speaking),
];
const idsOf = (calls: readonly CallRecord[]) => calls.map(({ callId }) => callId);

describe('calls that are up', () => {
  it.each([
    ['longest', ['troubled', 'talks', 'dials', 'rings', 'thinks', 'held']],
    ['waiting', ['rings', 'thinks', 'held', 'troubled', 'talks', 'dials']],
    ['trouble', ['held', 'troubled', 'talks', 'dials', 'rings', 'thinks']],
  ] as const)('come in the order %s', (order, ids) => {
    expect(idsOf(selectLive(CALLS, { q: '', order }))).toEqual(ids);
  });

  it.each(LIVE_ORDERS)('that began together have one order, %s', (order) => {
    const twins = [call('b', 1, started()), call('a', 1, started())];
    expect(idsOf(selectLive(twins, { q: '', order }))).toEqual(['a', 'b']);
  });

  it.each([
    ['777', ['thinks']],
    [' HELD ', ['held']],
    ['front', ['troubled']],
    ['nobody', []],
  ])('are found by number, id and agent: %s', (q, ids) => {
    expect(idsOf(selectLive(CALLS, { q, order: 'longest' }))).toEqual(ids);
  });

  it('wait from the moment that nobody speaks to the caller', () => {
    expect(CALLS.map((each) => waitingSince(each))).toEqual([null, 4010, 3000, null, 5010, null]);
  });

  it.each([
    [12_999, []],
    [13_000, ['rings']],
    [99_999, ['thinks', 'rings']],
  ])('wait too long after ten seconds, but for who is being transferred: at %s', (now, ids) => {
    expect(longWaits(CALLS, () => now).map(({ call: each }) => each.callId)).toEqual(ids);
  });

  it('keep their places while they are pointed at, and new ones come behind', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((id) => call(id, 1, started()));
    expect(idsOf(keepOrder([a!, b!, c!], ['c', 'gone', 'a']))).toEqual(['c', 'a', 'b']);
  });
});
