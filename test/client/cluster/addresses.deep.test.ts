// A cluster.address that does not lead to its server is said as that joins. Calls go on.
import { expect, it } from 'vitest';
import { asksUpon } from '../../support/asking-caller.js';
import { eventually } from '../../support/carrier-phone.js';
import { ClusterProcesses, type ClusterProcess } from '../../support/cluster-processes.js';
import { freePort } from '../../support/free-port.js';
import { describeOnRedis, eachRedis } from '../../support/redis-server.js';

const LONG_MS = 60_000;
const OWN = 'this server is not reached at its cluster.address';
const OTHERS = 'another server is not reached at its cluster.address';

const lineOf = ({ log }: ClusterProcess, part: string) =>
  eventually(
    `a line that says ${part}`,
    () =>
      log
        .join('')
        .split('\n')
        .find((line) => line.includes(part)),
    LONG_MS,
  );

describeOnRedis('a server whose address leads', (program) => {
  const broker = eachRedis(program);

  it.each([
    ['to nobody', async () => `http://127.0.0.1:${await freePort()}`, 'ECONNREFUSED'],
    [
      'to another server of the cluster',
      async ({ processes }: ClusterProcesses) => `http://127.0.0.1:${processes[0]?.port}`,
      'Another server answers',
    ],
    [
      'to something else',
      async ({ simulator }: ClusterProcesses) => simulator.url,
      'is no node of this cluster',
    ],
  ])(
    '%s says so as it joins, and so does the next one',
    async (_, addressOf, because) => {
      await using cluster = await ClusterProcesses.on('carrier-a', broker.redis.url);
      const right = await cluster.fork();
      const address = await addressOf(cluster);
      const wrong = await cluster.fork({ address });
      const said = await lineOf(wrong, OWN);
      for (const part of ['CLUSTER_FAILED', because, address]) expect(said).toContain(part);
      const next = await cluster.fork();
      const told = await lineOf(next, OTHERS);
      for (const part of ['CLUSTER_FAILED', because, address]) expect(told).toContain(part);
      expect([right, next].flatMap(({ log }) => log).join('')).not.toContain(OWN);
      const report = await cluster.simulator.call({ script: asksUpon(AbortSignal.abort()) });
      expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    },
    120_000,
  );

  it('to nobody, and that is alone, says so', async () => {
    await using cluster = await ClusterProcesses.on('carrier-b', broker.redis.url);
    const alone = await cluster.fork({ address: `http://127.0.0.1:${await freePort()}` });
    expect(await lineOf(alone, OWN)).toContain('ECONNREFUSED');
  }, 120_000);

  it('to itself says nothing, and nobody does of it', async () => {
    await using cluster = await ClusterProcesses.three('carrier-a', broker.redis.url);
    const report = await cluster.simulator.call({ script: asksUpon(AbortSignal.abort()) });
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    for (const { log } of cluster.processes) expect(log.join('')).not.toContain('cluster.address');
  }, 120_000);
});
