// The example's store under a phone, while the database is away.
import { afterEach, expect, it, vi } from 'vitest';
import { type CallRecord, SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { until } from '../support/client-bench.js';
import { describeOnPostgres } from '../support/describe-on-postgres.js';
import { GREETING, startPostgresPhone, transcript, WAIT } from '../support/postgres-phone.js';

describeOnPostgres('a phone with its calls on PostgreSQL', (cluster) => {
  afterEach(() => void vi.unstubAllEnvs());

  // Both at once: the silence of a database is long.
  it('outlives a database that goes away in a call, and has the whole call when it is back', async () => {
    const phones = [];
    for (const id of SIMULATED_CARRIERS) {
      await cluster().create(id);
      phones.push(await startPostgresPhone(id, cluster().urlOf(id)));
    }
    const callings = phones.map(({ simulator }) =>
      simulator.call({
        script: [WAIT, { type: 'say', text: 'Are you open?' }, WAIT, { type: 'hang-up' }],
      }),
    );
    for (const { read } of phones)
      await until(async () => (await read<{ calls: CallRecord[] }>('active')).calls.length === 1);
    await cluster().stop();
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

    await cluster().start();
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
