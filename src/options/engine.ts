// The option `engine` of an agent: what a realtime model rules out is refused here.
import { ConfigError } from '../base/errors.js';
import type { RealtimeModel } from '../providers/realtime-model.js';
import { checkRealtimeModel, STAGE_NAMES } from './providers.js';

/** Of `turnTaking`, what is not the model's own. */
export const SHARED_TURN_TAKING: readonly string[] = [
  'interruptibleGreeting',
  'keysInterrupt',
  'keyPauseMs',
  'fillers',
  'fillerAfterMs',
];

/** The options of an agent that cannot all be had at once. */
export interface EngineNeighbors {
  readonly engine?: RealtimeModel | undefined;
  readonly stt?: unknown;
  readonly llm?: unknown;
  readonly tts?: unknown;
  readonly turnTaking?: object | undefined;
  readonly guardrails?: readonly unknown[] | undefined;
}

/** @throws ConfigError for what is no realtime model, and for options that have no place beside one. */
export function checkEngine(options: EngineNeighbors): RealtimeModel | undefined {
  const { engine, turnTaking, guardrails } = options;
  if (engine === undefined) return undefined;
  checkRealtimeModel('engine', engine);
  const stage = STAGE_NAMES.find((name) => options[name] !== undefined);
  if (stage !== undefined)
    throw new ConfigError(
      'CONFIG_CONFLICT',
      `engine and ${stage} exclude each other: a realtime model hears and speaks by itself. Remove one of them.`,
    );
  if (Array.isArray(guardrails) && guardrails.length > 0)
    throw new ConfigError(
      'CONFIG_CONFLICT',
      'guardrails need text before it is spoken, and engine gives none. Remove one of them.',
    );
  const foreign = Object.entries(turnTaking ?? {}).find(
    ([name, value]) => value !== undefined && !SHARED_TURN_TAKING.includes(name),
  )?.[0];
  if (foreign !== undefined)
    throw new ConfigError(
      'CONFIG_CONFLICT',
      `turnTaking.${foreign} does not apply with engine, which takes turns by itself: configure the model instead.`,
    );
  return engine;
}
