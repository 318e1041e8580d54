import { describe, expect, it } from 'vitest';
import type { CallEvent } from '../../../src/contract/call-event.js';
import { FactRelay } from '../../../src/client/handover/fact-relay.js';
import { LentStore } from '../../../src/client/handover/lent-store.js';
import { FakeClock } from '../../support/fake-clock.js';
import { stamp, started } from '../../support/call-facts.js';
import { MemoryStore } from '../../../src/stores/memory-store.js';

class CountedStore extends MemoryStore {
  closes = 0;

  override async close(): Promise<void> {
    this.closes += 1;
    await super.close();
  }
}

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

  const deletion = (callId: string): CallEvent => ({
    type: 'call.forgotten',
    callId,
    nodeId: 'node',
    term: 2,
    seq: 1,
    at: 9,
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
});
