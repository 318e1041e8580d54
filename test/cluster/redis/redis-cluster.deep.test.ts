// A Redis Cluster as the broker: the keys of a cluster are at one of its nodes, which is found, and found again where another one takes its place.
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CallOwner, Coordinator } from '../../../src/cluster/coordinator.js';
import type { CallEvent } from '../../../src/contract/call-event.js';
import { factOf, idsOf } from '../../../src/testing/conformance/coordinator.js';
import { answered, openClusterNode } from '../../support/cluster-node.js';
import { freePort } from '../../support/free-port.js';
import { RecordedLogger } from '../../support/recorded-logger.js';
import { type Placed, redisClusterOf } from '../../support/redis-cluster.js';
import { describeOnRedis, type RedisServer } from '../../support/redis-server.js';
import { soon } from '../../support/soon.js';

const AWAY = { code: 'CLUSTER_FAILED' };
const POOL = { name: '203.0.113.7', limit: 1 };
const LONG_MS = 60_000;
const PAGE = readFileSync(new URL('../../../docs/cluster.md', import.meta.url), 'utf8');
const [, USER = '', RIGHTS = ''] = /^user (\S+) on >password (.+)$/m.exec(PAGE) ?? [];
const [, FURTHER_RIGHT = ''] = /`(\+cluster\S+)`/.exec(PAGE) ?? [];

