// `offhook init`: finds out what the project shall be, by flags, questions or defaults, and writes it.
import { basename, relative, resolve } from 'node:path';
import { CARRIERS } from '../../carriers/index.js';
import { type SimulatedCarrier, SIMULATED_CARRIERS } from '../../contract/call-record.js';
import { type CliContext, UsageError } from '../context.js';
import { findOrigin, toSpec } from './package-origin.js';
import { projectFiles, type Voice } from './project.js';
import { CARRIER_SERVICES, SERVICES, type Stage } from './services.js';
import { writeProject } from './write-project.js';

export interface InitFlags {
  carrier?: SimulatedCarrier;
  mode?: 'pipeline' | 'realtime';
  stt?: string;
  llm?: string;
  tts?: string;
  realtime?: string;
  offhook?: string;
  yes?: boolean;
}

interface Choice {
  readonly id: string;
  readonly label: string;
}

const DEFAULT_FOLDER = 'phone-agent';
const PIPELINE_STAGES = ['stt', 'llm', 'tts'] as const;
const MODES: readonly [Choice, ...Choice[]] = [
  { id: 'pipeline', label: 'pipeline: one vendor hears, one thinks, one speaks' },
  { id: 'realtime', label: 'realtime: one model hears, thinks and speaks' },
];
const STAGE_QUESTIONS: Readonly<Record<Stage, string>> = {
  stt: 'Who hears?',
  llm: 'Who thinks?',
  tts: 'Who speaks?',
  realtime: 'Which realtime model?',
};

/** Asks nothing that a flag answers. @throws UsageError, ConfigError when the project cannot be written. */
export async function runInit(
  folder: string | undefined,
  flags: InitFlags,
  context: CliContext,
): Promise<number> {
  const mode = modeOfFlags(flags);
  if (folder?.trim() === '') throw new UsageError('The folder has no name.');
  const told = flags.offhook?.trim();
  // npm would take any package of that name.
  if (told === '') throw new UsageError('--offhook is empty.');
  const choose = chooser(flags, context);
  const place = folder ?? (await askFolder(flags, context));
  const path = resolve(place);
  const offhook = told === undefined ? undefined : toSpec(told, path);
  const carriers = SIMULATED_CARRIERS.map((id) => ({ id, label: `${vendorOf(id)} (${id})` }));
  const carrierId = await choose('carrier', 'Which carrier?', carriers as [Choice, ...Choice[]]);
  const carrier = CARRIER_SERVICES[carrierId as SimulatedCarrier];
  const voice = await chooseVoice(mode ?? (await choose('mode', 'Which voice mode?', MODES)), choose);

  const files = projectFiles({
    name: packageName(path),
    carrier,
    carrierVendor: vendorOf(carrier.id),
    voice,
    ...(offhook === undefined ? findOrigin(path) : { dependencies: { offhook }, optionalDependencies: {} }),
  });
  await writeProject(path, files);
  const shown = relative('', path) || '.';
  context.out(`Wrote ${[...files.keys()].join(', ')} to ${shown}.

Next:
${shown === '.' ? '' : `  cd ${/^[\w./\\:-]+$/.test(shown) ? shown : JSON.stringify(shown)}\n`}  npm install
  npm test                # a simulated call: no key, no phone
  cp .env.example .env    # then fill in .env
  npm start               # answers calls`);
  return 0;
}

/** What the flags say of the mode; undefined when they leave it open. */
function modeOfFlags(flags: InitFlags): 'pipeline' | 'realtime' | undefined {
  const stage = PIPELINE_STAGES.find((name) => flags[name] !== undefined);
  const { mode, realtime } = flags;
  if (stage !== undefined && (realtime !== undefined || mode === 'realtime'))
    throw new UsageError(`--${stage} belongs to a pipeline: leave it out for a realtime model.`);
  if (realtime !== undefined && mode === 'pipeline')
    throw new UsageError('--realtime names a realtime model: leave it out for a pipeline.');
  return mode ?? (stage !== undefined ? 'pipeline' : realtime !== undefined ? 'realtime' : undefined);
}

type Choose = (
  flag: 'carrier' | 'mode' | Stage,
  question: string,
  choices: readonly [Choice, ...Choice[]],
) => Promise<string>;

/** A flag, else the default with --yes, else an answer. */
function chooser(flags: InitFlags, context: CliContext): Choose {
  return async (flag, question, choices) => {
    const given = flags[flag];
    if (given !== undefined) return given;
    const [first] = choices;
    if (flags.yes === true) return first.id;
    const { ask } = context;
    if (ask === undefined)
      throw new UsageError(
        `There is no terminal to ask on, and --${flag} is missing: ${choices.map(({ id }) => id).join(', ')}. --yes takes the first choice wherever a flag is missing.`,
      );
    context.out(`\n${question}`);
    for (const [index, { label }] of choices.entries()) context.out(`  ${index + 1}  ${label}`);
    for (;;) {
      const answer = (await ask('Number or name [1]: ')).trim().toLowerCase();
      const found = answer === '' ? first : findChoice(choices, answer);
      if (found !== undefined) return found.id;
      context.out(`That is none of them: a number from 1 to ${choices.length}, please.`);
    }
  };
}

/** By number, by flag value, or by the beginning of a label that only one has. */
function findChoice(choices: readonly Choice[], answer: string): Choice | undefined {
  const named = choices.filter(({ label }) => label.toLowerCase().startsWith(answer));
  const exact = choices[Number(answer) - 1] ?? choices.find(({ id }) => id === answer);
  return exact ?? (named.length === 1 ? named[0] : undefined);
}

async function chooseVoice(mode: string, choose: Choose): Promise<Voice> {
  const service = async (stage: Stage) => {
    const id = await choose(stage, STAGE_QUESTIONS[stage], SERVICES[stage]);
    return SERVICES[stage].find((each) => each.id === id) ?? SERVICES[stage][0];
  };
  if (mode === 'realtime') return { mode, realtime: await service('realtime') };
  return {
    mode: 'pipeline',
    stt: await service('stt'),
    llm: await service('llm'),
    tts: await service('tts'),
  };
}

async function askFolder({ yes }: InitFlags, { ask }: CliContext): Promise<string> {
  if (yes === true || ask === undefined) return DEFAULT_FOLDER;
  return (await ask(`Folder [${DEFAULT_FOLDER}]: `)).trim() || DEFAULT_FOLDER;
}

function vendorOf(id: string): string {
  return CARRIERS.get(id)?.vendor ?? id;
}

/** The folder's name as npm takes it. A package cannot depend on one of its own name. */
function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name === '' || name === 'offhook' ? DEFAULT_FOLDER : name.slice(0, 200);
}
