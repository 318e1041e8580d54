// Limits of servers in processes of their own, whose broker stands still, dies and comes back empty, and one of which is killed.
import { expect, it } from 'vitest';
import { type CallRecord, SIMULATED_CARRIERS } from '../../../src/contract/call-record.js';
import type { CallerStep } from '../../../src/testing/index.js';
import { asksUpon, WAIT } from '../../support/asking-caller.js';
import { eventually } from '../../support/carrier-phone.js';
import { type ClusterProcess, ClusterProcesses } from '../../support/cluster-processes.js';
import { describeOnRedis, eachRedis } from '../../support/redis-server.js';

const LONG_MS = 40_000;
const GREETED: CallerStep[] = [WAIT, { type: 'hang-up' }];
const LONG: CallerStep[] = [WAIT, { type: 'pause', durationMs: 40_000 }, { type: 'hang-up' }];
/** What a webhook takes beside the broker on a busy machine, by far: one that waited for the broker would take longer than the calls that are up. */
const WEBHOOK_MS = 8000;

/** What a broker that has just frozen may cost a webhook: 100 ms, and what a busy machine adds to the fastest of some. */
const FROZEN_MS = 250;
/** What the way to another server may cost a hang-up, of the second that it may take. */
const FORWARD_MS = 500;

type Ready = { status: string; reason?: string; broker: string };

const ready = async ({ port }: ClusterProcess): Promise<Ready> =>
  (await (await fetch(`http://127.0.0.1:${port}/ready`)).json()) as Ready;

const all = (cluster: ClusterProcesses, isIt: (ready: Ready) => boolean) =>
  eventually(
    'that all servers say so',
    async () => ((await Promise.all(cluster.processes.map(ready))).every(isIt) ? true : undefined),
    LONG_MS,
  );

/** How many the cluster has, as one of them sees it: its share follows from that. */
const nodesKnownTo = async ({ port }: ClusterProcess): Promise<number> => {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^offhook_cluster_nodes (\d+)/m.exec(metrics)?.[1]);
};

const greetings = ({ facts }: ClusterProcesses) =>
  facts.filter((fact) => fact.type === 'turn.completed' && fact.turn.index === 0);

const greeted = (cluster: ClusterProcesses, count: number) =>
  eventually(
    `${count} greetings`,
    () => (greetings(cluster).length === count ? greetings(cluster) : undefined),
    LONG_MS,
  );

/** How long the carrier waits for its first webhook of a call, in milliseconds: the fastest of three. */
async function fastestWebhook(
  cluster: ClusterProcesses,
  { before, after }: { before(): void; after(): Promise<unknown> },
) {
  const fastest: number[] = [];
  for (let call = 0; call < 3; call += 1) {
    const from = cluster.proxy.took.length;
    before();
    expect(await cluster.simulator.call({ script: GREETED })).toMatchObject({ ok: true });
    const first = cluster.proxy.took.slice(from).find(({ path }) => path.startsWith('/webhooks/'));
    fastest.push(first?.tookMs ?? Number.POSITIVE_INFINITY);
    await after();
  }
  return Math.min(...fastest);
}

