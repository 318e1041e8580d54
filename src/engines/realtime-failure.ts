// What can go wrong with a realtime model, as records and logs name it.
import { OffhookError, ProviderError } from '../base/errors.js';
import type { EngineFailure } from './engine.js';

export const REALTIME_FAILED = 'The realtime model failed.';

/** The agent's voice is what has failed: the caller was told nothing. Foreign errors carry content, so their sentence is ours. */
export function toRealtimeFailure(error: unknown): EngineFailure {
  return OffhookError.isInstance(error)
    ? { code: error.code, message: error.message, untold: true }
    : { code: 'PROVIDER_FAILED', message: REALTIME_FAILED, untold: true };
}

export function silentModel(): ProviderError {
  return new ProviderError('The realtime model does not answer.', { status: null, retryable: true });
}
