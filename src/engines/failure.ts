// What can go wrong in a voice mode, as records and logs name it.
import { OffhookError, ProviderError } from '../base/errors.js';
import { describeThrown } from '../base/log.js';
import type { ProviderStage } from '../contract/call-record.js';
import { countsAgainst } from '../providers/circuits.js';
import type { EngineContext, EngineFailure } from './engine.js';
import { MessageError } from './responder/responder.js';

/** What failed: a stage of a pipeline, our part of it (`engine`), or a model that is all of it. */
export type Part = ProviderStage | 'model';

const FAILED: Readonly<Record<Part, string>> = {
  stt: 'The speech recognition failed.',
  llm: 'The language model failed.',
  tts: 'The speech synthesis failed.',
  engine: 'The voice engine failed.',
  model: 'The realtime model failed.',
};

/** True for an error that costs the turn, and not the call. */
export function isPassing(error: unknown): boolean {
  return error instanceof MessageError && !error.isLast;
}

/** Foreign errors carry content, so their sentence is ours. */
export function toFailure(part: Part, error: unknown): EngineFailure {
  const stage = part === 'model' ? 'engine' : part;
  const fairness = countsAgainst(error) ? {} : { isFair: false };
  if (OffhookError.isInstance(error)) return { code: error.code, message: error.message, stage, ...fairness };
  return { code: part === 'engine' ? 'INTERNAL' : 'PROVIDER_FAILED', message: FAILED[part], stage };
}

export function logFailure({ callId, logger }: EngineContext, part: Part, error: unknown): void {
  logger.warn({ callId, ...describeThrown(error) }, FAILED[part]);
}

/** Tells the meters. Returns how the record tells it. */
export function countFailure({ meters }: EngineContext, part: Part, error: unknown): EngineFailure {
  const failure = toFailure(part, error);
  meters.providerFailed(failure.stage ?? 'engine', failure.code);
  return failure;
}

export function silent(who: 'recognizer' | 'realtime model'): ProviderError {
  return new ProviderError(`The ${who} does not answer.`, { status: null, retryable: true });
}
