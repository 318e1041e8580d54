import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/base/errors.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { testStore } from '../../src/testing/conformance/store.js';
import { ended, stamp, started } from '../support/call-facts.js';

describe('MemoryStore', () => {
  for (const check of testStore(() => new MemoryStore())) it(check.name, check.run);

  async function play(
    store: MemoryStore,
    callId: string,
    options: { at: number; over: boolean },
  ): Promise<void> {
    const facts = [started({ carrierCallId: `carrier-${callId}` }), ...(options.over ? [ended()] : [])];
    for (const event of stamp(facts, { callId, at: options.at })) await store.append(event);
  }

  it('a late fact does not bring back a call that left the ring', async () => {
    const store = new MemoryStore({ size: 1 });
    await play(store, 'one', { at: 1, over: true });
    await play(store, 'two', { at: 2, over: true });
    const late = stamp([started(), ended(), { type: 'dtmf.received', digit: '1' }], { callId: 'one' }).slice(
      2,
    );
    for (const event of late) await store.append(event);
    expect((await store.list({ limit: 10 })).calls.map(({ callId }) => callId)).toEqual(['two']);
  });

  it('a call that left the ring and comes back is like one that was never there', async () => {
    const store = new MemoryStore({ size: 1 });
    await play(store, 'one', { at: 1, over: true });
    await play(store, 'two', { at: 2, over: true });
    const again = stamp([started({ carrierCallId: 'carrier-again' })], { callId: 'one', at: 1 });
    for (const event of again) await store.append(event);
    const { calls, total } = await store.list({ limit: 10 });
    expect(calls.map(({ callId }) => callId)).toEqual(['two', 'one']);
    expect(total).toBe(2);
    expect(await store.get('carrier-one')).toBeUndefined();
    expect((await store.get('carrier-again'))?.callId).toBe('one');
  });

  it('a call is found by the last id that its carrier gave it, and by no other', async () => {
    const store = new MemoryStore();
    const named = ['carrier-a', 'carrier-b'].map((carrierCallId) => started({ carrierCallId }));
    for (const event of stamp(named, { callId: 'one' })) await store.append(event);
    expect(await store.get('carrier-a')).toBeUndefined();
    expect((await store.get('carrier-b'))?.callId).toBe('one');
  });

  it('a cursor still means its place when its call has left the ring', async () => {
    const store = new MemoryStore({ size: 3 });
    for (const call of [1, 2, 3]) await play(store, `call-${call}`, { at: call, over: true });
    const { nextCursor } = await store.list({ limit: 2 });
    await play(store, 'call-4', { at: 4, over: true });
    await play(store, 'call-5', { at: 5, over: true });
    const page = await store.list({ limit: 2, cursor: nextCursor ?? '' });
    expect(page.calls).toEqual([]);
    expect(page.nextCursor).toBeNull();
  });

  it('a call that is yet to be hung up leaves behind all others, and then like them', async () => {
    const store = new MemoryStore({ size: 2 });
    const callIds = async () => (await store.list({ limit: 10 })).calls.map(({ callId }) => callId).sort();
    const [start, end, done] = stamp(
      [started(), ended({ hangUp: 'pending' }), { type: 'hangup.updated', state: 'done' }],
      { callId: 'pending', at: 1 },
    );
    for (const event of [start, end]) if (event !== undefined) await store.append(event);
    for (const at of [2, 3, 4]) await play(store, `call-${at}`, { at, over: true });
    expect(await callIds()).toEqual(['call-4', 'pending']);
    if (done !== undefined) await store.append(done);
    await play(store, 'call-5', { at: 5, over: true });
    expect(await callIds()).toEqual(['call-4', 'call-5']);
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses a ring of %s', (size) => {
    expect(() => new MemoryStore({ size })).toThrow(ConfigError);
  });
});
