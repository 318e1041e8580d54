import { describe, expect, it } from 'vitest';
import { RequestError } from '../../src/base/errors.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import { reduceCall } from '../../src/events/reduce.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { aggregateCalls, listCalls } from '../../src/stores/queries.js';
import { ended, say, stamp, started } from '../support/call-facts.js';

/** In no order. */
const records = [2, 4, 1, 3].map((at) => {
  const facts = [started({ carrierCallId: `carrier-${at}` }), ...(at % 2 === 0 ? [ended()] : [])];
  const record = stamp(facts, { callId: `call-${at}`, at }).reduce<CallRecord | undefined>(
    reduceCall,
    undefined,
  );
  if (record === undefined) throw new Error('no record');
  return record;
});
const idsOf = (calls: readonly CallRecord[]) => calls.map(({ callId }) => callId);

describe('answers over records at hand', () => {
  it('list the newest start first, page by page, and leave the records as they are', () => {
    const before = idsOf(records);
    const first = listCalls(records, { limit: 3 });
    expect([idsOf(first.calls), first.total]).toEqual([['call-4', 'call-3', 'call-2'], 4]);
    const second = listCalls(records, { limit: 3, cursor: first.nextCursor ?? '' });
    expect([idsOf(second.calls), second.nextCursor]).toEqual([['call-1'], null]);
    expect(idsOf(records)).toEqual(before);
  });

  it('cover the calls that a filter leaves', () => {
    expect(idsOf(listCalls(records, { limit: 9, status: 'completed' }).calls)).toEqual(['call-4', 'call-2']);
    expect(aggregateCalls(records)).toMatchObject({ totalCalls: 4, completedCalls: 2 });
    expect(aggregateCalls(records, { status: 'completed' })).toMatchObject({
      totalCalls: 2,
      activeCalls: 0,
    });
  });

  it('are found by a number that was said, however it is spaced', async () => {
    const store = new MemoryStore();
    for (const [index, text] of ['0171 555 0199', '0171-5550200', 'no number'].entries())
      for (const event of stamp([started(), say(`It is ${text}.`)], { callId: `call-${index}` }))
        await store.append(event);
    const found = async (words: string) => idsOf((await store.list({ limit: 9, words })).calls).sort();
    expect(await found('01715550199')).toEqual(['call-0']);
    expect(await found('(0171) 555')).toEqual(['call-0', 'call-1']);
    expect(await found('15')).toEqual([]);
  });

  it('are found by what was said without holding up anything else, one search after the other', async () => {
    const text = 'word '.repeat(20_000);
    const talks = Array.from({ length: 20 }, (_, index) =>
      stamp([started(), say(`${text}${index === 7 ? 'Found' : 'not'}`)], { callId: `call-${index}` }),
    );
    const store = new MemoryStore();
    for (const event of talks.flat()) await store.append(event);
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    count();
    const searches = ['fOUND', 'word', 'lost'].map((words) => store.list({ limit: 500, words }));
    const totals = (await Promise.all(searches)).map(({ total }) => total);
    isOver = true;
    expect(totals).toEqual([1, 20, 0]);
    // As many turns as there are slices, and no search beside another.
    expect(turns).toBeGreaterThanOrEqual(3 * talks.length);
    expect(await store.aggregates({ words: 'found' })).toMatchObject({ totalCalls: 1 });
  });

  it('say nothing of a call that is deleted while they search', async () => {
    const store = new MemoryStore();
    const [gone, kept] = ['gone', 'kept'].map((callId) =>
      stamp([started(), say('word'), ended()], { callId }),
    );
    for (const event of [...(gone ?? []), ...(kept ?? [])]) await store.append(event);
    const page = store.list({ limit: 9, words: 'word' });
    const sums = store.aggregates({ words: 'word' });
    await store.append({ type: 'call.forgotten', callId: 'gone', nodeId: 'node', term: 2, seq: 1, at: 9 });
    expect([idsOf((await page).calls), (await page).total]).toEqual([['kept'], 1]);
    expect((await sums).totalCalls).toBe(1);
  });

  it('go on behind a search that fails', async () => {
    const store = new MemoryStore();
    // Whoever listens may change what a store keeps.
    const [first, said] = stamp([started(), say('word')], { callId: 'call-1' });
    if (first === undefined || said?.type !== 'transcript.segment') throw new Error('no facts');
    await store.append(first);
    await store.append({ ...said, entry: { ...said.entry, text: null as never } });
    await expect(store.list({ limit: 9, words: 'x' })).rejects.toThrow(TypeError);
    await store.append({ type: 'call.forgotten', callId: 'call-1', nodeId: 'node', term: 2, seq: 1, at: 9 });
    expect((await store.list({ limit: 9, words: 'x' })).total).toBe(0);
  });

  it('refuse a page that there is none of before they search', async () => {
    const store = new MemoryStore();
    await expect(store.list({ limit: 0, words: 'x' })).rejects.toThrow(RequestError);
  });

  it.each([{ limit: 0 }, { limit: 501 }, { limit: 1, cursor: 'nowhere' }])('refuse %j', (query) => {
    expect(() => listCalls(records, query)).toThrow(RequestError);
  });
});
