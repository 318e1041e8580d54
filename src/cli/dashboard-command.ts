// `offhook dashboard`: opens the standalone dashboard, says where, and closes it at the signal.
import { isIPv6 } from 'node:net';
import { systemClock } from '../base/clock.js';
import { dashboardSocket } from '../base/dashboard-socket.js';
import { readEnv } from '../base/env.js';
import { createLogger } from '../base/log.js';
import { openStandaloneDashboard } from '../client/standalone-dashboard.js';
import { isLoopbackHost } from '../dashboard/host-name.js';
import { checkDataDir } from '../options/storage.js';
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
  const dashboard = await openStandaloneDashboard({
    port,
    host,
    token,
    socket: dashboardSocket(),
    store: await openStore(location, { logger, clock: systemClock }),
    logger,
  });
  const { socketPath, socketTrouble } = dashboard;
  const url = `http://${localHost(host)}:${dashboard.port}`;
  const warnings = [
    ...(socketTrouble === null ? [] : [`Servers do not find this dashboard by themselves. ${socketTrouble}`]),
    ...(token === undefined ? [describeOpenness(host)] : []),
  ];
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
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return token;
  throw new UsageError(
    `--token and ${TOKEN_VARIABLE} are printable ASCII without blanks, as a header carries it.`,
  );
}

function describeOpenness(host: string): string {
  const readers = isLoopbackHost(host) ? 'every user of this machine' : 'everybody who reaches this address';
  return `Page and API are open to ${readers}: set ${TOKEN_VARIABLE} or --token. Calls are taken from your own socket only.`;
}

function localHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIPv6(host) ? `[${host}]` : host;
}

/** Signals do not keep a process alive, the doors of the dashboard do. */
function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
