// The store of the example, on a PostgreSQL that this test starts and stops.
import fc from 'fast-check';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { PostgresStore } from '../../examples/postgres-store/postgres-store.js';
import { start as startExample } from '../../examples/postgres-store/server.js';
import { type CallRecord, SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { Aggregates, CallsPage } from '../../src/contract/dashboard-api.js';
import type { CallFilter } from '../../src/events/call-filter.js';
import type { CarrierId } from '../../src/index.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { type CallerStep, openToneVoice, testStore } from '../../src/testing/index.js';
import { callsOfEvents } from '../support/call-event-arbitraries.js';
import { stamp, started } from '../support/call-facts.js';
import { startCarrier } from '../support/carrier-phone.js';
import { until } from '../support/client-bench.js';
import { closedAfterTest } from '../support/closed-after-test.js';
import { cases, runs } from '../support/depth.js';
import { freePort } from '../support/free-port.js';
import { describeNeeding } from '../support/needing.js';
import { PostgresCluster } from '../support/postgres-cluster.js';
import { RecordedLogger } from '../support/recorded-logger.js';

const HOST = 'voice.example.com';
const GREETING = 'agent: Hello, this is the bakery. How can I help?';
const WAIT: CallerStep = { type: 'wait-for-agent' };

const transcript = ({ transcript: entries }: CallRecord) =>
  entries.map(({ role, text }) => `${role}: ${text}`);

describeNeeding(['initdb', 'postgres'], 'a store on PostgreSQL', (initdb = '', postgres = '') => {
  let cluster: PostgresCluster;

  beforeAll(async () => {
    cluster = await PostgresCluster.start({ initdb, postgres });
  }, 60_000);
  afterAll(() => cluster?.close());

  beforeEach(async () => {
    await sql('DROP TABLE IF EXISTS calls');
    vi.stubEnv('DATABASE_URL', cluster.url);
    vi.stubEnv('WEBHOOK_HOST', HOST);
  });
  afterEach(() => void vi.unstubAllEnvs());

  async function sql(statement: string): Promise<Record<string, unknown>[]> {
    const client = new Client(cluster.url);
    await client.connect();
    const { rows } = await client.query(statement);
    await client.end();
    return rows;
  }

  describe('meets the contract', () => {
    for (const check of testStore(() => PostgresStore.open(cluster.url), { keeps: Infinity }))
      it(check.name, check.run);

    it('answers as a store in memory does, whatever the calls say', { timeout: 120_000 }, async () => {
      const filters: CallFilter[] = [
        ...[{}, { status: 'completed' }, { direction: 'inbound' }, { carrier: 'carrier-a' }],
        ...[{ outcome: 'answered' }, { endReason: 'stream-lost' }, { from: 1_000_007, to: 1_000_014 }],
        ...[{ q: 'ca-1' }, { q: '+1555' }, { q: 'a\0b' }, { q: "'; DROP TABLE calls; --" }],
      ] as CallFilter[];
      await fc.assert(
        fc.asyncProperty(callsOfEvents, async (calls) => {
          await sql('DROP TABLE IF EXISTS calls');
          const store = await PostgresStore.open(cluster.url);
          const model = new MemoryStore();
          for (const event of calls.flat()) {
            await store.append(event);
            await model.append(event);
          }
          for (const filter of filters) {
            const page = await store.list({ ...filter, limit: 500 });
            expect(page).toEqual(await model.list({ ...filter, limit: 500 }));
            expect(await store.aggregates(filter)).toEqual(await model.aggregates(filter));
          }
          expect(await store.active()).toEqual(await model.active());
          for (const id of ['call-0', 'CA-1', 'nobody', 'a\0b'])
            expect(await store.get(id)).toEqual(await model.get(id));
          await store.close();
        }),
        { ...cases, numRuns: runs(15, 150) },
      );
    });

    it('a write that comes late does not undo what was written after it', async () => {
      const store = closedAfterTest(await PostgresStore.open(cluster.url));
      const [first, second] = stamp([started(), started({ caller: '+15550199' })]);
      if (first === undefined || second === undefined) throw new Error('no facts');
      await store.append(first);
      const other = new Client(cluster.url);
      await other.connect();
      await other.query('BEGIN');
      await other.query('UPDATE calls SET seq = 3');
      const late = store.append(second);
      await until(async () => (await sql('SELECT 1 FROM pg_locks WHERE NOT granted')).length === 1);
      await other.query('COMMIT');
      await other.end();
      await late;
      expect(await sql('SELECT seq FROM calls')).toEqual([{ seq: 3 }]);
      expect((await store.get('call-1'))?.caller).toBe('+15550111');
    });
  });

  /** The example as its README says, with a carrier that calls it. */
  async function serve(id: CarrierId, database = 'postgres') {
    vi.stubEnv('DATABASE_URL', cluster.urlOf(database));
    const logger = new RecordedLogger();
    const told: CallRecord[] = [];
    const port = await freePort();
    const { simulator, carrier } = await startCarrier(id, {
      url: `http://127.0.0.1:${port}`,
      webhookHost: HOST,
      openVoice: openToneVoice,
    });
    closedAfterTest(simulator);
    const { url, close } = await startExample({
      ...{ carrier, port, host: '127.0.0.1', manageWebhook: false, logger },
      onCallEnd: (record) => void told.push(record),
    });
    closedAfterTest({ close });
    return {
      ...{ simulator, logger, told, close },
      ask: (path: string) => fetch(`${url}${path}`),
      async read<Body>(path: string): Promise<Body> {
        const response = await fetch(`${url}/api/dashboard/${path}`);
        expect(response.status).toBe(200);
        return JSON.parse(await response.text());
      },
    };
  }

  describe.each(SIMULATED_CARRIERS)('under a phone with %s', { timeout: 60_000 }, (id) => {
    it('keeps history, records, pages and totals over a restart', async () => {
      const store = await PostgresStore.open(cluster.url);
      for (const event of stamp([started()], { callId: 'lost' })) await store.append(event);
      await store.close();
      const phone = await serve(id);
      const callers = ['+15550121', '+15550122', '+15550123'];
      const script = [WAIT, { type: 'hang-up' }] as const;
      const reports = await Promise.all(callers.map((from) => phone.simulator.call({ from, script })));
      expect(reports.every(({ ok }) => ok)).toBe(true);
      await until(async () => phone.told.length === 4);

      const look = async ({ read }: typeof phone) => {
        const first = await read<CallsPage>('calls?limit=3');
        const second = await read<CallsPage>(
          `calls?limit=3&cursor=${encodeURIComponent(first.nextCursor ?? '')}`,
        );
        const found = await read<CallsPage>('calls?q=%2B15550122');
        const record = await read<CallRecord>(`calls/${found.calls[0]?.callId}`);
        return { first, second, record, totals: await read<Aggregates>('aggregates') };
      };
      // What comes late, such as a confirmed hang-up, is there.
      await until(async () => (await look(phone)).first.calls.every(({ hangUp }) => hangUp !== 'pending'));
      const before = await look(phone);
      const { first, second, record, totals } = before;
      expect([first.total, first.calls.length, second.calls.length, second.nextCursor]).toEqual([
        4,
        3,
        1,
        null,
      ]);
      expect(new Set([...first.calls, ...second.calls].map(({ caller }) => caller))).toEqual(
        new Set([...callers, '+15550111']),
      );
      expect(record).toMatchObject({ carrier: id, caller: '+15550122', endReason: 'caller-hangup' });
      expect(transcript(record)).toEqual([GREETING]);
      expect(totals).toMatchObject({ totalCalls: 4, activeCalls: 0, completedCalls: 4 });
      expect(await phone.read('calls/lost')).toMatchObject({ endReason: 'process-lost' });

      await phone.close();
      const next = await serve(id);
      expect(await look(next)).toEqual(before);
      expect(next.told).toEqual([]);
    });
  });

  // Both at once: the silence of a database is long.
  it('outlives a database that goes away in a call, and has the whole call when it is back', {
    timeout: 60_000,
  }, async () => {
    await sql('CREATE DATABASE second');
    const [first, second] = SIMULATED_CARRIERS;
    const phones = [await serve(first, 'postgres'), await serve(second, 'second')];
    const callings = phones.map(({ simulator }) =>
      simulator.call({
        script: [WAIT, { type: 'say', text: 'Are you open?' }, WAIT, { type: 'hang-up' }],
      }),
    );
    for (const { read } of phones)
      await until(async () => (await read<{ calls: CallRecord[] }>('active')).calls.length === 1);
    await cluster.stop();
    for (const calling of callings) expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
    for (const { told, ask, logger } of phones) {
      await until(async () => told.length === 1);
      const history = await ask('/api/dashboard/calls');
      expect([history.status, await history.text()]).toEqual([503, expect.stringContaining('STORE_FAILED')]);
      expect((await ask('/health')).status).toBe(200);
      expect(logger.sentences('error')).toEqual([
        'the store fails: calls go on, and what happens in them waits in memory',
      ]);
    }

    await cluster.start();
    for (const { logger, told, read } of phones) {
      await until(async () => logger.sentences('info').includes('the store works again'));
      const [record] = told;
      await until(async () => (await read<CallRecord>(`calls/${record?.callId}`)).status === 'completed');
      const kept = await read<CallRecord>(`calls/${record?.callId}`);
      expect(transcript(kept)).toEqual(transcript(record as CallRecord));
      // By the real clock: on a busy machine the agent says "One moment." before its answer.
      const [greeting, question, ...answer] = transcript(kept);
      expect([greeting, question]).toEqual([GREETING, expect.stringMatching(/^user: /)]);
      expect(answer.at(-1)).toMatch(/^agent: We are open/);
      expect(kept).toMatchObject({ endReason: 'caller-hangup', turns: record?.turns });
    }
  });
});
