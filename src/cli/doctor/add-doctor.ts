// The options of `offhook doctor`.
import type { Command } from 'commander';
import type { CliContext } from '../context.js';
import { SETTINGS_OPTION } from '../settings-file.js';
import type { DoctorFlags } from './doctor-command.js';

export function addDoctor(program: Command, context: CliContext, finish: (code: number) => void): void {
  program
    .command('doctor')
    .description('Check configuration, reachability, clock and sound. Changes nothing, and shows no secret.')
    .option('--webhook-host <host>', 'public host of the server: is it reached over https?')
    .option('--url <url>', 'address of the server on this machine or network: does it answer?')
    .option('--number <number>', 'own number: does its voice URL lead to --webhook-host?')
    .option(
      '--request <file>',
      'a captured webhook as raw HTTP: what was signed of it, and does the signature fit?',
    )
    .option(...SETTINGS_OPTION)
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      `
Carriers are checked as far as the environment, or the file of --settings,
configures them. None at all is a warning, because an application may pass
settings itself. With --request nothing else is checked; the file holds the
request line, the headers, a blank line and the body, byte for byte.

Exit codes: 0 nothing failed, 1 something did, 2 usage.`,
    )
    .action(async (flags: DoctorFlags) => {
      const { runDoctor } = await import('./doctor-command.js');
      finish(await runDoctor(flags, context));
    });
}
