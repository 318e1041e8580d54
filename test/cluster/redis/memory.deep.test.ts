// A broker that is out of memory as a node joins.
import { afterEach, expect, it } from 'vitest';
import type { Coordinator } from '../../../src/cluster/coordinator.js';
import { idsOf } from '../../../src/testing/conformance/coordinator.js';
import { openClusterNode } from '../../support/cluster-node.js';
import { RecordedLogger } from '../../support/recorded-logger.js';
import { describeOnRedis, eachRedis } from '../../support/redis-server.js';
import { soon } from '../../support/soon.js';

describeOnRedis('a broker that is out of memory', (program) => {
  const broker = eachRedis(program);
  const opened: Coordinator[] = [];
  afterEach(async () => void (await Promise.all(opened.splice(0).map((node) => node.close()))));

  async function join(nodeId: string, logger: RecordedLogger): Promise<Coordinator> {
    const node = await openClusterNode({ url: broker.redis.url, name: 'phones', nodeId, logger });
    opened.push(node);
    await node.join({ answer: async () => '', outranked() {}, emptied() {} });
    return node;
  }

  it('is named as that by a node that joins, which starts, and knows the others once there is room', async () => {
    const { redis } = broker;
    const first = await join('a', new RecordedLogger());
    await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    await redis.ask('CONFIG', 'SET', 'maxmemory', '1');
    const logger = new RecordedLogger();
    const node = await join('b', logger);
    expect([node.isThere, idsOf(node)]).toEqual([false, ['b']]);
    const [warning, ...more] = logger.lines.filter(({ level }) => level === 'warn');
    expect(warning?.fields).toMatchObject({
      code: 'CLUSTER_FAILED',
      message: 'The broker is out of memory and takes nothing new: raise its maxmemory.',
    });
    expect(more).toEqual([]);
    await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
    await soon(() => expect(node.isThere).toBe(true));
    await soon(() =>
      expect([idsOf(first), idsOf(node)]).toEqual([
        ['a', 'b'],
        ['a', 'b'],
      ]),
    );
    expect(logger.sentences('info')).toEqual(['the broker of the cluster answers again']);
  });
});
