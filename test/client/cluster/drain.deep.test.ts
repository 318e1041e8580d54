// Servers of a cluster that drain, in processes of their own: their calls go to the others.
import { expect, it } from 'vitest';
import { SIMULATED_CARRIERS } from '../../../src/contract/call-record.js';
import { asksUpon } from '../../support/asking-caller.js';
import { eventually } from '../../support/carrier-phone.js';
import { type ClusterProcess, ClusterProcesses } from '../../support/cluster-processes.js';
import { describeOnRedis, eachRedis } from '../../support/redis-server.js';

const CALLS = 2;
const LONG_MS = 40_000;

/** Calls that were greeted at the first server, and go on at the others. */
async function begin(cluster: ClusterProcesses) {
  const [first, ...others] = cluster.processes as [ClusterProcess, ...ClusterProcess[]];
  const isStream = (url = '') => url.startsWith('/ws/stream/');
  cluster.proxy.choose(({ url }) => (isStream(url) ? first.port : undefined));
  const isDone = new AbortController();
  const calls = Array.from({ length: CALLS }, () =>
    cluster.simulator.call({ script: asksUpon(isDone.signal) }),
  );
  await eventually(
    'the greetings',
    () => (first.facts.filter(({ type }) => type === 'turn.completed').length === CALLS ? true : undefined),
    LONG_MS,
  );
  // As a load balancer does that asks who is ready.
  cluster.proxy.choose(undefined);
  cluster.proxy.useAll(others.map(({ port }) => port));
  const finish = async () => {
    isDone.abort();
    return Promise.all(calls);
  };
  return { first, others, finish };
}

async function expectWhole(cluster: ClusterProcesses, others: readonly ClusterProcess[]) {
  await eventually('the ends', () => (cluster.ended.length === CALLS ? true : undefined), LONG_MS);
  // The fact comes with a message of its own, behind that of the callback.
  const ends = () => cluster.facts.filter(({ type }) => type === 'call.ended');
  await eventually('the facts of the ends', () => (ends().length >= CALLS ? true : undefined), LONG_MS);
  for (const record of cluster.ended) {
    expect(record).toMatchObject({
      endReason: 'caller-hangup',
      error: null,
      incidents: [{ code: 'process-replaced' }],
    });
    expect(record.transcript.map(({ text }) => text)).toEqual(
      expect.arrayContaining(['Hello, how can I help you?', 'What time is it?']),
    );
  }
  expect(others.flatMap(({ ended }) => ended)).toHaveLength(CALLS);
  expect(ends()).toHaveLength(CALLS);
}

describeOnRedis('a server of a cluster that drains', (program) => {
  const broker = eachRedis(program);

  it.each(SIMULATED_CARRIERS)(
    'gives its calls to the others, and ends, on %s',
    async (id) => {
      await using cluster = await ClusterProcesses.three(id, broker.redis.url);
      const { first, others, finish } = await begin(cluster);
      await first.drain();
      expect(cluster.ended).toEqual([]);
      const reports = await finish();
      for (const report of reports) expect(report).toMatchObject({ ok: true, protocolErrors: [] });
      await expectWhole(cluster, others);
    },
    120_000,
  );

  it.each(SIMULATED_CARRIERS)(
    'gives its calls away while the broker stands still, on %s',
    async (id) => {
      await using cluster = await ClusterProcesses.three(id, broker.redis.url);
      const { first, others, finish } = await begin(cluster);
      broker.redis.freeze();
      await first.drain();
      broker.redis.thaw();
      expect(cluster.ended).toEqual([]);
      const reports = await finish();
      for (const report of reports) expect(report).toMatchObject({ ok: true, protocolErrors: [] });
      await expectWhole(cluster, others);
    },
    120_000,
  );
});
