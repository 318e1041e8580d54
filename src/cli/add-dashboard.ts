// The options of `offhook dashboard`.
import type { Command } from 'commander';
import type { CliContext } from './context.js';
import type { DashboardFlags } from './dashboard-command.js';

export interface DashboardParts {
  readonly context: CliContext;
  readonly parsePort: (text: string) => number;
  finish(code: number): void;
}

export function addDashboard(program: Command, { context, parsePort, finish }: DashboardParts): void {
  program
    .command('dashboard')
    .description('Show the calls of all your servers, in a process of its own.')
    .option('--port <port>', 'port to listen on', parsePort, 9000)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--token <token>',
      'protects page and API, and lets servers elsewhere send calls; other users see a command line: better set OFFHOOK_DASHBOARD_TOKEN',
    )
    .option(
      '--cluster [url]',
      'show the calls of a cluster: the URL of its broker, without the password; none: OFFHOOK_CLUSTER_URL',
    )
    .option('--cluster-name <name>', 'its name (default: OFFHOOK_CLUSTER_NAME)')
    .option('--data-dir <folder>', 'folder where calls are kept', '.offhook')
    .option('--json', 'print where it listens as JSON, in one line')
    .addHelpText(
      'after',
      `
Servers of the same user on this machine find the dashboard by themselves.
Others are told with dashboardUrl and dashboardIngestToken.

With --cluster, the dashboard reads the broker and asks the servers instead: set
OFFHOOK_CLUSTER_SECRET, too. It takes no calls.

Exit codes: 0 stopped by a signal, 1 it could not listen, 2 usage.`,
    )
    .action(async (flags: DashboardFlags) => {
      const { runDashboard } = await import('./dashboard-command.js');
      finish(await runDashboard(flags, context));
    });
}
