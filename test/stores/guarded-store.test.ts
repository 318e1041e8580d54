import { StoreError } from '../../src/base/errors.js';
import { describe, expect, it } from 'vitest';
import { RequestError } from '../../src/base/errors.js';
import type { CallEvent } from '../../src/contract/call-event.js';
import { GuardedStore } from '../../src/stores/guarded-store.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { testStore } from '../../src/testing/conformance/store.js';
import { ended, say, stamp, started } from '../support/call-facts.js';
import { FakeClock } from '../support/fake-clock.js';
import { RecordedLogger } from '../support/recorded-logger.js';

/** A store that can be broken. */
class FrailStore extends MemoryStore {
  override readonly isKept = true as never;
  readonly asked: string[] = [];
  closed = 0;
  /** What becomes of the next requests. */
  trouble: () => Promise<void> = async () => {};

  override async append(event: CallEvent) {
    this.asked.push(`${event.callId} ${event.seq}`);
    await this.trouble();
    return super.append(event);
  }
  override async active() {
    await this.trouble();
    return super.active();
  }
  override async list(query: Parameters<MemoryStore['list']>[0]) {
    await this.trouble();
    return super.list(query);
  }
  override async close() {
    this.closed += 1;
  }
}

function open() {
  const [store, clock, logger] = [new FrailStore(), new FakeClock(), new RecordedLogger()];
  const lines = () => logger.lines.map(({ level, sentence }) => `${level}: ${sentence}`);
  return { store, clock, logger, lines, guarded: new GuardedStore({ store, clock, logger }) };
}

const FAILS = 'error: the store fails: calls go on, and what happens in them waits in memory';
const WORKS = 'info: the store works again';
const never = () => new Promise<never>(() => {});
const down = () => Promise.reject(new Error('down'));
const settle = async () => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

