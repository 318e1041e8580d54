import { expect, it } from 'vitest';
import { ReplayRing } from '../../src/dashboard/replay-ring.js';
import { ended, stamp, started } from '../support/call-facts.js';

const FACTS = stamp([started(), { type: 'dtmf.received', digit: '1' }, ended()]);
const BOUNDS = { events: 2, bytes: 1e6 };

it('knows its own numbers, as far back as it reaches, and none of another process', () => {
  const ring = new ReplayRing('ab12', BOUNDS);
  for (const fact of FACTS) ring.push(fact);
  expect(['ab12-1', 'ab12-2', 'ab12-3'].map((id) => ring.positionOf(id))).toEqual([1, 2, 3]);
  expect(
    ['ab12-0', 'ab12-4', 'ab13-2', '-2', 'ab12-', 'ab12-2x', ''].map((id) => ring.positionOf(id)),
  ).toEqual(Array.from({ length: 7 }, () => null));
  expect(ring.after(1)?.map(({ counter, endsCall }) => [counter, endsCall])).toEqual([
    [2, false],
    [3, true],
  ]);
  expect(ring.after(0)).toBeNull();
  expect(ring.after(3)).toEqual([]);
});

it('holds as many bytes as it may, and the newest fact however large it is', () => {
  const ring = new ReplayRing('a', { events: 100, bytes: 400 });
  for (const fact of FACTS) ring.push(fact);
  const held = ring.after(2) ?? [];
  expect(held).toHaveLength(1);
  expect(ring.after(0)).toBeNull();
  const large = new ReplayRing('a', { events: 100, bytes: 1 });
  for (const fact of FACTS) large.push(fact);
  expect(large.after(2)).toHaveLength(1);
});

it('holds facts up to the last byte that it may', () => {
  const all = new ReplayRing('a', { events: 100, bytes: 1e6 });
  for (const fact of FACTS) all.push(fact);
  const bytes = all.after(0)?.reduce((sum, fact) => sum + fact.bytes.length, 0) ?? 0;
  for (const [bound, reachesBack] of [
    [bytes, true],
    [bytes - 1, false],
  ] as const) {
    const ring = new ReplayRing('a', { events: 100, bytes: bound });
    for (const fact of FACTS) ring.push(fact);
    expect(ring.after(0) !== null).toBe(reachesBack);
  }
});

it('tells what is newer than a snapshot, but nothing of a call that left it', () => {
  const ring = new ReplayRing('a', { events: 100, bytes: 1e6 });
  for (const fact of FACTS) ring.push(fact);
  for (const fact of stamp([started()], { callId: 'up' })) ring.push(fact);
  const newer = (known: [string, number][]) => {
    const places = known.map(([callId, seq]) => [callId, { term: 1, seq }] as const);
    return ring.newerThan(new Map(places)).map(({ callId, seq }) => `${callId} ${seq}`);
  };
  expect(newer([])).toEqual(['up 1']);
  expect(
    newer([
      ['call-1', 1],
      ['up', 1],
    ]),
  ).toEqual(['call-1 2', 'call-1 3']);
});

it('tells what is of a higher term than a snapshot, whatever its number, and nothing of a lower one', () => {
  const ring = new ReplayRing('a', { events: 100, bytes: 1e6 });
  const [first, second] = stamp([started(), started()], { callId: 'up' });
  if (first === undefined || second === undefined) throw new Error('no facts');
  for (const fact of [first, second, { ...first, term: 2 }, { ...second, term: 2 }]) ring.push(fact);
  const newerThan = (term: number, seq: number) =>
    ring.newerThan(new Map([['up', { term, seq }]])).map((fact) => [fact.term, fact.seq]);
  const later = [
    [2, 1],
    [2, 2],
  ];
  expect([newerThan(1, 2), newerThan(1, 9), newerThan(2, 1)]).toEqual([later, later, [[2, 2]]]);
});
