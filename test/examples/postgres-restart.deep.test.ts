// The example's store under a phone, over a restart of the phone.
import { afterEach, expect, it, vi } from 'vitest';
import { PostgresStore } from '../../examples/postgres-store/postgres-store.js';
import { type CallRecord, SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { Aggregates, CallsPage } from '../../src/contract/dashboard-api.js';
import { stamp, started } from '../support/call-facts.js';
import { until } from '../support/client-bench.js';
import { describeOnPostgres } from '../support/describe-on-postgres.js';
import { GREETING, startPostgresPhone, transcript, WAIT } from '../support/postgres-phone.js';

describeOnPostgres('a phone with its calls on PostgreSQL', (cluster) => {
  afterEach(() => void vi.unstubAllEnvs());

  it.each(SIMULATED_CARRIERS)(
    'keeps history, records, pages and totals over a restart, with %s',
    async (id) => {
      await cluster().create(id);
      const store = await PostgresStore.open(cluster().urlOf(id));
      for (const event of stamp([started()], { callId: 'lost' })) await store.append(event);
      await store.close();
      const phone = await startPostgresPhone(id, cluster().urlOf(id));
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
      const next = await startPostgresPhone(id, cluster().urlOf(id));
      expect(await look(next)).toEqual(before);
      expect(next.told).toEqual([]);
    },
  );
});
