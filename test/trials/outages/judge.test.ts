import { describe, expect, it } from 'vitest';
import type { CallEvent } from '../../../src/contract/call-event.js';
import type { CallRecord } from '../../../src/contract/call-record.js';
import {
  badEnds,
  badOrder,
  badRecords,
  longestOverlaps,
  missing,
  type SeenNode,
  silenceOf,
} from './judge.mjs';
import { deal, NAMES } from './troubles.mjs';
import { createDice } from '../world.mjs';

const CALL = { carrierCallId: 'CA1', status: 'completed', callId: 'call', startedAt: 1000 };

function fact(nodeId: string, term: number, seq: number, type = 'turn.started'): CallEvent {
  return { type, callId: 'call', nodeId, term, seq, at: 1000 * seq } as CallEvent;
}

/** Both servers know the call, which the first one has. */
function servers(changes: Partial<SeenNode> = {}): SeenNode[] {
  const facts = [fact('a', 1, 1, 'call.started'), fact('a', 1, 2), fact('a', 1, 3, 'call.ended')];
  const records = new Map([['call', CALL as unknown as CallRecord]]);
  const one: SeenNode = { name: 'one', joinedAt: 0, facts, shown: facts, isThere: true, records };
  return [one, { ...one, name: 'two', facts: [], ...changes }];
}

const recordsOf = (record: object) => new Map([['call', { ...CALL, ...record } as unknown as CallRecord]]);
const nobodyLeft = { goneAt: () => undefined };
const ofCall = { carrierCallIds: ['CA1'], knows: () => true };

describe('what must hold of a cluster', () => {
  it('holds for a call that both servers tell alike', () => {
    const nodes = servers();
    expect([badEnds(nodes), badOrder(nodes), missing(nodes, nobodyLeft), badRecords(nodes, ofCall)]).toEqual([
      [],
      [],
      [],
      [],
    ]);
  });

  it('is broken by a second end, and by none', () => {
    expect(badEnds(servers({ facts: [fact('b', 2, 4, 'call.ended')] }))).toEqual([
      'call has 2 ends: one in term 1, two in term 2',
    ]);
    const [one] = servers();
    expect(badEnds([{ ...(one as SeenNode), facts: [fact('a', 1, 1)] }])).toEqual(['call has 0 ends: none']);
  });

  it('is broken by a fact that is told twice, or behind a later one', () => {
    const [first, second] = [fact('a', 1, 1), fact('a', 1, 2)];
    expect(badOrder(servers({ shown: [first, first] }))).toHaveLength(1);
    expect(badOrder(servers({ shown: [second, first] }))).toHaveLength(1);
  });

  it('is broken by a fact that a server does not tell, unless that joined later, or another one had the call', () => {
    const shown = [fact('a', 1, 1, 'call.started'), fact('a', 1, 3, 'call.ended')];
    expect(missing(servers({ shown }), nobodyLeft)).toEqual([
      'two did not tell turn.started (1.2) of call, which one stated, but 1.1 1.3',
    ]);
    expect(missing(servers({ shown, joinedAt: 1500 }), nobodyLeft)).toEqual([]);
    expect(missing(servers({ shown: [], isThere: false }), nobodyLeft)).toEqual([]);
    expect(missing(servers({ shown }), { goneAt: () => 2500 })).toEqual([]);
    expect(missing(servers({ shown, facts: [fact('b', 2, 2)] }), nobodyLeft)).not.toEqual([]);
    const goneOn = [fact('b', 2, 2)];
    const both = [fact('a', 1, 1, 'call.started'), ...goneOn];
    const [first, second] = servers({ shown: both, facts: goneOn }) as [SeenNode, SeenNode];
    expect(missing([{ ...first, shown: both }, second], nobodyLeft)).toEqual([]);
    expect(missing([{ ...first, shown: goneOn }, second], nobodyLeft)).toHaveLength(1);
  });

  it('is broken by records that differ, are missing, are two or are not over', () => {
    const broken = (records: ReadonlyMap<string, CallRecord>) => badRecords(servers({ records }), ofCall);
    expect(broken(recordsOf({ endReason: 'process-lost' }))).toEqual([
      'two has another record of call: endReason differ',
    ]);
    expect(broken(new Map())).toEqual(['two has no record of call']);
    expect(broken(recordsOf({ status: 'active' }))).toEqual(['two has call as active']);
    const twice = new Map([
      ...recordsOf({}),
      ['other', { ...CALL, callId: 'other' } as unknown as CallRecord],
    ]);
    expect(broken(twice)).toEqual(['two has 2 records of CA1']);
  });

  it('is broken by two servers that are heard at once, and not by one after the other', () => {
    const every20 = (from: number, to: number) =>
      Array.from({ length: (to - from) / 20 + 1 }, (_, index) => from + index * 20);
    const stream = (port: number, sentAt: number[]) => ({ callId: 'call', port, sentAt });
    const overlap = (...streams: ReturnType<typeof stream>[]) => longestOverlaps(streams).get('call') ?? 0;
    expect(overlap(stream(1, every20(0, 2000)), stream(2, every20(1400, 3000)))).toBe(600);
    expect(overlap(stream(1, every20(0, 1000)), stream(2, every20(1020, 3000)))).toBe(0);
    const pausing = [...every20(0, 1000), ...every20(2000, 3000)];
    expect(overlap(stream(1, pausing), stream(2, every20(1200, 1800)))).toBe(0);
  });
});

describe('what a caller hears of a server that dies', () => {
  const span = (startMs: number, endMs: number) => ({ startMs, endMs });
  const heard = (agent: [number, number][], caller: [number, number][] = [], endMs = 20_000) => ({
    agentSpeech: agent.map(([from, to]) => span(from, to)),
    callerSpeech: caller.map(([from, to]) => span(from, to)),
    endMs,
  });

  it('is silence until the agent is heard again', () => {
    expect(
      silenceOf(
        heard([
          [0, 3000],
          [7500, 9000],
        ]),
        2000,
      ).silentMs,
    ).toBe(4500);
    // What was on its way comes yet.
    expect(
      silenceOf(
        heard([
          [0, 1900],
          [2100, 2200],
          [7500, 9000],
        ]),
        2000,
      ).silentMs,
    ).toBe(5300);
  });

  it('is no silence while the caller speaks, nor once the call is over', () => {
    expect(silenceOf(heard([[7500, 9000]], [[4000, 5000]]), 2000).silentMs).toBe(2500);
    expect(silenceOf(heard([], [], 5000), 2000).silentMs).toBe(3000);
    expect(silenceOf(heard([], [], 1500), 2000).silentMs).toBe(0);
  });
});

describe('troubles', () => {
  it('are dealt once each, those of servers together, and by the seed', () => {
    const dealt = Array.from({ length: 20 }, (_, seed) => deal(createDice(seed + 1), 2));
    for (const queues of dealt) {
      expect(queues.flat().toSorted()).toEqual([...NAMES].sort());
      const counts = queues.map((names) => names.filter((name) => name.startsWith('a server')).length);
      expect(Math.abs((counts[0] ?? 0) - (counts[1] ?? 0))).toBeLessThanOrEqual(2);
    }
    expect(new Set(dealt.map((queues) => queues.flat().join())).size).toBe(dealt.length);
    expect(deal(createDice(7), 2)).toEqual(deal(createDice(7), 2));
  });
});
