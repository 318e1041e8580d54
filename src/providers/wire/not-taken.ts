// Events of a realtime session on their way to the engine: what goes wrong there is no trouble of the service's, and ends one session.
import { describeError } from '../../base/log.js';
import type { RealtimeContext } from '../realtime-model.js';

/** What the session has failed with where the engine threw `error`. Never throws. */
export function notTaken(
  { callId, logger }: Pick<RealtimeContext, 'callId' | 'logger'>,
  error: unknown,
): Error {
  logger.error({ callId, ...describeError(error) }, 'failed to handle an event of a realtime model');
  return error instanceof Error ? error : new Error('not taken', { cause: error });
}
