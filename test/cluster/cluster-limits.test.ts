import { afterEach, describe, expect, it } from 'vitest';
import { ClusterLimits } from '../../src/cluster/cluster-limits.js';
import { PLACE_MS } from '../../src/cluster/cluster-places.js';
import { MemoryCluster } from '../../src/cluster/memory-cluster.js';
import type { CallFact } from '../../src/contract/call-event.js';
import { EventBus } from '../../src/events/bus.js';
import { ended, IDENTITY, stamp, started } from '../support/call-facts.js';
import { FakeClock } from '../support/fake-clock.js';
import { RecordedLogger } from '../support/recorded-logger.js';

const opened: ClusterLimits[] = [];
afterEach(() => {
  for (const limits of opened.splice(0)) limits.close();
});

function openNode(cluster: MemoryCluster, nodeId: string, maxCalls: number | undefined) {
  const bus = new EventBus(new RecordedLogger(), cluster.clock);
  const live = new Set<string>();
  const moved = new Set<string>();
  const limits = new ClusterLimits({
    coordinator: cluster.node({ nodeId, address: `http://${nodeId}.test` }),
    clock: cluster.clock,
    maxCalls,
    maxStreamsPerIp: 2,
    events: bus,
    holdsPlace: (callId) => live.has(callId),
    isElsewhere: (callId) => moved.has(callId),
  });
  opened.push(limits);
  const state = (callId: string, fact: CallFact, by = nodeId) => {
    for (const event of stamp([fact], { callId })) bus.publish({ ...event, nodeId: by });
  };
  return { limits, live, moved, state };
}

describe('calls', () => {
  const RINGING: CallFact = { type: 'call.status', status: 'ringing', ...IDENTITY };

  it('a call gives its place back as it ends', async () => {
    const cluster = new MemoryCluster(new FakeClock());
    const [one, two] = [openNode(cluster, 'a', 1), openNode(cluster, 'b', 1)];
    expect(await one.limits.calls?.take('call-1')).toBe(true);
    one.live.add('call-1');
    one.state('call-1', started());
    expect(await two.limits.calls?.take('call-2')).toBe(false);
    one.live.delete('call-1');
    one.state('call-1', ended());
    expect(await two.limits.calls?.take('call-2')).toBe(true);
  });

  it.each([RINGING, started()])('a call that is up without having asked has a place: $type', async (fact) => {
    const cluster = new MemoryCluster(new FakeClock());
    const [one, two] = [openNode(cluster, 'a', 1), openNode(cluster, 'b', 1)];
    one.live.add('taken-over');
    one.state('taken-over', fact);
    expect(await two.limits.calls?.take('call-2')).toBe(false);
  });

  it('a call that nobody signed has none while it rings', async () => {
    const cluster = new MemoryCluster(new FakeClock());
    const [one, two] = [openNode(cluster, 'a', 1), openNode(cluster, 'b', 1)];
    one.state('unsigned', RINGING);
    expect(await two.limits.calls?.take('call-2')).toBe(true);
  });

  it('what another node states of a call changes nothing of its place here', async () => {
    const clock = new FakeClock();
    const cluster = new MemoryCluster(clock);
    const [one, two] = [openNode(cluster, 'a', 1), openNode(cluster, 'b', 1)];
    await one.limits.calls?.take('call-1');
    one.live.add('call-1');
    one.state('call-1', ended(), 'b');
    await clock.advanceAsync(10 * PLACE_MS);
    expect(await two.limits.calls?.take('call-2')).toBe(false);
  });

  it('a call that goes to another node is one call', async () => {
    const clock = new FakeClock();
    const cluster = new MemoryCluster(clock);
    const [one, two] = [openNode(cluster, 'a', 2), openNode(cluster, 'b', 2)];
    await one.limits.calls?.take('call-1');
    one.live.add('call-1');
    one.state('call-1', started());
    one.live.delete('call-1');
    two.live.add('call-1');
    two.state('call-1', RINGING);
    await clock.advanceAsync(PLACE_MS);
    expect(cluster.placesOf('calls').size).toBe(1);
    two.state('call-1', ended());
    await clock.advanceAsync(0);
    expect(cluster.placesOf('calls').size).toBe(0);
  });

  it('are renewed no more by a node that has closed its limits', async () => {
    const clock = new FakeClock();
    const cluster = new MemoryCluster(clock);
    const [one, two] = [openNode(cluster, 'a', 1), openNode(cluster, 'b', 1)];
    one.live.add('call-1');
    await one.limits.calls?.take('call-1');
    await clock.advanceAsync(PLACE_MS);
    expect(await two.limits.calls?.take('call-2')).toBe(false);
    one.limits.close();
    await clock.advanceAsync(PLACE_MS);
    expect(await two.limits.calls?.take('call-2')).toBe(true);
  });

  it('have no pool without a limit', () => {
    const cluster = new MemoryCluster(new FakeClock());
    const node = openNode(cluster, 'a', undefined);
    expect(node.limits.calls).toBeUndefined();
    node.state('call-1', started());
    expect([...cluster.pools.keys()]).toEqual([]);
  });
});

