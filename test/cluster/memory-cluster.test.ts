import { describe, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { MemoryCluster } from '../../src/cluster/memory-cluster.js';
import { testCoordinator } from '../../src/testing/conformance/coordinator.js';

describe('MemoryCluster', () => {
  const open = async () => {
    const cluster = new MemoryCluster(systemClock);
    return {
      node: async (nodeId: string) => cluster.node({ nodeId, address: `http://${nodeId}.test` }),
      close: async () => {},
    };
  };
  for (const check of testCoordinator(open)) it(check.name, check.run);
});
