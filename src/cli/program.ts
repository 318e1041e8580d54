// The commands, their options and exit codes: 0 done, 1 failed, 2 usage. What they do lives elsewhere and is loaded when asked for.
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { readEnv } from '../base/env.js';
import { OffhookError } from '../base/errors.js';
import { PACKAGE_VERSION } from '../base/package-version.js';
import { addDashboard } from './add-dashboard.js';
import { addServers } from './add-servers.js';
import { carrierOption } from './carrier-option.js';
import { type CliContext, StoppedError, UsageError } from './context.js';
import { addDoctor } from './doctor/add-doctor.js';
import { SETTINGS_OPTION } from './settings-file.js';
import { addInit } from './init/add-init.js';
import type { SimulateFlags } from './simulate-command.js';

const MAX_CALLS = 200;
const KILL_INTERVAL_MS = 30_000;
/** Those of the embedded voice, which is loaded only to speak. */
const VOICES = ['slt', 'kal16', 'awb', 'rms', 'kal'];

function wholeNumber(range: { from: number; to: number }): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= range.from && value <= range.to)) {
      throw new InvalidArgumentError(`It must be a whole number from ${range.from} to ${range.to}.`);
    }
    return value;
  };
}

function defaultPort(): number {
  const text = readEnv('PORT');
  if (text === undefined) return 8000;
  try {
    return wholeNumber({ from: 1, to: 65_535 })(text);
  } catch {
    throw new UsageError('The environment variable PORT must be a whole number from 1 to 65535.');
  }
}

function languageTag(text: string): string {
  try {
    const [tag] = Intl.getCanonicalLocales(text);
    if (tag !== undefined && !/^[a-z]{4,8}(-|$)/i.test(tag)) return tag;
  } catch {}
  throw new InvalidArgumentError('It must be a language tag like de or de-CH.');
}

function collect(value: string, earlier: string[]): string[] {
  return [...earlier, value];
}

interface DemoFlags {
  port?: number;
  host: string;
  kill?: boolean;
  nodes?: number;
  broker?: string;
}

