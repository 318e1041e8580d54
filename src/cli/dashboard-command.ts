// `offhook dashboard`: opens the standalone dashboard, says where, and closes it at the signal.
import { systemClock } from '../base/clock.js';
import { dashboardSocket } from '../base/dashboard-socket.js';
import { readEnv } from '../base/env.js';
import type { StoreError } from '../base/errors.js';
import { toLocalUrl } from '../base/host-name.js';
import { createLogger } from '../base/log.js';
import { openStandaloneDashboard } from '../client/standalone-dashboard.js';
import { isLoopbackHost } from '../dashboard/host-name.js';
import { checkDataDir } from '../options/storage.js';
import { complainOf } from '../options/token.js';
import { openStore } from '../stores/open-store.js';
import { type CliContext, UsageError } from './context.js';

export interface DashboardFlags {
  port: number;
  host: string;
  token?: string;
  dataDir?: string;
  json?: boolean;
}

const TOKEN_VARIABLE = 'OFFHOOK_DASHBOARD_TOKEN';

/** Runs until the signal comes. @throws UsageError, ConfigError when it cannot listen. */
export async function runDashboard(flags: DashboardFlags, context: CliContext): Promise<number> {
  const { port, host } = flags;
  const token = checkToken(flags.token ?? readEnv(TOKEN_VARIABLE));
  const logger = createLogger({ level: 'warn' });
  const location = { dataDir: checkDataDir(flags.dataDir), role: 'dashboard' } as const;
  const warnings: string[] = [];
  const onMemoryOnly = ({ message }: StoreError) => {
    warnings.push(
      `Calls are kept in memory only, and lost at exit. Choose another folder with --data-dir. ${message}`,
    );
  };
  const dashboard = await openStandaloneDashboard({
    port,
    host,
    token,
    socket: dashboardSocket(),
    store: await openStore(location, { logger, clock: systemClock, onMemoryOnly }),
    logger,
  });
  const { socketPath, socketTrouble } = dashboard;
  const url = toLocalUrl(host, dashboard.port);
  if (socketTrouble !== null) {
    warnings.push(`Servers do not find this dashboard by themselves. ${socketTrouble} ${describeWay(token)}`);
  }
  if (token === undefined) warnings.push(describeOpenness(host, socketPath));
  if (flags.json === true) {
    context.out(
      JSON.stringify({ url: `${url}/`, socket: socketPath, takesNetwork: token !== undefined, warnings }),
    );
  } else {
    context.out(`dashboard   ${url}/`);
    if (socketPath !== null)
      context.out('calls       servers of yours on this machine send them by themselves');
    if (token !== undefined) {
      context.out(
        `elsewhere   dashboardUrl with this token as dashboardIngestToken, over https unless on this machine`,
      );
    }
    for (const warning of warnings) context.out(`note        ${warning}`);
    context.out('Ctrl-C stops the dashboard.');
  }
  await aborted(context.signal);
  await dashboard.close();
  if (flags.json !== true) context.out('Stopped.');
  return 0;
}

function checkToken(token: string | undefined): string | undefined {
  const complaint = token === undefined ? undefined : complainOf(token);
  if (complaint === undefined) return token;
  throw new UsageError(`--token (or ${TOKEN_VARIABLE}) ${complaint}`);
}

/** How servers come to a dashboard that has no socket. */
function describeWay(token: string | undefined): string {
  const missing = token === undefined ? `give this one a token (${TOKEN_VARIABLE}) and ` : '';
  return `Then start this one again; or ${missing}name it to your servers with dashboardUrl and dashboardIngestToken.`;
}

function describeOpenness(host: string, socketPath: string | null): string {
  const readers = isLoopbackHost(host) ? 'every user of this machine' : 'everybody who reaches this address';
  const taken =
    socketPath === null
      ? 'No calls are taken: there is neither a socket nor a token.'
      : `Calls are taken from your own socket only, ${socketPath}.`;
  return `Page and API are open to ${readers}: set ${TOKEN_VARIABLE} or --token. ${taken}`;
}

/** Signals do not keep a process alive, the doors of the dashboard do. */
function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
