// Servers of a cluster that die or stand still in the middle of calls, and a broker that does.
import { expect, it } from 'vitest';
import { SIMULATED_CARRIERS } from '../../../src/contract/call-record.js';
import { asksUpon } from '../../support/asking-caller.js';
import { eventually } from '../../support/carrier-phone.js';
import { type ClusterProcess, ClusterProcesses } from '../../support/cluster-processes.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { RedisFailover } from '../../support/redis-failover.js';
import { describeOnRedis, eachRedis } from '../../support/redis-server.js';
import { openSlowProxy } from '../../support/slow-proxy.js';

const LONG_MS = 40_000;
/** Of the 15 s that a carrier waits for its answer, a broker that stands still and a server that is gone take less. */
const IN_TIME_MS = 8000;
/** What a caller hears nothing for, at most: where a process dies, and where a machine goes silent without closing its sockets. */
const DEAD_MS = 3000;
const SILENT_MS = 9000;
/** Answers of a broker that is slow, behind each other: that it is alive, who else is, whose the call was, and whose it is now. */
const SLOW_ANSWERS = 4;

async function greeted(cluster: ClusterProcesses): Promise<string> {
  const isGreeting = ({ type }: { type: string }) => type === 'turn.completed';
  return (await eventually('the greeting', () => cluster.facts.find(isGreeting), LONG_MS)).callId;
}

/** A caller who has been greeted, and asks once the call is at another server. */
async function talking(cluster: ClusterProcesses) {
  const isMoved = new AbortController();
  const calling = cluster.simulator.call({ script: asksUpon(isMoved.signal) });
  const callId = await greeted(cluster);
  return { calling, callId, owner: cluster.owner(), isMoved };
}

/** What the owner of the call has just said is on its way to the others: resolves when it is there. */
async function heardByAll(cluster: ClusterProcesses, callId: string): Promise<void> {
  for (const process of cluster.processes)
    await eventually(
      'the greeting, at each',
      async () => ((await process.record(callId))?.turns.length ?? 0) > 0 || undefined,
      LONG_MS,
    );
}

/** From then on, how long the only caller heard nothing of the agent, in milliseconds. */
function silenceSince(cluster: ClusterProcesses, at: number): Promise<number> {
  return eventually(
    'the agent, heard again',
    () => {
      const report = cluster.simulator.legs[0]?.reports.findLast(({ startedAt }) => startedAt > at);
      const [first] = report?.agentSpeech ?? [];
      return report && first && report.startedAt + first.startMs - at;
    },
    LONG_MS,
  );
}

function ends(cluster: ClusterProcesses, callId: string) {
  return cluster.facts.filter((fact) => fact.callId === callId && fact.type === 'call.ended');
}

/** The call went on at another server, whole, and its caller hung up: every server that is left says so, and says it once. */
async function expectGoneOn(
  cluster: ClusterProcesses,
  callId: string,
  left: Parameters<ClusterProcesses['records']>[1],
): Promise<void> {
  const [record, other] = await cluster.records(callId, left);
  expect(record).toMatchObject({
    endReason: 'caller-hangup',
    error: null,
    incidents: [{ code: 'process-replaced' }],
  });
  expect(record?.transcript.map(({ text }) => text)).toEqual(
    expect.arrayContaining(['Hello, how can I help you?', 'What time is it?']),
  );
  expect(other).toEqual(record);
  expect(ends(cluster, callId)).toHaveLength(1);
  expect(cluster.ended).toHaveLength(1);
}

