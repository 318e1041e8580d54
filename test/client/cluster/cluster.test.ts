// What a node does with facts that another one states.
import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/base/clock.js';
import { pause } from '../../../src/base/pause.js';
import { Cluster } from '../../../src/client/cluster/cluster.js';
import { memoryCluster } from '../../../src/cluster/open-coordinator.js';
import type { CallEvent } from '../../../src/contract/call-event.js';
import { EventBus } from '../../../src/events/bus.js';
import { ended, stamp, started } from '../../support/call-facts.js';
import { eventually } from '../../support/carrier-phone.js';
import { CLUSTER_SECRET } from '../../support/cluster-node.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

/** A node that has no calls. */
async function open(nodeId: string, clock: Clock = systemClock) {
  const logger = new RecordedLogger();
  const [bus, elsewhere] = [new EventBus(logger), new EventBus(logger)];
  const address = `http://${nodeId}.test`;
  const desk = { isLive: () => false, standing: () => undefined, learn() {}, holdsPlace: () => false };
  const forgotten: string[] = [];
  const cluster = new Cluster({
    options: {
      url: 'memory:',
      name: 'of facts',
      secret: CLUSTER_SECRET,
      address,
      state: clock !== systemClock,
    },
    limits: {},
    nodeId,
    desk,
    bus,
    elsewhere,
    clock,
    logger,
    store: () => ({ active: async () => [] }),
    forgotten: (callId: string) => forgotten.push(callId),
  } as never);
  await cluster.open();
  await cluster.join({ announceBroker() {} } as never);
  const heard: CallEvent[] = [];
  elsewhere.subscribe((fact) => heard.push(fact));
  return { bus, cluster, forgotten, heard, logger };
}

/** What its log says of the servers of its cluster. */
function told({ logger }: { logger: RecordedLogger }) {
  return logger.lines
    .filter(({ sentence }) => /^joined|^another server has (?:joined|left)/.test(sentence))
    .map(({ sentence, fields: { servers, address, because } }) =>
      [sentence, servers, address, because].filter((each) => each !== undefined),
    );
}

const LEFT = 'another server has left the cluster';

it('says how many servers there are: as it joins, and whenever one comes or leaves, which it names', async () => {
  const one = await open('node-1');
  const first = [
    'joined the cluster as its first server: if others run, they have another name, secret or broker',
    1,
  ];
  await eventually('the first', () => one.cluster.knowsOthers || undefined);
  expect(told(one)).toEqual([first]);
  const other = await open('node-2');
  try {
    await eventually('the second', () => other.cluster.knowsOthers || undefined);
    expect(told(other)).toEqual([['joined the cluster', 2]]);
    const second = ['another server has joined the cluster', 2, 'http://node-2.test'];
    await eventually('the news', () => (told(one).length === 2 ? true : undefined));
    expect(told(one)).toEqual([first, second]);
    await other.cluster.close();
    await eventually('its end', () => (told(one).length === 3 ? true : undefined));
    expect(told(one)).toEqual([first, second, [LEFT, 1, 'http://node-2.test', 'it has left in order']]);
  } finally {
    await Promise.all([one.cluster.close(), other.cluster.close()]);
  }
});

it.each([
  { reachesNodes: true, because: 'it has no lease at the broker any more, though it answers' },
  { reachesNodes: false, because: 'it has no lease at the broker any more, and does not answer' },
])('says of a server that leaves without a word: $because', async ({ reachesNodes, because }) => {
  const [one, other, third] = [await open('node-1'), await open('node-2'), await open('node-3')];
  try {
    for (const each of [one, other, third])
      await eventually('the others', () => each.cluster.knowsOthers || undefined);
    const shared = memoryCluster('of facts');
    const node = shared.nodes.get('node-2');
    if (node === undefined) throw new Error('The node has not joined.');
    shared.cut('node-2', { reachesNodes });
    // Those that see it see that its lease is over.
    const lease = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(node), 'leasedUntil');
    Object.defineProperty(node, 'leasedUntil', { configurable: true, value: 0 });
    for (const each of [one, third]) {
      await eventually('the news', () => told(each).find(([sentence]) => sentence === LEFT));
      expect(told(each).at(-1)).toEqual([LEFT, 2, 'http://node-2.test', because]);
      expect(each.logger.sentences('warn')).toContain(LEFT);
    }
    shared.heal('node-2');
    Object.defineProperty(node, 'leasedUntil', { ...lease });
    await eventually('its return', () => (told(one).at(-1)?.[0] === LEFT ? undefined : true));
    expect(told(one).at(-1)).toEqual(['another server has joined the cluster', 3, 'http://node-2.test']);
    await other.cluster.close();
    await eventually('its end', () => (told(one).at(-1)?.[0] === LEFT ? true : undefined));
    expect(told(one).at(-1)).toEqual([LEFT, 2, 'http://node-2.test', 'it has left in order']);
  } finally {
    await Promise.all([one, other, third].map(({ cluster }) => cluster.close()));
  }
});

it('a call that another node has deleted is forgotten here, and no other', async () => {
  const [one, other] = [await open('node-1'), await open('node-2')];
  try {
    const facts = [started(), ended(), { type: 'call.forgotten' } as const];
    for (const fact of stamp(facts, { callId: 'deleted' })) one.bus.publish(fact);
    for (const fact of stamp([started(), ended()], { callId: 'kept' })) one.bus.publish(fact);
    await eventually('the facts', () => (other.heard.length === 5 ? true : undefined));
    expect(other.forgotten).toEqual(['deleted']);
    expect(one.forgotten).toEqual([]);
  } finally {
    await Promise.all([one.cluster.close(), other.cluster.close()]);
  }
});

it('a node that ends has told all that it stated, also where the broker is slow', async () => {
  const [one, other] = [await open('node-1'), await open('node-2')];
  const node = memoryCluster('of facts').nodes.get('node-1');
  if (node === undefined) throw new Error('The node has not joined.');
  const append = node.append.bind(node);
  Object.defineProperties(node, {
    isThere: { value: false },
    isReached: { value: true },
    append: { value: (facts: CallEvent[]) => pause(systemClock, 50).then(() => append(facts)) },
  });
  try {
    for (const fact of stamp([started(), ended()], { callId: 'last' })) one.bus.publish(fact);
    await one.cluster.close();
    expect(other.heard.map(({ type }) => type)).toEqual(['call.started', 'call.ended']);
  } finally {
    await other.cluster.close();
  }
});

it('the states of all calls that nobody waits for are kept at the same moment, once a second', async () => {
  const clock = new FakeClock();
  await clock.advanceAsync(300);
  const { cluster } = await open('node-1', clock);
  try {
    const keptAt: number[] = [];
    const { states } = cluster;
    for (const _ of ['one call', 'another']) {
      void states.rounds?.next().over.then(() => keptAt.push(clock.now()));
      await clock.advanceAsync(100);
    }
    await clock.advanceAsync(499);
    expect(keptAt).toEqual([]);
    await clock.advanceAsync(1);
    expect(keptAt).toEqual([1000, 1000]);
  } finally {
    await cluster.close();
  }
});