/** Hangs up a call of one server at that one, or at another. Resolves to how long the caller heard it still, in milliseconds. */
async function hangUp(cluster: ClusterProcesses, where: 'its own' | 'another', asked = () => {}) {
  const known = new Set(cluster.facts.map(({ callId }) => callId));
  const calling = cluster.simulator.call({ script: LONG });
  const { callId } = await eventually(
    'the greeting',
    () => greetings(cluster).find((fact) => !known.has(fact.callId)),
    LONG_MS,
  );
  const isOwn = ({ facts }: ClusterProcess) => facts.some((fact) => fact.callId === callId);
  const server = cluster.processes.find((each) => isOwn(each) === (where === 'its own'));
  asked();
  const from = performance.now();
  const response = await fetch(`http://127.0.0.1:${server?.port}/api/dashboard/calls/${callId}/hangup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  expect(response.ok, await response.text()).toBe(true);
  await calling;
  const tookMs = performance.now() - from;
  await eventually('the end', () => cluster.ended.find((record) => record.callId === callId), LONG_MS);
  return tookMs;
}

const outcomes = (records: readonly CallRecord[]) => records.map(({ outcome }) => outcome).toSorted();

describeOnRedis('servers of a cluster', (program) => {
  const broker = eachRedis(program);

  it.each(SIMULATED_CARRIERS)(
    'have one place for a call whose server is killed, and it is free when the call is over, on %s',
    async (id) => {
      await using cluster = await ClusterProcesses.three(id, broker.redis.url, {}, { maxCalls: 1 });
      const isMoved = new AbortController();
      const calling = cluster.simulator.call({ script: asksUpon(isMoved.signal) });
      await greeted(cluster, 1);
      expect(await cluster.simulator.call({ script: GREETED })).toMatchObject({ ok: false });
      const owner = cluster.owner();
      await owner.kill();
      await cluster.moved(owner);
      expect(await cluster.simulator.call({ script: GREETED })).toMatchObject({ ok: false });
      isMoved.abort();
      expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
      await eventually('the end', () => (cluster.ended.length === 3 ? true : undefined), LONG_MS);
      expect(outcomes(cluster.ended)).toEqual(['answered', 'busy', 'busy']);
      expect(await cluster.simulator.call({ script: GREETED })).toMatchObject({ ok: true });
    },
    120_000,
  );

  it.each(SIMULATED_CARRIERS)(
    'go by their shares while the broker stands still, of which no call hears, on %s',
    async (id) => {
      await using cluster = await ClusterProcesses.three(id, broker.redis.url, {}, { maxCalls: 6 });
      await all(cluster, ({ broker }) => broker === 'there');
      const isOver = new AbortController();
      const calling = [cluster.simulator.call({ script: asksUpon(isOver.signal) })];
      await greeted(cluster, 1);
      broker.redis.freeze();
      const before = cluster.proxy.took.length;
      for (let count = 2; count <= 3; count += 1) {
        calling.push(cluster.simulator.call({ script: asksUpon(isOver.signal) }));
        await greeted(cluster, count);
      }
      await all(cluster, ({ broker }) => broker === 'away');
      // Six, and at most one more at each server.
      const more = await Promise.all(
        Array.from({ length: 8 }, () =>
          cluster.simulator.call({
            script: [WAIT, { type: 'pause', durationMs: 8000 }, { type: 'hang-up' }],
          }),
        ),
      );
      const taken = calling.length + more.filter(({ ok }) => ok).length;
      expect(taken).toBeGreaterThan(3);
      expect(taken).toBeLessThanOrEqual(6 + cluster.processes.length);
      const webhooks = cluster.proxy.took.slice(before).filter(({ path }) => path.startsWith('/webhooks/'));
      expect(webhooks.length).toBeGreaterThan(5);
      expect(Math.max(...webhooks.map(({ tookMs }) => tookMs))).toBeLessThan(WEBHOOK_MS);
      isOver.abort();
      for (const report of await Promise.all(calling))
        expect(report).toMatchObject({ ok: true, protocolErrors: [] });
      broker.redis.thaw();
      await all(cluster, ({ status, broker }) => status === 'ready' && broker === 'there');
      expect(await cluster.simulator.call({ script: GREETED })).toMatchObject({ ok: true });
      await eventually('every end', () => (cluster.ended.length === 12 ? true : undefined), LONG_MS);
      // The fact comes with a message of its own, behind that of the callback.
      const ends = () => cluster.facts.filter(({ type }) => type === 'call.ended');
      await eventually('the fact of every end', () => (ends().length >= 12 ? true : undefined), LONG_MS);
      expect(new Set(ends().map(({ callId }) => callId)).size).toBe(12);
      expect(ends()).toHaveLength(12);
    },
    180_000,
  );

  it.each(SIMULATED_CARRIERS)(
    'take the calls for which one has used up its share while the broker stands still, on %s',
    async (id) => {
      await using cluster = await ClusterProcesses.three(id, broker.redis.url, {}, { maxCalls: 3 });
      await eventually(
        'that all know each other',
        async () => {
          const known = await Promise.all(cluster.processes.map(nodesKnownTo));
          return known.every((count) => count === 3) ? true : undefined;
        },
        LONG_MS,
      );
      const [first] = cluster.processes;
      cluster.proxy.choose(({ url = '' }) => (url.startsWith('/webhooks/') ? first?.port : undefined));
      broker.redis.freeze();
      const isOver = new AbortController();
      const calling: Promise<unknown>[] = [];
      for (let count = 1; count <= 3; count += 1) {
        calling.push(cluster.simulator.call({ script: asksUpon(isOver.signal) }));
        await greeted(cluster, count);
      }
      expect(await cluster.simulator.call({ script: GREETED })).toMatchObject({ ok: false });
      isOver.abort();
      for (const report of await Promise.all(calling))
        expect(report).toMatchObject({ ok: true, protocolErrors: [] });
      broker.redis.thaw();
    },
    180_000,
  );

  it.each(SIMULATED_CARRIERS)(
    'tell a broker that was killed and comes back empty of the places that are taken, on %s',
    async (id) => {
      await using cluster = await ClusterProcesses.three(id, broker.redis.url, {}, { maxCalls: 2 });
      const isOver = new AbortController();
      const calling = [1, 2].map(() => cluster.simulator.call({ script: asksUpon(isOver.signal) }));
      await greeted(cluster, 2);
      await broker.redis.kill();
      await all(cluster, ({ broker }) => broker === 'away');
      await broker.redis.start();
      await all(cluster, ({ broker, reason }) => broker === 'there' && reason === 'full');
      expect(await cluster.simulator.call({ script: GREETED })).toMatchObject({ ok: false });
      isOver.abort();
      for (const report of await Promise.all(calling))
        expect(report).toMatchObject({ ok: true, protocolErrors: [] });
      await all(cluster, ({ status }) => status === 'ready');
      expect(await cluster.simulator.call({ script: GREETED })).toMatchObject({ ok: true });
    },
    120_000,
  );

  it.each(SIMULATED_CARRIERS)(
    'go on with the calls of one that is killed, also where their address has no place left, on %s',
    async (id) => {
      await using cluster = await ClusterProcesses.three(id, broker.redis.url, {}, { maxStreamsPerIp: 2 });
      const [killed, ...left] = cluster.processes;
      cluster.proxy.choose(({ url = '' }) => (url.startsWith('/ws/stream/') ? killed?.port : undefined));
      const isMoved = new AbortController();
      const calling = [1, 2].map(() => cluster.simulator.call({ script: asksUpon(isMoved.signal) }));
      await greeted(cluster, 2);
      cluster.proxy.choose(undefined);
      cluster.proxy.useAll(left.map(({ port }) => port));
      await killed?.kill();
      // One that comes while another server takes its call up is refused in its own way, and comes again.
      const isForRoom = (line: string) => line.includes('stream refused') && line.includes('LIMIT_EXCEEDED');
      const refused = () => left.flatMap(({ log }) => log).filter(isForRoom);
      const incidents = () =>
        left.flatMap(({ facts }) => facts).filter(({ type }) => type === 'incident.noted');
      const moved = () => new Set(incidents().map(({ callId }) => callId));
      await eventually(
        'both calls at others',
        () => (moved().size === 2 || refused().length > 0 ? true : undefined),
        LONG_MS,
      );
      isMoved.abort();
      for (const report of await Promise.all(calling))
        expect(report).toMatchObject({ ok: true, protocolErrors: [] });
      await eventually('both ends', () => (cluster.ended.length === 2 ? true : undefined), LONG_MS);
      expect(cluster.ended.map(({ endReason }) => endReason)).toEqual(['caller-hangup', 'caller-hangup']);
      expect(refused()).toEqual([]);
    },
    120_000,
  );

  it.each(SIMULATED_CARRIERS)(
    'wait for a broker that has just frozen no longer than a caller may, on %s',
    async (id) => {
      await using cluster = await ClusterProcesses.three(id, broker.redis.url, {}, { maxCalls: 6 });
      const isThere = () => all(cluster, ({ broker }) => broker === 'there');
      await isThere();
      const usual = await fastestWebhook(cluster, { before: () => {}, after: isThere });
      const frozen = await fastestWebhook(cluster, {
        before: () => broker.redis.freeze(),
        async after() {
          await all(cluster, ({ broker }) => broker === 'away');
          broker.redis.thaw();
          await isThere();
        },
      });
      expect(frozen).toBeLessThan(usual + FROZEN_MS);
    },
    120_000,
  );

  it.each(SIMULATED_CARRIERS)(
    'hang up a call of another server within a second, and also while the broker stands still, on %s',
    async (id) => {
      await using cluster = await ClusterProcesses.three(id, broker.redis.url);
      const took = { 'its own': [] as number[], another: [] as number[] };
      for (let call = 0; call < 3; call += 1)
        for (const where of ['its own', 'another'] as const) took[where].push(await hangUp(cluster, where));
      expect(Math.min(...took.another)).toBeLessThan(Math.min(...took['its own']) + FORWARD_MS);
      await hangUp(cluster, 'another', () => broker.redis.freeze());
      expect(new Set(cluster.ended.map(({ endReason }) => endReason))).toEqual(new Set(['operator-hangup']));
      expect(cluster.ended).toHaveLength(7);
    },
    120_000,
  );
});