describe('streams of an address', () => {
  const ADDRESS = '203.0.113.7';
  const POOL = `streams ${ADDRESS}`;

  it('are counted over all nodes, those of a household as one, and others not with them', async () => {
    const cluster = new MemoryCluster(new FakeClock());
    const [one, two] = [openNode(cluster, 'a', undefined), openNode(cluster, 'b', undefined)];
    const first = await one.limits.streams.acquire('2001:db8::1', 'call-1');
    expect(await two.limits.streams.acquire('2001:db8::2', 'call-2')).toBeTypeOf('function');
    expect(await two.limits.streams.acquire('2001:db8::3', 'call-3')).toBeUndefined();
    expect(await two.limits.streams.acquire('2001:db8:0:1::3', 'call-3')).toBeTypeOf('function');
    first?.();
    first?.();
    expect(await two.limits.streams.acquire('2001:db8::3', 'call-3')).toBeTypeOf('function');
    expect(await one.limits.streams.acquire('2001:db8::4', 'call-4')).toBeUndefined();
  });

  it('of a node that dies leave their places to the same calls at another one, and to no others', async () => {
    const clock = new FakeClock();
    const cluster = new MemoryCluster(clock);
    const [one, two] = [openNode(cluster, 'a', undefined), openNode(cluster, 'b', undefined)];
    for (const callId of ['call-1', 'call-2']) await one.limits.streams.acquire(ADDRESS, callId);
    cluster.cut('a');
    expect(await two.limits.streams.acquire(ADDRESS, 'call-3')).toBeUndefined();
    const back = await two.limits.streams.acquire(ADDRESS, 'call-1');
    expect(await two.limits.streams.acquire(ADDRESS, 'call-2')).toBeTypeOf('function');
    await clock.advanceAsync(2 * PLACE_MS);
    expect(await two.limits.streams.acquire(ADDRESS, 'call-3')).toBeUndefined();
    back?.();
    expect(await two.limits.streams.acquire(ADDRESS, 'call-3')).toBeTypeOf('function');
  });

  it.each(['older', 'newer'])(
    'of one call have one place until the last is closed: %s first',
    async (first) => {
      const cluster = new MemoryCluster(new FakeClock());
      const node = openNode(cluster, 'a', undefined);
      const streams = [
        await node.limits.streams.acquire(ADDRESS, 'call-1'),
        await node.limits.streams.acquire(ADDRESS, 'call-1'),
      ];
      if (first === 'newer') streams.reverse();
      expect(cluster.placesOf(POOL).size).toBe(1);
      streams[0]?.();
      streams[0]?.();
      expect(cluster.placesOf(POOL).size).toBe(1);
      streams[1]?.();
      expect(cluster.placesOf(POOL).size).toBe(0);
    },
  );

  it('of a call that is at another node by now do not free its place as they close', async () => {
    const clock = new FakeClock();
    const cluster = new MemoryCluster(clock);
    const [one, two] = [openNode(cluster, 'a', undefined), openNode(cluster, 'b', undefined)];
    const old = await one.limits.streams.acquire(ADDRESS, 'call-1');
    await two.limits.streams.acquire(ADDRESS, 'call-1');
    one.moved.add('call-1');
    old?.();
    expect(cluster.placesOf(POOL).size).toBe(1);
    await clock.advanceAsync(2 * PLACE_MS);
    expect(cluster.placesOf(POOL).size).toBe(1);
  });

  it('of a call that no other node takes up keep its place no longer than a lease', async () => {
    const clock = new FakeClock();
    const cluster = new MemoryCluster(clock);
    const node = openNode(cluster, 'a', undefined);
    const stream = await node.limits.streams.acquire(ADDRESS, 'call-1');
    node.moved.add('call-1');
    stream?.();
    await clock.advanceAsync(PLACE_MS);
    expect(cluster.placesOf(POOL).size).toBe(0);
  });
});
