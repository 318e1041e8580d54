// The door of a dashboard in a process of its own: page and API on a port. No calls, no streams.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import { createHealthRoute, createReadyRoute, type Readiness } from './health.js';
import { bind, createHttp } from './http.js';
import { createPage } from './page.js';
import type { DashboardMount } from './page-app.js';
import { answerRoutes } from './routes.js';

/** Requests that are being answered have so long, in milliseconds. */
const DRAIN_MS = 2000;

export interface DashboardServerOptions {
  readonly dashboard: DashboardMount;
  readonly logger: Logger;
  readonly clock: Clock;
  /** As in `Readiness`. @default it is of no cluster */
  readonly broker?: () => Required<Readiness>['broker'];
}

export interface DashboardServer {
  /** Resolves with the port when it listens. @throws ConfigError for a port or host that cannot be had. */
  listen(port: number, host: string): Promise<number>;
  /** Stops listening, ends the event streams, and cuts what is left after two seconds. Idempotent, never rejects. */
  close(): Promise<void>;
}

export function createDashboardServer({
  dashboard,
  logger,
  clock,
  broker,
}: DashboardServerOptions): DashboardServer {
  let closing: Promise<void> | undefined;
  const isDraining = () => closing !== undefined;
  const routes = new Map([
    ['GET /health', createHealthRoute('dashboard')],
    [
      'GET /ready',
      createReadyRoute(() => ({
        status: isDraining() ? 'draining' : 'ready',
        ...(broker && { broker: broker() }),
      })),
    ],
  ]);
  const others = createPage({ dashboard, trusts: () => false, logger });
  const http = createHttp(answerRoutes({ routes, others, isDraining, logger }));
  return {
    async listen(port, host) {
      await bind(http, port, host);
      return (http.address() as AddressInfo).port;
    },
    close() {
      closing ??= shutDown(http, { dashboard, clock });
      return closing;
    },
  };
}

async function shutDown(
  http: Server,
  { dashboard, clock }: Pick<DashboardServerOptions, 'dashboard' | 'clock'>,
): Promise<void> {
  const isClosed = new Promise<void>((resolve) => {
    http.close(() => resolve());
  });
  dashboard.close();
  http.closeIdleConnections();
  // The connections that it would cut keep the process up.
  const cut = clock.after(DRAIN_MS, () => http.closeAllConnections());
  await isClosed;
  cut.cancel();
}
