// What can go wrong in a pipeline, as records and logs name it.
import { OffhookError, ProviderError } from '../../base/errors.js';
import type { ProviderStage } from '../../contract/call-record.js';
import type { EngineFailure } from '../engine.js';
import { LateSourceError } from '../guarded-stream.js';
import { MessageError } from '../responder/responder.js';

/** Part of the pipeline that failed. */
export type Stage = ProviderStage;

export const FAILED: Readonly<Record<Stage, string>> = {
  stt: 'The speech recognition failed.',
  llm: 'The language model failed.',
  tts: 'The speech synthesis failed.',
  engine: 'The voice engine failed.',
};

/** True for an error that costs the turn, and not the call. */
export function isPassing(error: unknown): boolean {
  return error instanceof MessageError && !error.isLast;
}

/** Foreign errors carry content, so their sentence is ours. */
export function toFailure(stage: Stage, error: unknown): EngineFailure {
  const fairness = error instanceof LateSourceError && !error.isFair ? { isFair: false } : {};
  if (OffhookError.isInstance(error)) return { code: error.code, message: error.message, stage, ...fairness };
  return { code: stage === 'engine' ? 'INTERNAL' : 'PROVIDER_FAILED', message: FAILED[stage], stage };
}

export function silentRecognizer(): ProviderError {
  return new ProviderError('The recognizer does not answer.', { status: null, retryable: true });
}