describeOnRedis('servers of a cluster', (program) => {
  const broker = eachRedis(program);

  it.each(SIMULATED_CARRIERS)(
    'go on with the call of one that was killed, on %s',
    async (id) => {
      await using cluster = await ClusterProcesses.three(id, broker.redis.url);
      const { calling, callId, owner, isMoved } = await talking(cluster);
      await heardByAll(cluster, callId);
      const killedAt = Date.now();
      await owner.kill();
      const left = await cluster.moved(owner);
      expect(await silenceSince(cluster, killedAt)).toBeLessThan(DEAD_MS);
      isMoved.abort();
      expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
      await expectGoneOn(cluster, callId, left);
    },
    120_000,
  );

  it.each([0, 500].flatMap((slowMs) => SIMULATED_CARRIERS.map((id) => [slowMs, id] as const)))(
    'go on with the call of one that stands still, which then lets it go, with a broker that takes %i ms, on %s',
    async (slowMs, id) => {
      const proxy = await openSlowProxy(broker.redis.port);
      await using _ = { [Symbol.asyncDispose]: () => proxy.close() };
      await using cluster = await ClusterProcesses.three(id, `redis://127.0.0.1:${proxy.port}`);
      const { calling, callId, owner, isMoved } = await talking(cluster);
      const left = cluster.processes.filter((process) => process !== owner);
      // Who stands still is not asked any more by a load balancer.
      cluster.proxy.useAll(left.map(({ port }) => port));
      proxy.delay(slowMs);
      const stoppedAt = Date.now();
      owner.child.kill('SIGSTOP');
      await cluster.moved(owner);
      expect(await silenceSince(cluster, stoppedAt)).toBeLessThan(SILENT_MS + SLOW_ANSWERS * slowMs);
      const stated = owner.facts.length;
      owner.child.kill('SIGCONT');
      isMoved.abort();
      expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
      const records = await cluster.records(callId);
      for (const record of records) expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
      expect(ends(cluster, callId)).toHaveLength(1);
      expect(owner.facts.slice(stated).filter(({ type }) => type === 'turn.completed')).toEqual([]);
      expect(cluster.ended).toHaveLength(1);
    },
    120_000,
  );

  it.each(SIMULATED_CARRIERS)(
    'end the call of one that was killed, once, where no state is kept, on %s',
    async (id) => {
      await using cluster = await ClusterProcesses.three(id, broker.redis.url, { state: false });
      const calling = cluster.simulator.call({
        script: asksUpon(new AbortController().signal),
        maxDurationMs: 60_000,
      });
      const callId = await greeted(cluster);
      const owner = cluster.owner();
      await heardByAll(cluster, callId);
      await owner.kill();
      const left = cluster.processes.filter((process) => process !== owner);
      const records = await cluster.records(callId, left);
      for (const record of records)
        expect(record).toMatchObject({ endReason: 'process-lost', transcript: [{ role: 'agent' }] });
      expect(ends(cluster, callId)).toHaveLength(1);
      await calling;
      expect(cluster.ended).toHaveLength(1);
    },
    120_000,
  );

  it.each(SIMULATED_CARRIERS)(
    'take calls, and hear nothing, while the broker stands still, and when it has lost everything, on %s',
    async (id) => {
      await using cluster = await ClusterProcesses.three(id, broker.redis.url);
      const isFrozen = new AbortController();
      const calling = cluster.simulator.call({ script: asksUpon(isFrozen.signal) });
      const first = await greeted(cluster);
      broker.redis.freeze();
      const during = await cluster.simulator.call({ script: [...asksUpon(AbortSignal.abort())] });
      expect(during).toMatchObject({ ok: true, protocolErrors: [] });
      // Another server is asked for the next stream, and finds who has the call without the broker.
      cluster.simulator.legs[0]?.dropStream();
      isFrozen.abort();
      expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
      broker.redis.thaw();
      await broker.redis.ask('FLUSHALL');
      const records = await cluster.records(first);
      for (const record of records) expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
      expect(ends(cluster, first)).toHaveLength(1);
      expect(cluster.ended).toHaveLength(2);
    },
    120_000,
  );

  it.each(SIMULATED_CARRIERS)(
    'go on in one place with the call of one that was killed while the broker is away, whoever is asked at a time, on %s',
    async (id) => {
      const disturbances = { duplicates: 2 };
      await using cluster = await ClusterProcesses.three(id, broker.redis.url, {}, {}, { disturbances });
      const { calling, callId, owner, isMoved } = await talking(cluster);
      broker.redis.freeze();
      const isAway = ({ log }: ClusterProcess) => log.join('').includes('broker of the cluster is away');
      await eventually(
        'the loss of the broker',
        () => (cluster.processes.every(isAway) ? true : undefined),
        LONG_MS,
      );
      await owner.kill();
      const left = await cluster.moved(owner);
      isMoved.abort();
      expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
      broker.redis.thaw();
      const [record, other] = await cluster.records(callId, left);
      expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
      expect(other).toEqual(record);
      expect(ends(cluster, callId)).toHaveLength(1);
      expect(cluster.ended).toHaveLength(1);
    },
    120_000,
  );

  it.each(SIMULATED_CARRIERS)(
    'answer the carrier in time, where one is killed as the broker stands still, on %s',
    async (id) => {
      await using cluster = await ClusterProcesses.three(id, broker.redis.url);
      const { calling, callId, owner, isMoved } = await talking(cluster);
      await heardByAll(cluster, callId);
      const before = cluster.proxy.took.length;
      broker.redis.freeze();
      await owner.kill();
      const left = await cluster.moved(owner);
      isMoved.abort();
      expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
      broker.redis.thaw();
      await cluster.records(callId, left);
      const webhooks = cluster.proxy.took.slice(before).filter(({ path }) => path.startsWith('/webhooks/'));
      const longest = Math.max(...webhooks.map(({ tookMs }) => tookMs));
      expect(longest).toBeLessThan(IN_TIME_MS);
    },
    120_000,
  );

  it.each(SIMULATED_CARRIERS)(
    'tell a replica that has the place of the broker what it lacks of a call, so that also a new one knows it, on %s',
    async (id) => {
      await using failover = await RedisFailover.start(program);
      await using cluster = await ClusterProcesses.three(id, failover.url);
      failover.lag();
      const isThere = new AbortController();
      const calling = cluster.simulator.call({ script: asksUpon(isThere.signal) });
      const callId = await greeted(cluster);
      await failover.failOver();
      const isTold = ({ log }: ClusterProcess) => log.join('').includes('it is told again');
      const owner = cluster.owner();
      await eventually('the loss', () => (isTold(owner) ? true : undefined), LONG_MS);
      isThere.abort();
      expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
      await cluster.fork();
      const [record, ...others] = await cluster.records(callId);
      expect(record).toMatchObject({ endReason: 'caller-hangup', error: null, incidents: [] });
      expect(record?.transcript.map(({ text }) => text)).toContain('Hello, how can I help you?');
      for (const other of others) expect(other).toEqual(record);
      expect(ends(cluster, callId)).toHaveLength(1);
      expect(cluster.ended).toHaveLength(1);
    },
    120_000,
  );

  it.each(SIMULATED_CARRIERS)(
    'go on with a call while the node of a Redis Cluster dies that has its state, and when its server is killed after that, on %s',
    async (id) => {
      await using redis = await RedisCluster.start(program, { masters: 2, hasReplica: true });
      const placed = await redis.place('phones');
      const { name, master } = placed;
      await using cluster = await ClusterProcesses.three(id, master.url, { name });
      const { calling, callId, owner, isMoved } = await talking(cluster);
      await heardByAll(cluster, callId);
      await master.kill();
      const isAway = ({ log }: ClusterProcess) => log.join('').includes('broker of the cluster is away');
      await eventually(
        'the loss of the broker',
        () => (cluster.processes.every(isAway) ? true : undefined),
        LONG_MS,
      );
      await redis.failOver(placed);
      const isBack = ({ log }: ClusterProcess) =>
        log.join('').includes('broker of the cluster answers again');
      await eventually('its replica', () => (cluster.processes.every(isBack) ? true : undefined), LONG_MS);
      expect(cluster.owner()).toBe(owner);
      await owner.kill();
      const left = await cluster.moved(owner);
      isMoved.abort();
      expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
      await expectGoneOn(cluster, callId, left);
    },
    120_000,
  );
});
