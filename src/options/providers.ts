// Provider objects among the options of an agent: what each kind must have, wherever it is named.
import { ConfigError } from '../base/errors.js';
import { checkMethods } from '../base/option-checks.js';
import type { LanguageModel } from '../providers/language-model.js';
import type { RealtimeModel } from '../providers/realtime-model.js';
import type { SpeechToText } from '../providers/speech-to-text.js';
import type { TextToSpeech } from '../providers/text-to-speech.js';

/** What an agent says of its three stages. */
export interface StageOptions {
  readonly stt?: SpeechToText | undefined;
  readonly llm?: LanguageModel | undefined;
  readonly tts?: TextToSpeech | undefined;
}

export type StageName = keyof StageOptions;

export const STAGE_NAMES = ['stt', 'llm', 'tts'] as const satisfies readonly StageName[];

const METHODS: Readonly<Record<StageName, string>> = { stt: 'open', llm: 'respond', tts: 'open' };

type Kind = StageName | 'realtime';

const KINDS: Readonly<Record<Kind, string>> = {
  stt: 'a speech-to-text',
  llm: 'a language model',
  tts: 'a text-to-speech',
  realtime: 'a realtime model',
};

/** `name`: the option, as users write it. @throws ConfigError */
export function checkStage(name: string, stage: StageName, provider: unknown): void {
  checkKind(name, stage, provider);
  const method = METHODS[stage];
  const example = `a provider object with a name and ${method === 'open' ? 'an' : 'a'} ${method}() method`;
  checkMethods(name, provider, { methods: [method], example });
}

/** `name`: the option, as users write it. @throws ConfigError */
export function checkRealtimeModel(name: string, model: RealtimeModel): void {
  checkKind(name, 'realtime', model);
  const example = 'a realtime model with a name and an open() method';
  checkMethods(name, model, { methods: ['open'], example });
  if (![model.inputFormats, model.outputFormats].every(Array.isArray))
    throw new ConfigError('CONFIG_INVALID', `${name} must name its inputFormats and outputFormats.`);
}

/** The kind of a provider; undefined if it does not say, and its methods fit several kinds. */
function kindOf(provider: unknown): Kind | undefined {
  if (typeof provider !== 'object' || provider === null) return undefined;
  const { kind, open, respond, inputFormats, outputFormats } = provider as Readonly<Record<string, unknown>>;
  if (typeof kind === 'string' && Object.hasOwn(KINDS, kind)) return kind as Kind;
  if (typeof open !== 'function') return typeof respond === 'function' ? 'llm' : undefined;
  return Array.isArray(inputFormats) && Array.isArray(outputFormats) ? 'realtime' : undefined;
}

function checkKind(name: string, wanted: Kind, provider: unknown): void {
  const kind = kindOf(provider);
  if (kind === undefined || kind === wanted) return;
  throw new ConfigError('CONFIG_INVALID', `${name} is ${KINDS[kind]}: put it into ${placeOf(kind, name)}.`);
}

/** The option for a provider that was found in `name`, as near to it as there is one. */
function placeOf(kind: Kind, name: string): string {
  if (!name.startsWith('fallback.')) return kind === 'realtime' ? 'engine' : kind;
  if (kind === 'realtime') return 'fallback.engine';
  const mode = /^fallback\.engine\[\d+\]/.exec(name)?.[0];
  return `${mode ?? 'fallback'}.${kind}`;
}
