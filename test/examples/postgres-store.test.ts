// The store of the example, on a PostgreSQL that this test starts and stops.
import fc from 'fast-check';
import { Client } from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import { PostgresStore } from '../../examples/postgres-store/postgres-store.js';
import type { CallFilter } from '../../src/events/call-filter.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { testStore } from '../../src/testing/index.js';
import { callsOfEvents } from '../support/call-event-arbitraries.js';
import { stamp, started } from '../support/call-facts.js';
import { until } from '../support/client-bench.js';
import { describeOnPostgres } from '../support/describe-on-postgres.js';
import { closedAfterTest } from '../support/closed-after-test.js';
import { runs } from '../support/depth.js';

describeOnPostgres('a store on PostgreSQL', (cluster) => {
  beforeEach(async () => {
    await sql('DROP TABLE IF EXISTS calls, forgotten_calls');
  });

  async function sql(statement: string): Promise<Record<string, unknown>[]> {
    const client = new Client(cluster().url);
    await client.connect();
    const { rows } = await client.query(statement);
    await client.end();
    return rows;
  }

  describe('meets the contract', () => {
    for (const check of testStore(() => PostgresStore.open(cluster().url), { keeps: Infinity }))
      it(check.name, check.run);

    it('answers as a store in memory does, whatever the calls say', { timeout: 120_000 }, async () => {
      const filters: CallFilter[] = [
        ...[{}, { status: 'completed' }, { direction: 'inbound' }, { carrier: 'carrier-a' }],
        ...[{ outcome: 'answered' }, { endReason: 'stream-lost' }, { from: 1_000_007, to: 1_000_014 }],
        ...[
          { q: 'ca-1' },
          { q: '+1555' },
          { q: '+1 55-5' },
          { words: 'A' },
          { words: 'a\0b' },
          { incident: 'x' },
          { provider: 'fake' },
          ...[{ agent: '' }, { nodeId: 'node-1' }, { minLatencyMs: 1 }, { minCost: 0.5 }],
          { q: 'a\0b' },
          { q: "'; DROP TABLE calls; --" },
        ],
      ] as CallFilter[];
      await fc.assert(
        fc.asyncProperty(callsOfEvents, async (calls) => {
          await sql('DROP TABLE IF EXISTS calls, forgotten_calls');
          const store = await PostgresStore.open(cluster().url);
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
        { numRuns: runs(15, 150) },
      );
    });

    it('a write that comes late does not undo what was written after it', async () => {
      const store = closedAfterTest(await PostgresStore.open(cluster().url));
      const [first, second] = stamp([started(), started({ caller: '+15550199' })]);
      if (first === undefined || second === undefined) throw new Error('no facts');
      await store.append(first);
      const other = new Client(cluster().url);
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
});
