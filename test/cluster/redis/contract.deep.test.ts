import { it } from 'vitest';
import { testCoordinator } from '../../../src/testing/conformance/coordinator.js';
import { openClusterNode } from '../../support/cluster-node.js';
import { describeOnRedis, redisOf } from '../../support/redis-server.js';

describeOnRedis('RedisCoordinator', (program) => {
  const redis = redisOf(program);
  let clusters = 0;
  const open = async () => {
    clusters += 1;
    const name = `cluster-${clusters}`;
    return {
      node: (nodeId: string) => openClusterNode({ url: redis().url, name, nodeId }),
      close: async () => {},
    };
  };
  for (const check of testCoordinator(open)) it(check.name, check.run, 30_000);
});
