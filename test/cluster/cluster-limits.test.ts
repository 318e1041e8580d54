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
  const limits = new ClusterLimits({
    coordinator: cluster.node({ nodeId, address: `http://${nodeId}.test` }),
    clock: cluster.clock,
    maxCalls,
    maxStreamsPerIp: 2,
    events: bus,
    holdsPlace: (callId) => live.has(callId),
  });
  opened.push(limits);
  const state = (callId: string, fact: CallFact, by = nodeId) => {
    for (const event of stamp([fact], { callId })) bus.publish({ ...event, nodeId: by });
  };
  return { limits, live, state };
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
  it('are counted over all nodes, those of a household as one, and others not with them', async () => {
    const cluster = new MemoryCluster(new FakeClock());
    const [one, two] = [openNode(cluster, 'a', undefined), openNode(cluster, 'b', undefined)];
    const first = await one.limits.streams.acquire('2001:db8::1');
    expect(await two.limits.streams.acquire('2001:db8::2')).toBeTypeOf('function');
    expect(await two.limits.streams.acquire('2001:db8::3')).toBeUndefined();
    expect(await two.limits.streams.acquire('2001:db8:0:1::3')).toBeTypeOf('function');
    first?.();
    first?.();
    expect(await two.limits.streams.acquire('2001:db8::3')).toBeTypeOf('function');
    expect(await one.limits.streams.acquire('2001:db8::4')).toBeUndefined();
  });
});
