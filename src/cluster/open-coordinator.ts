// Chooses the coordinator by the URL of the broker.
import { type Clock, systemClock } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import type { ClusterMeters } from '../base/meters.js';
import type { Coordinator } from './coordinator.js';
import { MemoryCluster } from './memory-cluster.js';

export interface CoordinatorOptions {
  readonly nodeId: string;
  readonly url: string;
  /** Of the cluster. */
  readonly name: string;
  readonly secret: string;
  /** Of this node. */
  readonly address: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meters?: ClusterMeters | undefined;
}

const inProcess = new Map<string, MemoryCluster>();

/** The cluster of that name whose nodes are in this process: made for the first one who asks, gone with the last node. */
export function memoryCluster(name: string): MemoryCluster {
  const cluster = inProcess.get(name) ?? new MemoryCluster(systemClock);
  inProcess.set(name, cluster);
  return cluster;
}

/** One that has not joined. @throws ConfigError where the client of the broker is not installed */
export async function openCoordinator(options: CoordinatorOptions): Promise<Coordinator> {
  const { nodeId, address, name, url } = options;
  if (new URL(url).protocol !== 'memory:') {
    const { openRedisCoordinator } = await import('./redis/redis-coordinator.js');
    return openRedisCoordinator(options);
  }
  const cluster = memoryCluster(name);
  const node = cluster.node({ nodeId, address });
  const close = node.close.bind(node);
  node.close = async () => {
    await close();
    if (cluster.nodes.size + cluster.observers.size === 0) inProcess.delete(name);
  };
  return node;
}
