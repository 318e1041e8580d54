import { describe, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { testCoordinator } from '../../../src/testing/conformance/coordinator.js';
import type { Coordinator } from '../../../src/cluster/coordinator.js';
import { answered, openClusterNode } from '../../support/cluster-node.js';
import { redisClusterOf } from '../../support/redis-cluster.js';
import { describeOnRedis, redisOf } from '../../support/redis-server.js';

const HOUR_MS = 3_600_000;

/** However busy the machine is: of what it asks, these wait for 100 ms only. */
async function patient(opening: Promise<Coordinator>): Promise<Coordinator> {
  const node = await opening;
  for (const name of ['claim', 'ownerOf', 'take', 'taken'] as const) {
    const ask = node[name].bind(node) as (...args: unknown[]) => Promise<unknown>;
    Object.defineProperty(node, name, {
      value: (...args: unknown[]) => answered(node, () => ask(...args)),
    });
  }
  return node;
}

describeOnRedis('RedisCoordinator', (program) => {
  const redis = redisOf(program);
  const redisCluster = redisClusterOf(program);
  let clusters = 0;
  const opening = (broker: () => { readonly url: string }) => async () => {
    clusters += 1;
    const name = `cluster-${clusters}`;
    return {
      node: (nodeId: string) => patient(openClusterNode({ url: broker().url, name, nodeId })),
      close: async () => {},
    };
  };
  // Each node's clock is off by another hour.
  let opened = 0;
  const openApart = async () => {
    clusters += 1;
    const name = `cluster-${clusters}`;
    const node = (nodeId: string) => {
      opened += 1;
      const aheadMs = (opened % 2 === 0 ? 1 : -1) * HOUR_MS;
      const clock = { ...systemClock, wallNow: () => systemClock.wallNow() + aheadMs };
      return patient(openClusterNode({ url: redis().url, name, nodeId, clock }));
    };
    return { node, close: async () => {} };
  };
  describe('whose nodes have clocks that are wrong', () => {
    for (const check of testCoordinator(openApart)) it(check.name, check.run, 30_000);
  });

  describe('on a Redis Cluster', () => {
    for (const check of testCoordinator(opening(redisCluster))) it(check.name, check.run, 30_000);
  });

  for (const check of testCoordinator(opening(redis))) it(check.name, check.run, 30_000);
});
