// The carrier's own limit of how long a call lasts: it ends the call should nobody here be able to.
import { describeError } from '../../base/log.js';
import type { CallEnvironment } from '../call-environment.js';
import type { SessionContext } from '../session-context.js';

/** What the carrier's own limit lies above ours, in seconds. */
const LIMIT_MARGIN_SECONDS = 60;

/** Seconds after which the carrier ends a call by itself. */
export function carrierLimitSeconds({ maxCallMs }: Pick<CallEnvironment, 'maxCallMs'>): number {
  return Math.ceil(maxCallMs / 1000) + LIMIT_MARGIN_SECONDS;
}

/** Limits an inbound call, where the carrier can; an outbound one is limited from its dial on. A call without a limit goes on. */
export function limitAtCarrier({ callId, environment, identity }: SessionContext): void {
  const { carrier, logger } = environment;
  const { carrierCallId, direction } = identity;
  if (direction !== 'inbound' || carrierCallId === null || !carrier.rest.configured) return;
  const request = async () => carrier.rest.limit?.(carrierCallId, carrierLimitSeconds(environment));
  request().catch((error: unknown) =>
    logger.warn({ callId, ...describeError(error) }, 'the carrier did not accept the time limit of a call'),
  );
}
