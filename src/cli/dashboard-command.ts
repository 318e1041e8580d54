// `offhook dashboard`: opens the standalone dashboard, says where, and closes it at the signal.
import { join } from 'node:path';
import { counted } from '../base/counted.js';
import { systemClock } from '../base/clock.js';
import { dashboardSocket } from '../base/dashboard-socket.js';
import { readEnv } from '../base/env.js';
import type { StoreError } from '../base/errors.js';
import { toLocalUrl } from '../base/host-name.js';
import { createLogger } from '../base/log.js';
import { openStandaloneDashboard, type StandaloneDashboard } from '../client/standalone-dashboard.js';
import { isLoopbackHost } from '../dashboard/host-name.js';
import { type BrokerPlace, complainOfBroker } from '../options/cluster.js';
import { checkDataDir } from '../options/storage.js';
import { complainOf } from '../options/token.js';
import { openStore } from '../stores/open-store.js';
import { type CliContext, UsageError } from './context.js';

export interface DashboardFlags {
  port: number;
  host: string;
  token?: string;
  /** True without a value. */
  cluster?: string | true;
  clusterName?: string;
  dataDir?: string;
  json?: boolean;
}

const TOKEN_VARIABLE = 'OFFHOOK_DASHBOARD_TOKEN';
const BROKER_SETTINGS = {
  url: { what: 'URL of the broker', flag: '--cluster', variable: 'OFFHOOK_CLUSTER_URL' },
  name: { what: 'name of the cluster', flag: '--cluster-name', variable: 'OFFHOOK_CLUSTER_NAME' },
  secret: { what: 'secret of its servers', flag: undefined, variable: 'OFFHOOK_CLUSTER_SECRET' },
} as const;

/** Runs until the signal comes. @throws UsageError, ConfigError when it cannot listen. */
export async function runDashboard(flags: DashboardFlags, context: CliContext): Promise<number> {
  const { port, host } = flags;
  const token = checkToken(flags.token ?? readEnv(TOKEN_VARIABLE));
  const cluster = readBroker(flags);
  // That a broker answers again is no warning.
  const logger = createLogger({ level: cluster === undefined ? 'warn' : 'info' });
  const dataDir = checkDataDir(flags.dataDir);
  const folder = cluster && dataDir !== false ? join(dataDir, `cluster-${cluster.name}`) : dataDir;
  const location = { dataDir: folder, role: 'dashboard' } as const;
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
    cluster,
    store: await openStore(location, { logger, clock: systemClock, onMemoryOnly }),
    logger,
  });
  const { socketPath, socketTrouble } = dashboard;
  const url = toLocalUrl(host, dashboard.port);
  if (socketTrouble !== null) {
    warnings.push(`Servers do not find this dashboard by themselves. ${socketTrouble} ${describeWay(token)}`);
  }
  if (cluster !== undefined && dashboard.cluster !== undefined)
    warnings.push(...describeCluster(cluster, dashboard.cluster));
  if (token === undefined) warnings.push(describeOpenness(host, cluster ? undefined : socketPath));
  if (flags.json === true) {
    context.out(
      JSON.stringify({
        url: `${url}/`,
        socket: socketPath,
        takesNetwork: token !== undefined && cluster === undefined,
        ...(cluster && { cluster: cluster.name, servers: dashboard.cluster?.nodeCount }),
        warnings,
      }),
    );
  } else {
    context.out(`dashboard   ${url}/`);
    if (socketPath !== null)
      context.out('calls       servers of yours on this machine send them by themselves');
    if (cluster !== undefined)
      context.out(`cluster     ${cluster.name}, ${counted(dashboard.cluster?.nodeCount ?? 0, 'server')}`);
    else if (token !== undefined) {
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

/** Undefined without `--cluster`. @throws UsageError */
function readBroker({ cluster, clusterName }: DashboardFlags): BrokerPlace | undefined {
  if (cluster === undefined) {
    if (clusterName === undefined) return undefined;
    throw new UsageError(
      '--cluster-name goes with --cluster: give that the URL of the broker, or no value where OFFHOOK_CLUSTER_URL has it.',
    );
  }
  if (cluster !== true && URL.canParse(cluster) && new URL(cluster).password !== '')
    throw new UsageError(
      'Other users see a command line: put the URL with its password into OFFHOOK_CLUSTER_URL, and give --cluster without a value.',
    );
  const given = { url: cluster === true ? undefined : cluster, name: clusterName, secret: undefined };
  const broker = { url: '', name: '', secret: '' };
  for (const setting of ['url', 'name', 'secret'] as const) {
    const { what, variable } = BROKER_SETTINGS[setting];
    const value = given[setting] ?? readEnv(variable);
    if (value === undefined) throw new UsageError(`--cluster needs the ${what}: ${nameOf(setting)}.`);
    broker[setting] = value;
  }
  const [wrong, complaint] = complainOfBroker(broker, 'Use that of the servers.') ?? [];
  if (wrong !== undefined) throw new UsageError(`${nameOf(wrong)} ${complaint}`);
  return broker;
}

function nameOf(setting: keyof BrokerPlace): string {
  const { flag, variable } = BROKER_SETTINGS[setting];
  return flag === undefined ? variable : `${flag} (or ${variable})`;
}

function describeCluster(
  { name }: BrokerPlace,
  { isBrokerThere, nodeCount }: NonNullable<StandaloneDashboard['cluster']>,
): string[] {
  if (!isBrokerThere)
    return ['The broker does not answer. The page shows what is kept here, and goes on once it does.'];
  if (nodeCount > 0) return [];
  return [`No server of the cluster ${name} is there. If one runs, its cluster has another name or secret.`];
}

/** How servers come to a dashboard that has no socket. */
function describeWay(token: string | undefined): string {
  const missing = token === undefined ? `give this one a token (${TOKEN_VARIABLE}) and ` : '';
  return `Then start this one again; or ${missing}name it to your servers with dashboardUrl and dashboardIngestToken.`;
}

/** `socketPath`: undefined where no server sends calls. */
function describeOpenness(host: string, socketPath: string | null | undefined): string {
  const readers = isLoopbackHost(host) ? 'every user of this machine' : 'everybody who reaches this address';
  const taken =
    socketPath === undefined
      ? ''
      : socketPath === null
        ? ' No calls are taken: there is neither a socket nor a token.'
        : ` Calls are taken from your own socket only, ${socketPath}.`;
  return `Page and API are open to ${readers}: set ${TOKEN_VARIABLE} or --token.${taken}`;
}

/** Signals do not keep a process alive, the doors of the dashboard do. */
function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
