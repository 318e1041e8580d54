import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { CallStore } from '../../src/stores/call-store.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { stamp, started } from '../support/call-facts.js';
import { ClientBench, until } from '../support/client-bench.js';

let bench: ClientBench;

beforeEach(async () => {
  bench = await ClientBench.open();
});
afterEach(() => bench[Symbol.asyncDispose]());

describe('serve({ store })', () => {
  it.each([
    [{ store: null }, 'store must be a CallStore, such as new MemoryStore().'],
    [{ store: MemoryStore }, 'store must be a CallStore, such as new MemoryStore(). Did you forget new?'],
    [
      { store: { append() {}, get() {}, list() {}, close() {} } },
      'store is not a CallStore: it lacks active, aggregates.',
    ],
    [
      { store: Object.assign(new MemoryStore(), { isKept: 'yes' }) },
      'store is not a CallStore: its isKept must be true or false.',
    ],
    [
      { store: Object.assign(new MemoryStore(), { events: [] }) },
      'store is not a CallStore: its events must be a function.',
    ],
  ])('refuses what is none, and names what it lacks: %#', async (options, message) => {
    await expect(bench.serve(options as never)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message });
  });

  it('refuses a folder beside it', async () => {
    await expect(bench.serve({ store: new MemoryStore(), dataDir: '.calls' })).rejects.toMatchObject({
      code: 'CONFIG_CONFLICT',
      message: 'store and dataDir exclude each other: leave one of them out.',
    });
  });

  it('shows what the store holds, ends the calls of a process that died, and gives the next server the history', async () => {
    const store = new MemoryStore();
    for (const event of stamp([started()], { callId: 'lost' })) await store.append(event);
    const told: CallRecord[] = [];
    const options = { store, onCallEnd: (record: CallRecord) => told.push(record) };
    await bench.serve(options);
    expect(await bench.finished()).toMatchObject([{ callId: 'lost', endReason: 'process-lost' }]);
    const call = await bench.dial('+15550111');
    await call.hangUp();
    await until(async () => (await bench.finished()).length === 2);
    await bench.phone.disconnect();
    bench.phone = bench.create();
    await bench.serve(options);
    expect(await bench.finished()).toHaveLength(2);
    expect(told.map(({ endReason }) => endReason)).toEqual(['process-lost', 'caller-hangup']);
  });

  it('counts what the calls of the store cost in the budget of the next server', async () => {
    const store = new MemoryStore();
    await bench.serve({ store, pricing: { 'carrier-a': { inbound: { perMinute: 60 } } } });
    const call = await bench.dial('+15550111');
    await call.hangUp();
    await until(async () => (await bench.finished())[0]?.status === 'completed');
    await bench.phone.disconnect();
    bench.phone = bench.create();
    const server = await bench.serve({ store, budget: { perHour: 1 } });
    expect((await fetch(`${server.url}/ready`)).status).toBe(503);
  });

  const troubles: [string, (store: MemoryStore) => CallStore][] = [
    ['throws', () => failing(() => Promise.reject(new Error('no database')))],
    [
      'throws at once',
      () =>
        failing(() => {
          throw new Error('no database');
        }),
    ],
    ['never takes a fact', (store) => Object.assign(store, { append: () => new Promise<never>(() => {}) })],
  ];

  it.each(troubles)('answers calls, and tells of them, with a store that %s', async (_, toStore) => {
    const told: CallRecord[] = [];
    const store = toStore(new MemoryStore());
    await bench.serve({ store, drainSeconds: 0, onCallEnd: (record) => told.push(record) });
    const call = await bench.dial('+15550111');
    await call.hangUp();
    await until(async () => told.length === 1);
    expect(told).toMatchObject([{ status: 'completed', caller: '+15550111' }]);
    const health = await fetch(`http://127.0.0.1:${bench.port}/health`);
    expect(health.status).toBe(200);
  });

  it('answers STORE_FAILED where the store fails, and takes its page of events to the end', async () => {
    await bench.serve({ store: failing(() => Promise.reject(new Error('secret of the database'))) });
    const answers = await Promise.all(
      ['calls', 'active', 'aggregates', 'calls/one', 'export/calls'].map(async (path) => {
        const response = await fetch(`http://127.0.0.1:${bench.port}/api/dashboard/${path}`);
        return [response.status, await response.text()];
      }),
    );
    expect(answers.map(([status]) => status)).toEqual([503, 503, 503, 503, 503]);
    expect(JSON.stringify(answers) + bench.logger.text).not.toContain('secret of');
    expect(bench.logger.sentences('error')).toContain(
      'the calls of the process before this one were not taken over',
    );
  });
});

function failing(trouble: () => Promise<never>): CallStore {
  return {
    isKept: true,
    append: trouble,
    get: trouble,
    list: trouble,
    active: trouble,
    aggregates: trouble,
    close: trouble,
  };
}
