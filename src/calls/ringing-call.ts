// An inbound call that rings at a carrier which is steered by commands: it is answered from here.
import { describeError } from '../base/log.js';
import { type SessionContext, toFailure } from './session-context.js';

/** The report that the call was answered follows the command within this time, or is lost. */
const ANSWER_TIMEOUT_MS = 10_000;
/** Where the command is refused, the caller has usually given up: the report of it has this long to come. */
const REFUSED_GRACE_MS = 2000;

const NOT_ANSWERED = { code: 'CARRIER_FAILED', message: 'The carrier did not answer the call.' };

/** Answers the call, once the webhook that told of it is answered itself. `lost`: no report says that it was answered. */
export function answerRinging(context: SessionContext, events: { lost(): void }): void {
  context.timers.set('answer', 0, () => void answer(context, events));
}

async function answer(context: SessionContext, events: { lost(): void }): Promise<void> {
  const { callId, environment, identity, timers } = context;
  const { carrier, logger } = environment;
  const { carrierCallId } = identity;
  if (carrierCallId === null) return;
  timers.set('answer', ANSWER_TIMEOUT_MS, () => events.lost());
  try {
    await carrier.commands?.answer(carrierCallId, { callId });
  } catch (error) {
    logger.warn({ callId, ...describeError(error) }, 'the carrier did not answer the call');
    // The report may have been faster.
    if (context.isOver || !timers.has('answer')) return;
    const failure = toFailure(error, NOT_ANSWERED);
    timers.set('answer', REFUSED_GRACE_MS, () =>
      context.end({ reason: 'failed', failure, carrier: 'hang-up' }),
    );
  }
}
