// A dashboard in a process of its own: composes store, page, doors and what it hears from, servers that send or a cluster, and closes them in order.
import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../base/clock.js';
import type { SocketPlace } from '../base/dashboard-socket.js';
import { NotFoundError, OffhookError } from '../base/errors.js';
import { describeError, type Logger } from '../base/log.js';
import type { CallEvent } from '../contract/call-event.js';
import { createDashboard, type Dashboard } from '../dashboard/index.js';
import { Ingest } from '../dashboard/ingest.js';
import { createIngestEndpoint } from '../dashboard/ingest-endpoint.js';
import { Senders } from '../dashboard/ingest-senders.js';
import { LostCallWatch } from '../dashboard/lost-call-watch.js';
import { SupposingStore } from '../dashboard/lost-calls.js';
import { EventBus } from '../events/bus.js';
import type { BrokerPlace } from '../options/cluster.js';
import { createDashboardServer } from '../server/dashboard-server.js';
import { createHttp } from '../server/http.js';
import { openPrivateSocket, type PrivateSocket } from '../server/private-socket.js';
import { createIngestListener } from '../server/ingest-listener.js';
import type { CallStore } from '../stores/call-store.js';
import type { ClusterObserver, ClusterObserverParts } from './cluster/cluster-observer.js';
import { createForget, type Forget } from './forget.js';

const SOCKET_ADVICE = {
  inUse: 'Another dashboard of this user listens on {path}: stop it first',
  elsewhere: 'set XDG_RUNTIME_DIR to a short path of a folder that you can write to and that allows sockets',
};

export interface StandaloneDashboardOptions {
  readonly port: number;
  readonly host: string;
  /** Protects page, API and ingest over the network. Without it nothing is taken over the network. */
  readonly token: string | undefined;
  /** Where servers of the same user find it. */
  readonly socket: SocketPlace;
  /** The cluster that it shows instead of what servers send. @default none */
  readonly cluster?: BrokerPlace | undefined;
  /** Takes the facts, and is closed with the dashboard. Must not take calls that are up for lost when it is opened. */
  readonly store: CallStore;
  readonly logger: Logger;
  readonly clock?: Clock;
}

export interface StandaloneDashboard {
  readonly port: number;
  /** The socket that servers find; null where there is none, and `socketTrouble` says why. */
  readonly socketPath: string | null;
  readonly socketTrouble: string | null;
  /** What it has found of its cluster; undefined without one. */
  readonly cluster: Pick<ClusterObserver, 'isBrokerThere' | 'nodeCount'> | undefined;
  /** Idempotent, never rejects. */
  close(): Promise<void>;
}

/** Resolves when it listens. @throws ConfigError for a port, host or broker that cannot be had; nothing is left open then. */
export async function openStandaloneDashboard(
  options: StandaloneDashboardOptions,
): Promise<StandaloneDashboard> {
  const { host, token, cluster, store, logger, clock = systemClock } = options;
  const bus = new EventBus(logger, clock);
  const senders = new Senders(clock);
  const onCorrection = () => dashboard.refresh();
  const watch = new LostCallWatch({ store, bus, senders, clock, logger, onCorrection });
  const ingest = createIngestEndpoint(new Ingest({ store, bus, senders, watch }), logger);
  const nodeId = randomBytes(4).toString('hex');
  const supposing = new SupposingStore(store, senders);
  const closeStore = async () => {
    watch.close();
    await store.close().catch((error: unknown) => {
      logger.error(describeError(error), 'store not closed cleanly');
    });
  };
  // Stored before pages hear of it.
  const heard = new EventBus(logger, clock);
  heard.subscribeDurable((fact) => store.append(fact));
  heard.subscribe((fact) => {
    watch.learned(fact.callId);
    bus.publish(fact);
  });
  const observing = cluster && {
    broker: cluster,
    nodeId,
    store,
    clock,
    logger,
    hear: (fact: CallEvent) => heard.publish(fact),
    alive: (id: string) => {
      senders.hear(id);
      watch.heard(id);
    },
    brokerIs: (isThere: boolean) => dashboard.announceBroker(isThere),
  };
  const observer = observing && (await openObserver(observing, closeStore));
  const forget = createForget({ store, bus, nodeId, clock, logger });
  const dashboard: Dashboard = createDashboard({
    store: supposing,
    bus,
    controls: observer?.controls ?? null,
    forget: observer === undefined ? forget : forgetAtNodes(observer, forget),
    token,
    ...(observer === undefined
      ? { ingest }
      : {
          metrics: () => observer.metrics(),
          serverMetrics: () => observer.nodeMetrics(),
          recordings: observer.recordings,
        }),
    allowedHosts: [host],
    logger,
    clock,
  });
  const server = createDashboardServer({
    dashboard,
    logger,
    clock,
    ...(observer && { broker: () => (observer.isBrokerThere ? 'there' : 'away') }),
  });
  let socket: PrivateSocket | undefined;
  let closing: Promise<void> | undefined;
  const shutDown = async () => {
    await Promise.all([server.close(), socket?.close(), observer?.close()]);
    await heard.settled();
    await closeStore();
  };
  const close = () => {
    closing ??= shutDown();
    return closing;
  };
  try {
    // What is shown first is whole.
    await observer?.start();
    const port = await server.listen(options.port, host);
    let socketTrouble: string | null = null;
    if (observer !== undefined) return { port, socketPath: null, socketTrouble, cluster: observer, close };
    try {
      socket = await openPrivateSocket(
        options.socket,
        createHttp(createIngestListener(ingest)),
        SOCKET_ADVICE,
      );
    } catch (error) {
      // A dashboard that servers do not find by themselves is still one that they can be told of.
      if (!OffhookError.isInstance(error)) throw error;
      socketTrouble = error.message;
    }
    return { port, socketPath: socket?.path ?? null, socketTrouble, cluster: undefined, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openObserver(
  parts: ClusterObserverParts,
  giveUp: () => Promise<void>,
): Promise<ClusterObserver> {
  try {
    const { ClusterObserver } = await import('./cluster/cluster-observer.js');
    return await ClusterObserver.open(parts);
  } catch (error) {
    await giveUp();
    throw error;
  }
}

/** A call that no node has any more is deleted here alone. */
function forgetAtNodes(observer: ClusterObserver, forgetHere: Forget): Forget {
  return async (callId) => {
    try {
      return await observer.forget(callId);
    } catch (error) {
      if (error instanceof NotFoundError) return forgetHere(callId);
      throw error;
    }
  };
}
