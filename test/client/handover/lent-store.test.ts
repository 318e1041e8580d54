import { describe, expect, it } from 'vitest';
import type { CallEvent } from '../../../src/contract/call-event.js';
import { FactRelay } from '../../../src/client/handover/fact-relay.js';
import { LentStore } from '../../../src/client/handover/lent-store.js';
import { FakeClock } from '../../support/fake-clock.js';
import { say, stamp, started } from '../../support/call-facts.js';
import { MemoryStore } from '../../../src/stores/memory-store.js';

class CountedStore extends MemoryStore {
  closes = 0;

  override async close(): Promise<void> {
    this.closes += 1;
    await super.close();
  }
}

const deletion = (callId: string): CallEvent => ({
  type: 'call.forgotten',
  callId,
  nodeId: 'node',
  term: 2,
  seq: 1,
  at: 9,
});

describe('a store that another process has', () => {
  it('is not left open where it is closed while it is had back', async () => {
    const [first, second] = [new CountedStore(), new CountedStore()];
    let open: () => void = () => {};
    const reopened = new Promise<CountedStore>((resolve) => (open = () => resolve(second)));
    const lent = new LentStore(first, () => reopened);
    await lent.lend(new FactRelay(new FakeClock()));
    const [event] = stamp([started()], { callId: 'c1', at: 0 });
    if (event === undefined) throw new Error('no fact');
    void lent.append(event);
    const back = lent.takeBack();
    await lent.close();
    open();
    await back;
    expect(second.closes).toBe(1);
    expect((await second.get('c1'))?.callId).toBe('c1');
  });

  it('says of a deletion what has become of it there', async () => {
    const relay = new FactRelay(new FakeClock());
    const lent = new LentStore(new MemoryStore(), () => new Promise(() => {}));
    await lent.lend(relay);
    relay.start(async (facts) => facts.flatMap(({ callId }) => (callId === 'stays' ? [callId] : [])));
    await expect(lent.append(deletion('goes'))).resolves.toBeUndefined();
    await expect(lent.append(deletion('stays'))).rejects.toMatchObject({ code: 'STORE_FAILED' });
  });

  it('does not say that a call is deleted where the other process dies before it has heard of it', async () => {
    const lent = new LentStore(new MemoryStore(), async () => new MemoryStore());
    await lent.lend(new FactRelay(new FakeClock()));
    const deleting = lent.append(deletion('c1'));
    const refused = expect(deleting).rejects.toMatchObject({ code: 'STORE_FAILED' });
    await lent.takeBack();
    await refused;
  });

  it('says so to everybody who deletes a call at once', async () => {
    const relay = new FactRelay(new FakeClock());
    const lent = new LentStore(new MemoryStore(), () => new Promise(() => {}));
    await lent.lend(relay);
    relay.start(async (facts) => facts.map(({ callId }) => callId));
    const both = [lent.append(deletion('stays')), lent.append(deletion('stays'))];
    for (const each of await Promise.allSettled(both)) expect(each.status).toBe('rejected');
  });
});

describe('the facts of a process that has given its store away', () => {
  const clock = new FakeClock();
  const [first, second] = stamp([started(), say('Hello.')], { callId: 'c1', at: 0 });
  const [other] = stamp([started()], { callId: 'c2', at: 0 });
  const facts = [first, second, other].map((fact) => {
    if (fact === undefined) throw new Error('no fact');
    return fact;
  });
  const nameOf = (fact: CallEvent) => `${fact.callId} ${fact.type}`;

  it('go on while a deletion takes its time, which is asked for alone and behind what was before it', async () => {
    const relay = new FactRelay(clock);
    const sent: string[][] = [];
    let finish: (undone: string[]) => void = () => {};
    relay.start((batch) => {
      sent.push(batch.map(nameOf));
      const isLong = batch[0]?.type === 'call.forgotten';
      return isLong ? new Promise((resolve) => (finish = resolve)) : Promise.resolve([]);
    });
    const before = facts.slice(0, 2).map((fact) => relay.append(fact));
    const deleting = relay.append(deletion('c1'));
    let isDeleted = false;
    void deleting.then(() => (isDeleted = true));
    await Promise.all([...before, ...facts.slice(2).map((fact) => relay.append(fact))]);
    expect(sent.flat()).toEqual([
      'c1 call.started',
      'c1 transcript.segment',
      'c1 call.forgotten',
      'c2 call.started',
    ]);
    expect(sent.find((names) => names.includes('c1 call.forgotten'))).toHaveLength(1);
    expect([isDeleted, relay.pendingOf('c1').map(nameOf)]).toEqual([false, ['c1 call.forgotten']]);
    finish([]);
    await deleting;
    await relay.flushed();
  });

  it('are asked for again where the answer is lost, and are had back until the other process has said that it has them', async () => {
    const relay = new FactRelay(clock);
    let asked = 0;
    relay.start(() => {
      asked += 1;
      return asked === 2 ? Promise.resolve([]) : Promise.reject(new Error('no answer'));
    });
    const deleting = relay.append(deletion('c1'));
    await clock.advanceAsync(200);
    await deleting;
    expect(asked).toBe(2);
    const again = expect(relay.append(deletion('c2'))).rejects.toMatchObject({ code: 'STORE_FAILED' });
    await clock.advanceAsync(0);
    expect(relay.close().map(nameOf)).toEqual(['c1 call.forgotten', 'c2 call.forgotten']);
    await again;
    await clock.advanceAsync(1000);
    expect(asked).toBe(3);
  });
});
