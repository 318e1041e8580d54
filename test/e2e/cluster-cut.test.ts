// A server that is cut off from the others and their broker, while calls go on. Whole calls, on both carriers.
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { isNewer } from '../../src/events/reduce.js';
import { asksUpon, WAIT } from '../support/asking-caller.js';
import { eventually } from '../support/carrier-phone.js';
import { ClusterPhones } from '../support/cluster-phones.js';
import type { ServedPhone } from '../support/served-phone.js';

/** A call whose caller was greeted, and who has it. */
async function greeted(phones: ClusterPhones) {
  const { callId } = await eventually('the greeting', () =>
    phones.facts.find(({ type }) => type === 'turn.completed'),
  );
  const { nodeId } = phones.facts.reduce((last, fact) => (isNewer(fact, last) ? fact : last));
  const owner = phones.phones.find(({ facts }) => facts.some((fact) => fact.nodeId === nodeId));
  return { callId, nodeId, owner: owner as ServedPhone };
}

describe.each(SIMULATED_CARRIERS)('a server that is cut off from broker and servers, on %s', (id) => {
  it('takes no call of another one because it alone hears of its end', async () => {
    await using phones = await ClusterPhones.three(id);
    const isDone = new AbortController();
    const calling = phones.simulator.call({ script: asksUpon(isDone.signal) });
    const { nodeId } = await greeted(phones);
    const nodes = [...phones.cluster.nodes.keys()];
    const cutOff = nodes.findIndex((each) => each !== nodeId);
    phones.cluster.cut(nodes[cutOff] ?? '');
    phones.proxy.useAll([phones.phones[cutOff]?.port ?? 0]);
    isDone.abort();
    const { carrierCallId } = await calling;
    await pause(systemClock, 15_000);
    phones.cluster.heal(nodes[cutOff] ?? '');
    const [record, ...rest] = await phones.records(carrierCallId);
    expect(record).toMatchObject({ nodeId, endReason: 'caller-hangup', error: null });
    for (const each of rest) expect(each).toEqual(record);
    expect(phones.facts.filter(({ type }) => type === 'call.ended')).toHaveLength(1);
    expect(phones.ended).toHaveLength(1);
  });
});

describe.each(SIMULATED_CARRIERS)(
  'a server that is cut off from everybody, on %s',
  { timeout: 60_000 },
  (id) => {
    it('leaves the end of a call to those that go on with it', async () => {
      await using phones = await ClusterPhones.three(id);
      const isDone = new AbortController();
      const calling = phones.simulator.call({ script: asksUpon(isDone.signal) });
      const { callId, nodeId, owner } = await greeted(phones);
      const others = phones.phones.filter((each) => each !== owner);
      phones.proxy.useAll(others.map(({ port }) => port));
      phones.cluster.cut(nodeId);
      phones.simulator.legs[0]?.dropStream();
      await eventually('the call at another server', () => others.find(({ facts }) => facts.length > 0));
      await pause(systemClock, 12_000);
      expect(phones.ended).toEqual([]);
      phones.cluster.heal(nodeId);
      isDone.abort();
      const { carrierCallId, ok } = await calling;
      expect(ok).toBe(true);
      const [record, ...rest] = await phones.records(carrierCallId);
      expect(record).toMatchObject({ callId, endReason: 'caller-hangup', error: null });
      for (const each of rest) expect({ ...each, incidents: [] }).toEqual({ ...record, incidents: [] });
      expect([phones.started.length, phones.ended.length]).toEqual([1, 1]);
      expect(phones.facts.filter(({ type }) => type === 'call.ended')).toHaveLength(1);
    });

    it.each([
      ['at once where it is alone', 1, 11_000],
      ['after a minute where nobody tells', 2, 72_000],
    ])('ends a call %s', async (_, servers, withinMs) => {
      await using phones = await ClusterPhones.on(id);
      for (let count = 0; count < servers; count += 1) await phones.serve();
      void phones.simulator.call({ script: [WAIT, { type: 'pause', durationMs: 600_000 }] });
      await greeted(phones);
      phones.proxy.useAll([]);
      for (const nodeId of phones.cluster.nodes.keys()) phones.cluster.cut(nodeId);
      phones.simulator.legs[0]?.dropStream();
      await pause(systemClock, withinMs - 2000);
      expect(phones.ended).toEqual([]);
      await pause(systemClock, 2000);
      expect(phones.ended).toMatchObject([{ endReason: 'stream-lost' }]);
    });
  },
);

it('a server that loses the broker is still ready, also where nobody has asked before', async () => {
  await using phones = await ClusterPhones.three('carrier-a');
  await pause(systemClock, 5000);
  for (const nodeId of phones.cluster.nodes.keys()) phones.cluster.cut(nodeId, { reachesNodes: true });
  await pause(systemClock, 8000);
  for (const { port } of phones.phones) {
    const response = await fetch(`http://127.0.0.1:${port}/ready`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ready', broker: 'away' }]);
  }
});
