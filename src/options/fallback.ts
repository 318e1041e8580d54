// The option `fallback` of an agent: who takes the place of a provider that fails. Documented here and nowhere else.
import { ConfigError } from '../base/errors.js';
import { checkNames, requireObject } from '../base/option-checks.js';
import type { LanguageModel } from '../providers/language-model.js';
import type { RealtimeModel } from '../providers/realtime-model.js';
import type { SpeechToText } from '../providers/speech-to-text.js';
import type { TextToSpeech } from '../providers/text-to-speech.js';
import {
  checkRealtimeModel,
  checkStage,
  STAGE_NAMES,
  type StageName,
  type StageOptions,
} from './providers.js';

/** A whole other voice mode: a realtime model, or three stages, of which those that are not named are chosen by the keys in the environment. */
export type FallbackEngine = RealtimeModel | StageOptions;

/** The option `fallback` of `phone.agent(...)`: lists of at most five, asked in their order. */
export interface FallbackOptions {
  /** Recognizers that replace a failing one. The replacement hears again what has no text yet. @default [] */
  stt?: readonly SpeechToText[] | undefined;
  /** Language models that replace one that fails or produces nothing for 3 seconds. If an answer had begun, the replacement continues it. Not used with `onMessage`. @default [] */
  llm?: readonly LanguageModel[] | undefined;
  /** Voices that replace a failing one. The replacement speaks what was not yet spoken, and the rest of the call. @default [] */
  tts?: readonly TextToSpeech[] | undefined;
  /** Voice modes that take over when the current one has no provider left: realtime models, or `{ stt, llm, tts }`. Stages you leave out are chosen by the keys in the environment; `serve` refuses to start if there are none. @default [] */
  engine?: readonly FallbackEngine[] | undefined;
}

/** Lists that nobody gave are empty. */
export interface CheckedFallback {
  readonly stt: readonly SpeechToText[];
  readonly llm: readonly LanguageModel[];
  readonly tts: readonly TextToSpeech[];
  readonly engine: readonly FallbackEngine[];
}

/** The options of an agent that rule out some of these. */
export interface FallbackNeighbors {
  readonly fallback?: FallbackOptions | undefined;
  readonly engine?: unknown;
  readonly guardrails?: readonly unknown[] | undefined;
}

const FALLBACK_OPTIONS = [...STAGE_NAMES, 'engine'];

/** Each of them may cost a caller some seconds. */
const MAX_ENTRIES = 5;

/** @throws ConfigError that names the entry */
export function checkFallback({ fallback, engine, guardrails }: FallbackNeighbors): CheckedFallback {
  const given = fallback === undefined ? {} : requireObject(fallback, 'fallback');
  checkNames(given, FALLBACK_OPTIONS, 'fallback');
  const checked = {
    stt: checkList<SpeechToText>('stt', given.stt, checkStageEntry('stt')),
    llm: checkList<LanguageModel>('llm', given.llm, checkStageEntry('llm')),
    tts: checkList<TextToSpeech>('tts', given.tts, checkStageEntry('tts')),
    engine: checkList<FallbackEngine>('engine', given.engine, checkEngineEntry),
  };
  const stage = STAGE_NAMES.find((name) => checked[name].length > 0);
  if (engine !== undefined && stage !== undefined)
    throw new ConfigError(
      'CONFIG_CONFLICT',
      `fallback.${stage} does not apply with engine, which has no such stage: use fallback.engine.`,
    );
  if (Array.isArray(guardrails) && guardrails.length > 0 && checked.engine.some(isRealtimeModel))
    throw new ConfigError(
      'CONFIG_CONFLICT',
      'guardrails need text before it is spoken, and the realtime model in fallback.engine gives none. Remove one of them.',
    );
  return Object.freeze(checked);
}

/** True for an entry of `fallback.engine` that is one provider, which then has to be a realtime model, false for one of three stages. */
export function isRealtimeModel(entry: FallbackEngine): entry is RealtimeModel {
  return ['open', 'respond', 'inputFormats'].some((name) => name in entry);
}

function checkList<T>(
  name: string,
  list: readonly T[] | undefined,
  check: (where: string, entry: T) => void,
): readonly T[] {
  if (list === undefined) return [];
  if (!Array.isArray(list) || list.length > MAX_ENTRIES)
    throw new ConfigError(
      'CONFIG_INVALID',
      `fallback.${name} must be a list of at most ${MAX_ENTRIES} providers.`,
    );
  for (const [index, entry] of list.entries()) check(`fallback.${name}[${index}]`, entry);
  return Object.freeze([...list]);
}

function checkStageEntry(stage: StageName): (where: string, entry: unknown) => void {
  return (where, entry) => checkStage(where, stage, entry);
}

function checkEngineEntry(where: string, entry: FallbackEngine): void {
  requireObject(entry, where);
  if (isRealtimeModel(entry)) {
    checkRealtimeModel(where, entry);
    return;
  }
  checkNames(entry, STAGE_NAMES, where);
  for (const stage of STAGE_NAMES)
    if (entry[stage] !== undefined) checkStage(`${where}.${stage}`, stage, entry[stage]);
}
