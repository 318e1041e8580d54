// The same agent in another voice mode: its options, without what that mode has no place for.
import type { RealtimeModel } from '../providers/realtime-model.js';
import { SHARED_TURN_TAKING } from './engine.js';
import { type FallbackEngine, type FallbackOptions, isRealtimeModel } from './fallback.js';
import type { StageOptions } from './providers.js';

/** The options of an agent that say what its voice mode is, or depend on it. */
interface ModeOptions extends Omit<StageOptions, 'tts'> {
  readonly tts?: unknown;
  readonly engine?: RealtimeModel | undefined;
  readonly turnTaking?: object | undefined;
  readonly fallback?: FallbackOptions | undefined;
}

/** `options`: checked ones, as the user wrote them. `other`: an entry of their `fallback.engine`. */
export function inOtherMode<T extends ModeOptions>(options: T, other: FallbackEngine): T {
  const same = {
    ...options,
    engine: undefined,
    stt: undefined,
    llm: undefined,
    tts: undefined,
    fallback: undefined,
  };
  if (!isRealtimeModel(other)) return { ...same, ...other };
  const shared = Object.entries(options.turnTaking ?? {}).filter(([name]) =>
    SHARED_TURN_TAKING.includes(name),
  );
  return { ...same, engine: other, turnTaking: Object.fromEntries(shared) };
}
