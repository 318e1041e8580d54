// The options of `offhook status` and `offhook drain`.
import type { Command } from 'commander';
import type { CliContext } from './context.js';
import type { DrainFlags } from './drain-command.js';
import type { StatusFlags } from './status-command.js';

/** As `phone.drain()` has it. */
const LONGEST_DRAIN_SECONDS = 86_400;
const DEFAULT_DRAIN_SECONDS = 30;
/** Of any system. */
const HIGHEST_PID = 2 ** 32 - 1;
const DATA_DIR = ['--data-dir <folder>', 'dataDir of the servers', '.offhook'] as const;

export interface ServersParts {
  readonly context: CliContext;
  readonly wholeNumber: (range: { from: number; to: number }) => (text: string) => number;
  finish(code: number): void;
}

export function addServers(program: Command, { context, wholeNumber, finish }: ServersParts): void {
  program
    .command('status')
    .description('Show the servers that run on a data folder: port, state and calls that are up.')
    .option(...DATA_DIR)
    .option('--json', 'print them as JSON, in one line')
    .addHelpText(
      'after',
      `
serving takes new calls, draining only finishes those that are up, handing-over
gives them to the server that has taken its place.

Run it as the user of the server. Exit codes: 0 one runs, 1 none answers,
2 usage.`,
    )
    .action(async (flags: StatusFlags) => {
      const { runStatus } = await import('./status-command.js');
      finish(await runStatus(flags, context));
    });
  program
    .command('drain')
    .description('Stop a server once its calls are over. It takes no new ones.')
    .option(...DATA_DIR)
    .option(
      '--timeout <seconds>',
      'hang up the calls that are left after this time',
      wholeNumber({ from: 0, to: LONGEST_DRAIN_SECONDS }),
      DEFAULT_DRAIN_SECONDS,
    )
    .option(
      '--pid <pid>',
      'which one (default: the one that serves)',
      wholeNumber({ from: 1, to: HIGHEST_PID }),
    )
    .addHelpText(
      'after',
      `
A server with handleSignals: true ends its process, too. Ctrl-C ends the
command, not the drain.

Run it as the user of the server. Exit codes: 0 the server has stopped, 1 there
is none or it refused, 2 usage.`,
    )
    .action(async (flags: DrainFlags) => {
      const { runDrain } = await import('./drain-command.js');
      finish(await runDrain(flags, context));
    });
}
