// Events of a realtime session on their way to the engine: what goes wrong there is no trouble of the service's, and ends one session.
import { describeError } from '../../base/log.js';
import type { RealtimeContext } from '../realtime-model.js';

/** Tells an event. Returns what the session has failed with when the engine did not take it. Never throws. */
export function tellEngine(
  { callId, logger }: Pick<RealtimeContext, 'callId' | 'logger'>,
  event: () => void,
): Error | undefined {
  try {
    event();
    return undefined;
  } catch (error) {
    logger.error({ callId, ...describeError(error) }, 'an event of a realtime model was not taken');
    return error instanceof Error ? error : new Error('not taken', { cause: error });
  }
}