describe('GuardedStore', () => {
  const create = () => open().guarded;
  for (const check of testStore(create)) it(check.name, check.run);

  it('tells of deletions, and of the facts of a call, where the store does', async () => {
    const { logger, clock, ...quiet } = open();
    const events = stamp([started(), ended()]);
    const log = { events: async () => events, forgotten: async () => events.slice(1) };
    const store = Object.assign(new MemoryStore(), log);
    const guarded = new GuardedStore({ store, clock, logger });
    expect([await guarded.events?.('call-1'), await guarded.forgotten?.()]).toEqual([
      events,
      events.slice(1),
    ]);
    Object.assign(quiet.store, { forgotten: undefined });
    const none = new GuardedStore({ store: quiet.store, clock, logger });
    expect([none.events, none.forgotten]).toEqual([undefined, undefined]);
  });

  it('says that a call is not deleted yet after five seconds, and tries on', async () => {
    const { store, clock, guarded } = open();
    const events = stamp([started(), ended()], { callId: 'a' });
    for (const event of events) await guarded.append(event);
    store.trouble = down;
    const deletion = { callId: 'a', nodeId: 'node-1', term: 2, seq: 1, at: 9000 } as const;
    const refused = guarded.append({ type: 'call.forgotten', ...deletion }).catch((error: unknown) => error);
    await settle();
    clock.advance(5000);
    expect(await refused).toBeInstanceOf(StoreError);
    store.trouble = async () => {};
    clock.advance(30_000);
    await settle();
    expect(await guarded.get('a')).toBeUndefined();
  });

  it('stores the facts of one call one at a time, and those of several at the same time', async () => {
    const { store, guarded } = open();
    const gates: (() => void)[] = [];
    store.trouble = () => new Promise((resolve) => gates.push(resolve));
    for (const callId of ['a', 'b'])
      for (const event of stamp([started(), say('hello')], { callId })) void guarded.append(event);
    await settle();
    expect(store.asked).toEqual(['a 1', 'b 1']);
    gates[0]?.();
    await settle();
    expect(store.asked).toEqual(['a 1', 'b 1', 'a 2']);
  });

  it('stores what the store threw for again, in order, and says once that it fails and once that it works', async () => {
    const { store, clock, lines, guarded } = open();
    store.trouble = down;
    const appended = Promise.all(stamp([started(), ended()]).map((event) => guarded.append(event)));
    await settle();
    expect([lines(), guarded.isKept]).toEqual([[FAILS], false]);
    for (const ms of [1000, 2000, 4000]) {
      clock.advance(ms);
      await settle();
    }
    expect(store.asked).toEqual(Array(4).fill('call-1 1'));
    store.trouble = async () => {};
    clock.advance(8000);
    await appended;
    expect([lines(), guarded.isKept]).toEqual([[FAILS, WORKS], true]);
    expect((await guarded.get('call-1'))?.status).toBe('completed');
  });

  it('a store that throws at once, without a promise, is one that fails', async () => {
    const { store, lines, guarded } = open();
    store.trouble = () => {
      throw new Error('down');
    };
    for (const event of stamp([started()])) void guarded.append(event);
    await settle();
    expect(lines()).toEqual([FAILS]);
    await expect(guarded.active()).rejects.toMatchObject({ code: 'STORE_FAILED' });
  });

  it('gives up reading a store that hangs after five seconds, and says that it hangs', async () => {
    const { store, clock, lines, guarded } = open();
    store.trouble = never;
    for (const event of stamp([started()])) void guarded.append(event);
    await settle();
    clock.advance(5000);
    expect(lines()).toEqual([FAILS]);
    const read = guarded.active();
    await settle();
    clock.advance(5000);
    await expect(read).rejects.toMatchObject({ code: 'STORE_FAILED' });
  });

  it('a reader sees what was on its way into the store', async () => {
    const { store, guarded } = open();
    let release = () => {};
    store.trouble = () => new Promise((resolve) => (release = resolve));
    for (const event of stamp([started()])) void guarded.append(event);
    const record = guarded.get('call-1');
    await settle();
    release();
    expect((await record)?.callId).toBe('call-1');
  });

  it('passes on what is an error of ours, and hides any other', async () => {
    const { store, guarded } = open();
    store.trouble = () => Promise.reject(new RequestError('REQUEST_INVALID', 'no cursor'));
    await expect(guarded.list({ limit: 1 })).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
    store.trouble = down;
    await expect(guarded.list({ limit: 1 })).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: 'The store could not be read.',
    });
  });

  it('gives up the call with the most facts when ten thousand wait, and takes no more of it', async () => {
    const { store, lines, guarded } = open();
    store.trouble = never;
    const [opening = started()] = [started()];
    const facts = stamp([opening, ...Array(10_000).fill(say('hello'))], { callId: 'long' });
    const appended = facts.map((event) => guarded.append(event));
    for (const event of stamp([started()], { callId: 'short' })) void guarded.append(event);
    await Promise.all(appended);
    expect(lines().at(-1)).toBe('error: too many facts wait for the store: a call is given up');
    await guarded.append({ ...(facts[0] as CallEvent), seq: 20_000 });
    await settle();
    expect(store.asked).toEqual(['long 1', 'short 1']);
  });

  it('tries once more when it is closed, says what is lost, and leaves the store open', async () => {
    const { store, logger, guarded } = open();
    store.trouble = down;
    for (const event of stamp([started(), ended()])) void guarded.append(event);
    await settle();
    await guarded.close();
    await guarded.close();
    expect(store.asked).toHaveLength(2);
    expect(logger.lines.at(-1)).toMatchObject({ level: 'error', fields: { facts: 2 } });
    expect([logger.lines.length, store.closed]).toEqual([2, 0]);
  });

  it('waits five seconds for a store that hangs when it is closed', async () => {
    const { store, clock, guarded } = open();
    store.trouble = never;
    for (const event of stamp([started()])) void guarded.append(event);
    const closed = guarded.close();
    await settle();
    clock.advance(5000);
    await closed;
  });

  it('has the log of facts where the store has it', async () => {
    const { store, clock, logger } = open();
    const kept = Object.assign(store, { events: async () => stamp([started()]) });
    const guarded = new GuardedStore({ store: kept, clock, logger });
    expect(await guarded.events?.('call-1')).toHaveLength(1);
    expect(open().guarded.events).toBeUndefined();
  });
});
