// Limits of a cluster hold for all its servers together, whichever of them a call comes to.
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { ClusterError } from '../../src/base/errors.js';
import { pause } from '../../src/base/pause.js';
import { BROKER_MS, type Coordinator } from '../../src/cluster/coordinator.js';
import { PLACE_MS } from '../../src/cluster/cluster-places.js';
import { type CallRecord, SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { asksUpon, WAIT } from '../support/asking-caller.js';
import { eventually } from '../support/carrier-phone.js';
import { ClusterPhones } from '../support/cluster-phones.js';
import type { ServedPhone } from '../support/served-phone.js';

const TALK = [WAIT, { type: 'pause', durationMs: 20_000 }, { type: 'hang-up' }] as const;
const SHORT = [WAIT, { type: 'hang-up' }] as const;

const readiness = (phones: ClusterPhones) =>
  Promise.all(
    phones.phones.map(async ({ server }) => {
      const response = await fetch(`${server.url}/ready`);
      return { code: response.status, ...((await response.json()) as object) };
    }),
  );

const greeted = (phone: ServedPhone | undefined) =>
  (phone?.facts ?? []).filter(({ type }) => type === 'turn.completed');

/** How many are taken, by address. */
const streamPlaces = ({ cluster }: ClusterPhones) =>
  [...cluster.pools.keys()]
    .filter((name) => name.startsWith('streams '))
    .map((name) => cluster.placesOf(name).size);

const same = <T>(value: T): T[] => [value, value, value];

describe.each(SIMULATED_CARRIERS)('three servers behind one address, on %s', { timeout: 60_000 }, (id) => {
  it('take maxCalls calls together, and the next one once a call is over', async () => {
    await using phones = await ClusterPhones.three(id, {}, { maxCalls: 2 });
    expect(await readiness(phones)).toEqual(same({ code: 200, status: 'ready', broker: 'there' }));
    const calling = [1, 2].map(() => phones.simulator.call({ script: [...TALK] }));
    await eventually('two calls', () => (phones.started.length === 2 ? true : undefined));
    for (let call = 0; call < 3; call += 1) {
      const refused = await phones.simulator.call({ script: [...SHORT] });
      expect(refused.ok, 'one over the limit').toBe(false);
    }
    expect(phones.ended.map(({ outcome, endReason }) => [outcome, endReason])).toEqual(
      same(['busy', 'over-capacity']),
    );
    await expect(phones.phones[0]?.phone.call({ to: '+15550111' })).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
    await eventually('that all are full', async () =>
      (await readiness(phones)).every(({ code }) => code === 503) ? true : undefined,
    );
    expect(await readiness(phones)).toEqual(
      same({ code: 503, status: 'unavailable', reason: 'full', broker: 'there' }),
    );
    await Promise.all(calling);
    expect(await phones.simulator.call({ script: [...SHORT] })).toMatchObject({ ok: true });
    expect(phones.cluster.placesOf('calls').size).toBe(0);
  });

  it('wait 100 ms in all for a broker that stands still in the middle of a webhook', async () => {
    await using phones = await ClusterPhones.three(id, {}, { maxCalls: 10 });
    const asked: number[] = [];
    const given: number[] = [];
    for (const node of phones.cluster.nodes.values() as Iterable<Coordinator>) {
      const ownerOf = node.ownerOf.bind(node);
      const take = node.take.bind(node);
      // It answers the first question late, and no further one.
      node.ownerOf = async (callId) => {
        asked.push(systemClock.now());
        await pause(systemClock, 60);
        return ownerOf(callId);
      };
      node.take = async (pool, placeId, ttlMs, patience) => {
        if (pool.name !== 'calls' || pool.limit !== 10) return take(pool, placeId, ttlMs);
        const now = systemClock.now();
        await pause(systemClock, (patience?.by ?? now + BROKER_MS) - now);
        given.push(systemClock.now());
        throw new ClusterError('The broker does not answer.');
      };
    }
    expect(await phones.simulator.call({ script: [...SHORT] })).toMatchObject({ ok: true });
    expect((given[0] ?? 0) - (asked[0] ?? 0)).toBe(BROKER_MS);
  });

  it('go by their shares while the broker is away, stay ready, and count together again', async () => {
    await using phones = await ClusterPhones.three(id, {}, { maxCalls: 3 });
    // Who is cut off does not know where a call has begun.
    phones.proxy.choose((_, ports) => ports[0]);
    const nodeIds = [...phones.cluster.nodes.keys()];
    for (const nodeId of nodeIds) phones.cluster.cut(nodeId);
    expect(await readiness(phones)).toEqual(same({ code: 200, status: 'ready', broker: 'away' }));
    const calling = phones.simulator.call({ script: [...TALK] });
    await eventually('a call', () => (phones.started.length === 1 ? true : undefined));
    // A third of three.
    expect(await phones.simulator.call({ script: [...SHORT] })).toMatchObject({ ok: false });
    for (const nodeId of nodeIds) phones.cluster.heal(nodeId);
    expect(await readiness(phones)).toEqual(same({ code: 200, status: 'ready', broker: 'there' }));
    expect(await phones.simulator.call({ script: [...SHORT] })).toMatchObject({ ok: true });
    expect(await calling).toMatchObject({ ok: true });
  });

  it('take maxStreamsPerIp streams of an address together', async () => {
    await using phones = await ClusterPhones.three(id, {}, { maxStreamsPerIp: 2 });
    const calling = [1, 2].map(() => phones.simulator.call({ script: [...TALK] }));
    await eventually('two calls', () => (phones.started.length === 2 ? true : undefined));
    void phones.simulator.call({ script: [...SHORT] }).catch(() => {});
    await eventually('a refused stream', () =>
      phones.phones.some(({ logger }) =>
        logger.lines.some(({ sentence, fields }) => sentence === 'stream refused' && fields.status === 429),
      )
        ? true
        : undefined,
    );
    expect(phones.started).toHaveLength(2);
    await Promise.all(calling);
  });

  it('go on with the calls of one that is gone, also where their address has no place left', async () => {
    await using phones = await ClusterPhones.three(id, {}, { maxStreamsPerIp: 2 });
    const [gone, ...others] = phones.phones;
    phones.proxy.choose((_, ports) => ports[0]);
    const isDone = new AbortController();
    const calling = [1, 2].map(() => phones.simulator.call({ script: asksUpon(isDone.signal) }));
    await eventually('two greetings', () => (greeted(gone).length === 2 ? true : undefined));
    phones.proxy.choose(undefined);
    phones.proxy.useAll(others.map(({ port }) => port));
    const [nodeId = ''] = phones.cluster.nodes.keys();
    phones.cluster.cut(nodeId);
    for (const leg of phones.simulator.legs) leg.dropStream();
    await eventually('both calls at others', () =>
      others.flatMap(({ facts }) => facts).filter(({ type }) => type === 'incident.noted').length === 2
        ? true
        : undefined,
    );
    expect(streamPlaces(phones)).toEqual([2]);
    phones.cluster.heal(nodeId);
    await pause(systemClock, PLACE_MS);
    expect(streamPlaces(phones)).toEqual([2]);
    isDone.abort();
    for (const report of await Promise.all(calling))
      expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(streamPlaces(phones)).toEqual([0]);
  });

  it('keep the place of a call that goes to another one, for no other call to have', async () => {
    await using phones = await ClusterPhones.three(id, {}, { maxStreamsPerIp: 1 });
    const [first, ...others] = phones.phones;
    phones.proxy.choose((_, ports) => ports[0]);
    const isDone = new AbortController();
    const calling = phones.simulator.call({ script: asksUpon(isDone.signal) });
    await eventually('the greeting', () => (greeted(first).length === 1 ? true : undefined));
    phones.proxy.choose(({ url = '' }) => (url.startsWith('/ws/stream/') ? others[0]?.port : undefined));
    const seen = new Set<number>();
    first?.phone.drain();
    await eventually('the call at another', () => {
      for (const count of streamPlaces(phones)) seen.add(count);
      return others.some(({ facts }) => facts.length > 0) ? true : undefined;
    });
    for (let sample = 0; sample < 60; sample += 1) {
      await pause(systemClock, 100);
      for (const count of streamPlaces(phones)) seen.add(count);
    }
    expect([...seen]).toEqual([1]);
    isDone.abort();
    expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
    expect(streamPlaces(phones)).toEqual([0]);
  });

  it('spend a budget together', async () => {
    await using phones = await ClusterPhones.three(
      id,
      {},
      { budget: { perHour: 0.01 }, pricing: { [id]: { inbound: { perMinute: 6 } } } },
    );
    await phones.simulator.call({ script: [...SHORT] });
    await eventually('that nobody takes calls', async () =>
      (await readiness(phones)).every(({ code }) => code === 503) ? true : undefined,
    );
    const ready = await readiness(phones);
    expect(ready).toEqual(same({ code: 503, status: 'unavailable', reason: 'budget', broker: 'there' }));
    expect(await phones.simulator.call({ script: [...SHORT] })).toMatchObject({ ok: false });
  });

  it('tell one that comes later what was spent, and the calls, also where the log tells nothing of it any more', async () => {
    const options = { budget: { perDay: 0.01 }, pricing: { [id]: { inbound: { perMinute: 6 } } } };
    await using phones = await ClusterPhones.three(id, {}, options);
    await phones.simulator.call({ script: [...SHORT] });
    const [record] = await eventually('the end', () => (phones.ended.length > 0 ? phones.ended : undefined));
    const { callId, nodeId, cost } = record as CallRecord;
    await eventually('that all know it', async () =>
      (await readiness(phones)).every(({ code }) => code === 503) ? true : undefined,
    );
    phones.cluster.log.splice(0);
    const fourth = await phones.serve({}, options);
    await eventually('the call there', () => fourth.server.calls.get(callId));
    expect(await fourth.server.calls.get(callId)).toMatchObject({ nodeId, cost, status: 'completed' });
    // Who had the call is gone: the others know what it cost.
    await phones.phones.find(({ ended }) => ended.length > 0)?.phone.disconnect();
    phones.cluster.log.splice(0);
    const fifth = await phones.serve({}, options);
    for (const { server } of [fourth, fifth])
      await eventually('that it takes no call', async () => {
        const response = await fetch(`${server.url}/ready`);
        const { reason } = (await response.json()) as { reason?: string };
        return reason === 'budget' ? true : undefined;
      });
  });
});
