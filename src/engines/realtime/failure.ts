// What can go wrong with a realtime model, as records and logs name it.
import { OffhookError, ProviderError } from '../../base/errors.js';
import type { Wait } from '../../conversation/wait.js';
import type { EngineFailure } from '../engine.js';

export const REALTIME_FAILED = 'The realtime model failed.';

/**
 * The agent's voice has failed, so the caller was told nothing. `wait` is how long they have waited. Foreign errors carry content, so their sentence
 * is ours.
 */
export function toRealtimeFailure(error: unknown, wait: Wait): EngineFailure {
  const { code, message } = OffhookError.isInstance(error)
    ? error
    : { code: 'PROVIDER_FAILED', message: REALTIME_FAILED };
  return { code, message, wait, stage: 'engine' };
}

export function silentModel(): ProviderError {
  return new ProviderError('The realtime model does not answer.', { status: null, retryable: true });
}
