import { expect, it } from 'vitest';
import { useBroker } from '../../../src/testing/demo/demo-broker.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { describeOnRedis } from '../../support/redis-server.js';

describeOnRedis('the broker of a demo', (program) => {
  it('that is a Redis Cluster keeps nothing of the demo at any of its nodes, and what is another’s', async () => {
    await using cluster = await RedisCluster.start(program, { masters: 2 });
    const broker = await useBroker(cluster.url, 'demo');

    for (const name of ['demo', 'demo-2'])
      for (let count = 0; count < 20; count += 1) {
        const key = `offhook:${name}:{${count}}:log`;
        const { master } = await cluster.shardOf(key);
        await master.ask('SET', key, 'x');
      }
    const keysOf = async (name: string) => {
      const all = await Promise.all(cluster.nodes.map((node) => node.ask('KEYS', `offhook:${name}:*`)));
      return all.map((keys) => (keys as string[]).length);
    };
    for (const count of await keysOf('demo')) expect(count).toBeGreaterThan(0);
    const others = await keysOf('demo-2');
    await broker.close();
    expect([await keysOf('demo'), await keysOf('demo-2')]).toEqual([[0, 0], others]);
  }, 60_000);
});
