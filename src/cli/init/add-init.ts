// The options of `offhook init`.
import { type Command, Option } from 'commander';
import { carrierOption } from '../carrier-option.js';
import type { CliContext } from '../context.js';
import type { InitFlags } from './init-command.js';
import { SERVICES, type Stage } from './services.js';

function stageOption(stage: Stage, sentence: string): Option {
  return new Option(`--${stage} <vendor>`, sentence).choices(SERVICES[stage].map(({ id }) => id));
}

export function addInit(program: Command, context: CliContext, finish: (code: number) => void): void {
  program
    .command('init')
    .description(
      'Make a project with an agent of your own, and a test that calls it. Asks for carrier and vendors.',
    )
    .argument('[folder]', 'folder of the project; a new one is made (default: "phone-agent")')
    .addOption(carrierOption('who carries the calls'))
    .addOption(
      new Option(
        '--mode <mode>',
        'a pipeline of three vendors, or one realtime model that hears and speaks',
      ).choices(['pipeline', 'realtime']),
    )
    .addOption(stageOption('stt', 'pipeline: who hears'))
    .addOption(stageOption('llm', 'pipeline: who thinks'))
    .addOption(stageOption('tts', 'pipeline: who speaks'))
    .addOption(stageOption('realtime', 'the realtime model'))
    .option(
      '--offhook <spec>',
      'where npm finds offhook, such as a tarball or a clone (default: the one that this command comes from)',
    )
    .option('-y, --yes', 'ask nothing; take the first choice wherever a flag is missing')
    .addHelpText(
      'after',
      `
Flags answer questions in advance. Without a terminal nothing is asked: --yes or
the missing flags are needed then. Existing files are never overwritten, and no
secret is written: .env.example lists what the project needs.

Exit codes: 0 the project is written, 1 it is not, 2 usage.`,
    )
    .action(async (folder: string | undefined, flags: InitFlags) => {
      const { runInit } = await import('./init-command.js');
      finish(await runInit(folder, flags, context));
    });
}
