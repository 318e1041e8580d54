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

/** `name`: the option, as users write it. @throws ConfigError */
export function checkStage(name: string, stage: StageName, provider: unknown): void {
  const method = METHODS[stage];
  const example = `a provider object with a name and ${method === 'open' ? 'an' : 'a'} ${method}() method`;
  checkMethods(name, provider, { methods: [method], example });
}

/** `name`: the option, as users write it. @throws ConfigError */
export function checkRealtimeModel(name: string, model: RealtimeModel): void {
  const example = 'a realtime model with a name and an open() method';
  checkMethods(name, model, { methods: ['open'], example });
  if (![model.inputFormats, model.outputFormats].every(Array.isArray))
    throw new ConfigError('CONFIG_INVALID', `${name} must name its inputFormats and outputFormats.`);
}
