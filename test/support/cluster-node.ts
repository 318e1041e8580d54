// A node of a cluster on Redis that is nothing else: it takes messages of other nodes on a port of its own.
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.js';
import type { Logger } from '../../src/base/log.js';
import type { ClusterMeters } from '../../src/base/meters.js';
import { createNodeRoute } from '../../src/client/cluster/node-route.js';
import { type Coordinator, NODE_PATH } from '../../src/cluster/coordinator.js';
import { openRedisCoordinator, type RedisCoordinator } from '../../src/cluster/redis/redis-coordinator.js';
import { createHttp } from '../../src/server/http.js';
import { answerRoutes } from '../../src/server/routes.js';
import { RecordedLogger } from './recorded-logger.js';
import { soon } from './soon.js';

export const CLUSTER_SECRET = 'a secret of thirty-two bytes, or more';

export interface ClusterNodeOptions {
  readonly url: string;
  readonly name: string;
  readonly nodeId: string;
  readonly secret?: string;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly meters?: ClusterMeters;
}

/**
 * A busy machine may take longer over a question than a webhook has for it. The node says no more then that the broker is there, until its next
 * beat, and is asked again. What fails for any other reason fails.
 */
export async function answered<T>(node: Coordinator, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (node.isThere || !node.isReached) throw error;
    }
    await soon(() => expect(node.isThere).toBe(true));
  }
}

/** Closed with its port. */
export async function openClusterNode({
  secret = CLUSTER_SECRET,
  clock = systemClock,
  logger = new RecordedLogger(),
  ...options
}: ClusterNodeOptions): Promise<Coordinator> {
  let node: RedisCoordinator | undefined;
  const routes = new Map([[`POST ${NODE_PATH}`, createNodeRoute(() => node)]]);
  const others: RequestListener = (_, response) => void response.writeHead(404).end();
  const http = createHttp(answerRoutes({ routes, others, isDraining: () => false, logger }));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const opened = await openRedisCoordinator({ ...options, address, secret, clock, logger });
  node = opened;
  const close = opened.close.bind(opened);
  opened.close = async () => {
    await close();
    http.closeAllConnections();
    await new Promise<void>((resolve) => http.close(() => resolve()));
  };
  return opened;
}