describeOnRedis('a Redis Cluster', (program) => {
  const cluster = redisClusterOf(program, { hasReplica: true });
  let clusters = 0;
  let opened: Coordinator[] = [];
  /** Nodes that were told that the broker had lost what it had. */
  let emptied: string[] = [];
  let shard: Placed;

  beforeEach(async () => {
    await cluster().whole();
    clusters += 1;
    shard = await cluster().place(`phones-${clusters}`);
  }, LONG_MS);
  afterEach(async () => {
    for (const node of cluster().nodes) node.thaw();
    await Promise.all(opened.map((node) => node.close()));
    [opened, emptied] = [[], []];
  });

  async function join(nodeId: string, url: string, logger = new RecordedLogger()): Promise<Coordinator> {
    const node = await openClusterNode({ url, name: shard.name, nodeId, logger });
    opened.push(node);
    await node.join({
      answer: async () => 'here',
      outranked() {},
      emptied: () => void emptied.push(nodeId),
    });
    return node;
  }

  /** Two nodes that know each other, a call that the first one has, and a fact of it that the second one has heard. */
  async function working(urls: readonly [string, string] = [shard.master.url, shard.other.url]) {
    const [one, two] = [await join('a', urls[0]), await join('b', urls[1])];
    const heard: number[] = [];
    let missed = 0;
    two.tail(
      ({ seq }) => heard.push(seq),
      () => {
        missed += 1;
      },
    );
    await answered(one, () => one.claim('call', 1));
    await one.append([factOf(1)]);
    await soon(() => expect(heard).toEqual([1]));
    await soon(() => expect([idsOf(one), idsOf(two)]).toEqual(Array(2).fill(['a', 'b'])));
    await cluster().whole();
    return { one, two, heard, missed: () => missed };
  }

  const has = (node: Coordinator, callId: string, owner: CallOwner) =>
    soon(async () => expect(await node.ownerOf(callId)).toEqual(owner));

  /** A node that was away for a moment has lost nothing, and hears what comes. */
  async function goesOn({ one, two, heard, missed }: Awaited<ReturnType<typeof working>>): Promise<void> {
    await soon(async () => expect(await one.append([factOf(2)])).toBe(true));
    await soon(() => expect(heard).toEqual([1, 2]));
    await has(two, 'call', { nodeId: 'a', term: 1 });
    await soon(() => expect([idsOf(one), idsOf(two)]).toEqual(Array(2).fill(['a', 'b'])));
    expect([emptied, missed()]).toEqual([[], 1]);
  }

  it('is found by way of any node, and has everything of a cluster at one', async () => {
    const { master, replica, other } = shard;
    const [node, ...others] = await Promise.all([
      join('a', master.url),
      join('b', replica.url),
      join('c', other.url),
    ]);
    for (const each of [node, ...others]) await soon(() => expect(idsOf(each)).toEqual(['a', 'b', 'c']));
    await answered(node, () => node.claim('call', 1));
    await answered(node, () => node.take(POOL, 'place', LONG_MS));
    await node.keepState('call', 1, 'a state');
    await node.append([factOf(1)]);
    for (const each of others) {
      const heard: CallEvent[] = [];
      each.tail((fact) => heard.push(fact));
      await soon(() => expect(heard).toEqual([factOf(1)]));
    }
    const masters = cluster().nodes.filter((each) => each !== replica);
    const keys = await Promise.all(masters.map((each) => each.ask('KEYS', `offhook:${shard.name}:*`)));
    const counts = keys.map((all) => (all as string[]).length);
    expect(counts).toEqual(masters.map((each) => (each === master ? 7 : 0)));
  });

  it('whose replica takes over by command is away for a moment, and no node is troubled', async () => {
    const work = await working();
    await shard.replica.ask('CLUSTER', 'FAILOVER');
    const isOver = async () => expect((await cluster().shardOf(shard.key)).master).toBe(shard.replica);
    await soon(isOver);
    await goesOn(work);
  });

  it('whose master dies goes on with its replica, also for a node whose cluster.url names the dead one', async () => {
    const work = await working([shard.other.url, shard.master.url]);
    await shard.master.kill();
    try {
      await soon(() => expect([work.one.isReached, work.two.isReached]).toEqual([false, false]));
      await cluster().failOver(shard);
      await goesOn(work);
    } finally {
      await shard.master.start();
    }
  });

  it('whose master stands still goes on with its replica, and lets nobody wait for longer than a webhook may', async () => {
    const work = await working();
    shard.master.freeze();
    await expect(work.one.ownerOf('call')).rejects.toMatchObject(AWAY);
    expect(work.one.isThere).toBe(false);
    await cluster().failOver(shard);
    await goesOn(work);
  });

  it('whose master dies is told again by each node what its replica lacks', async () => {
    const { one, two, heard } = await working();
    shard.replica.freeze();
    await shard.master.ask('CLIENT', 'KILL', 'TYPE', 'replica');
    await answered(one, () => one.claim('late', 1));
    await one.append([factOf(2)]);
    await soon(() => expect(heard).toEqual([1, 2]));
    await shard.master.kill();
    shard.replica.thaw();
    try {
      await cluster().failOver(shard);
      await soon(() => expect(emptied).toEqual(['a']));
      await has(two, 'late', { nodeId: 'a', term: 1 });
      await expect(one.append([factOf(3)])).resolves.toBe(false);
      await expect(one.append([factOf(2), factOf(3)])).resolves.toBe(true);
      // From the beginning, since its place in the log is another one's now.
      await soon(() => expect(heard).toEqual([1, 2, 1, 2, 3]));
    } finally {
      await shard.master.start();
    }
  });

  it('that moves its keys to another node knows nothing of them meanwhile, and everything after that', async () => {
    const work = await working();
    const { master, other } = shard;
    const slot = String(await shard.master.ask('CLUSTER', 'KEYSLOT', shard.key));
    const [from, to] = [
      String(await master.ask('CLUSTER', 'MYID')),
      String(await other.ask('CLUSTER', 'MYID')),
    ];
    await other.ask('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from);
    await master.ask('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to);
    const keys = (await master.ask('CLUSTER', 'GETKEYSINSLOT', slot, '100')) as string[];
    await master.ask('MIGRATE', '127.0.0.1', String(other.port), '', '0', '5000', 'KEYS', ...keys);
    for (const callId of ['call', 'nobody’s'])
      await expect(work.two.ownerOf(callId)).rejects.toMatchObject(AWAY);
    await expect(work.one.append([factOf(2)])).rejects.toMatchObject(AWAY);
    for (const node of [other, master]) await node.ask('CLUSTER', 'SETSLOT', slot, 'NODE', to);
    await goesOn(work);
    expect((await cluster().shardOf(shard.key)).master).toBe(other);
  });

  it('needs one more right of a user than a single Redis, and one that lacks it is told at the start', async () => {
    const rights = RIGHTS.replace('offhook:phones:', `offhook:${shard.name}:`).split(' ');
    for (const node of cluster().nodes) {
      await node.ask('ACL', 'SETUSER', USER, 'on', '>password', ...rights, FURTHER_RIGHT);
      await node.ask('ACL', 'SETUSER', `${USER}-2`, 'on', '>password', ...rights);
    }
    const urlOf = (node: RedisServer, name: string) =>
      node.url.replace('redis://', `redis://${name}:password@`);
    const one = await join('a', urlOf(shard.other, USER));
    expect(await answered(one, () => one.claim('call', 1))).toEqual({ nodeId: 'a', term: 1 });
    const heard: CallEvent[] = [];
    one.tail((fact) => heard.push(fact));
    await one.append([{ ...factOf(1), nodeId: 'another' }]);
    await soon(() => expect(heard).toHaveLength(1));
    for (const from of [shard.master, shard.other])
      await expect(join('b', urlOf(from, `${USER}-2`))).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(/see the ACL in docs\/cluster\.md.*NOPERM.*cluster/i),
      });
  });

  it('where nobody has the keys is away, says so, and is found once somebody has', async () => {
    const slot = String(await shard.master.ask('CLUSTER', 'KEYSLOT', shard.key));
    await shard.master.ask('CLUSTER', 'DELSLOTS', slot);
    const logger = new RecordedLogger();
    const node = await join('a', shard.other.url, logger);
    expect([node.isThere, idsOf(node)]).toEqual([false, ['a']]);
    expect(logger.lines.find(({ level }) => level === 'warn')?.fields).toMatchObject({
      code: 'CLUSTER_FAILED',
      message: 'The broker is a Redis Cluster, and no node of it serves the keys of this cluster now.',
      because: expect.stringMatching(/^CLUSTERDOWN/),
    });
    await shard.master.ask('CLUSTER', 'ADDSLOTS', slot);
    await soon(() => expect(node.isThere).toBe(true));
    await answered(node, () => node.claim('call', 1));
  });

  // The last one: it would take the others some seconds to forget that address.
  it('whose node with the keys is not reached where it announces itself is away, and the log names that node', async () => {
    const { master, other } = shard;
    const port = String(await freePort());
    await master.ask('CONFIG', 'SET', 'cluster-announce-port', port);
    const isAnnounced = async () =>
      expect(String(await other.ask('CLUSTER', 'NODES'))).toContain(`:${port}@`);
    await soon(isAnnounced);
    const logger = new RecordedLogger();
    const node = await join('a', other.url, logger);
    expect(node.isThere).toBe(false);
    expect(logger.lines.find(({ level }) => level === 'warn')?.fields).toMatchObject({
      code: 'CLUSTER_FAILED',
      message: `The node 127.0.0.1:${port} of the Redis Cluster in cluster.url does not answer.`,
    });
  });
});