function addDemo(program: Command, context: CliContext): void {
  program
    .command('demo')
    .description(
      'Answer simulated calls on this machine: no key, no phone. Prints the address of the dashboard.',
    )
    .option(
      '--port <port>',
      'port to listen on (default: PORT, else 8000)',
      wholeNumber({ from: 1, to: 65_535 }),
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--kill', 'kill the server every 30 seconds and start it again: the calls go on')
    .addOption(
      new Option(
        '--nodes <number>',
        'run a cluster of 2 to 5 servers behind a load balancer, and kill one every 30 seconds; needs Redis or Valkey',
      )
        .argParser(wholeNumber({ from: 2, to: 5 }))
        .conflicts('kill'),
    )
    .option('--broker <url>', 'with --nodes: use this Redis or Valkey (default: start the one in the PATH)')
    .action(async (flags: DemoFlags) => {
      if (flags.broker !== undefined && flags.nodes === undefined)
        throw new UsageError('--broker goes with --nodes.');
      const port = flags.port ?? defaultPort();
      const { runDemo } = await import('../testing/demo/run-demo.js');
      const { signal } = context;
      const { host, nodes, broker } = flags;
      const kills = flags.kill === true || nodes !== undefined ? { killEveryMs: KILL_INTERVAL_MS } : {};
      const where = { port, host, folder: '.offhook/demo', nodes, broker };
      await runDemo({ ...where, print: context.out, signal, ...kills });
    });
}

function addSimulate(program: Command, context: CliContext, finish: (code: number) => void): void {
  program
    .command('simulate')
    .description(
      'Call a running server as a carrier would, and report what was heard. A demo on this machine needs no further option.',
    )
    .option('--url <url>', 'address of the server; its host is dialed', 'http://127.0.0.1:8000')
    .addOption(carrierOption('which carrier calls').default('carrier-a'))
    .option('--wav <file>', 'what the caller says: a WAV file, PCM16, mu-law or A-law')
    .option(
      '--text <text>',
      'what the caller says: text to speak, or the words of --wav; @file reads one text per line; repeatable',
      collect,
      [],
    )
    .addOption(new Option('--voice <name>', 'voice of --text').choices(VOICES))
    .option(
      '--language <tag>',
      'language of --text (BCP 47), told to a server whose recognizer is the simulated one',
      languageTag,
    )
    .option(
      '--interrupt <ms>',
      'say the first text over the agent, after so much of what it says first',
      wholeNumber({ from: 0, to: 600_000 }),
    )
    .option('--out <file>', 'write the call as a stereo WAV: the caller left, the agent right')
    .option('--report <file>', 'write the report as JSON')
    .option('--json', 'print the report as JSON')
    .option(
      '--auth-token <token>',
      'carrier-a: sign as the carrier does (default: the demo’s, else the environment’s)',
    )
    .option('--private-key <key>', 'carrier-b: sign with this key, 32 bytes in base64 (default: a new one)')
    .option(
      '--api-key <key>',
      'carrier-b: what the server sends to the REST API (default: CARRIER_B_API_KEY)',
    )
    .option(
      '--api-port <port>',
      'carrier-b: port of the REST API on this machine, the baseUrl of the server’s carrier (default: 8011)',
      wholeNumber({ from: 1, to: 65_535 }),
    )
    .option(
      '--webhook-host <host>',
      'public host of the server (default: the demo’s, else the host of --url)',
    )
    .option(...SETTINGS_OPTION)
    .option('--from <number>', 'who calls: any text, like +15005550020 or anonymous')
    .option('--to <number>', 'the called number, in the form +15005550010 (E.164)')
    .option('--calls <number>', 'calls at the same time', wholeNumber({ from: 1, to: MAX_CALLS }), 1)
    .option('--max-duration <seconds>', 'hang up after this time', wholeNumber({ from: 1, to: 3600 }), 120)
    .addHelpText(
      'after',
      `
Without --wav and --text the caller makes speech-like tones.

Carrier B is commanded through its REST API. Give the carrier of the server the
baseUrl http://127.0.0.1:8011 (--api-port), and the same API key here
(--api-key) and there. A server with a public key needs the one that is printed;
--private-key keeps it the same.

Exit codes: 0 every call was answered and kept to the protocol, 1 one was not,
2 usage.`,
    )
    .action(async (flags: SimulateFlags) => {
      const { runSimulate } = await import('./simulate-command.js');
      finish(await runSimulate(flags, context));
    });
}

/** All commands, which tell `finish` their exit code when they were run. @throws CommanderError from `parseAsync`, never an exit. */
export function createProgram(context: CliContext, finish: (code: number) => void): Command {
  const write = (take: (text: string) => void) => (text: string) => take(text.replace(/\n$/, ''));
  const program = new Command('offhook')
    .description('A phone server for AI voice agents, on your own machine.')
    .version(PACKAGE_VERSION)
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError('(--help shows what there is)')
    .configureOutput({ writeOut: write(context.out), writeErr: write(context.error) });
  addDemo(program, context);
  addInit(program, context, finish);
  addDashboard(program, { context, parsePort: wholeNumber({ from: 1, to: 65_535 }), finish });
  addServers(program, { context, wholeNumber, finish });
  addSimulate(program, context, finish);
  addDoctor(program, context, finish);
  for (const command of program.commands) command.copyInheritedSettings(program);
  return program;
}

/** Runs one command line, without the program's name, and resolves with its exit code. */
export async function runCli(args: readonly string[], context: CliContext): Promise<number> {
  let exitCode = 0;
  const program = createProgram(context, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof UsageError) {
      context.error(`error: ${error.message}`);
      return 2;
    }
    if (error instanceof StoppedError) {
      context.error(error.message);
      return 1;
    }
    context.error(`error: ${OffhookError.isInstance(error) ? error.message : 'something went wrong.'}`);
    if (!OffhookError.isInstance(error) && error instanceof Error) context.error(String(error.stack));
    return 1;
  }
}
