// The end of a call as its record shows it, and what is still asked of the carrier.
import type { MediaCounters } from '../../contract/call-record.js';
import { type CallEnding, type CallReach, type CarrierWish, outcomeOf } from './call-ending.js';
import type { SessionContext } from '../session-context.js';
import { CarrierTeardown } from './carrier-teardown.js';
import { LOSSES, LOST_CODE } from './lost-call.js';

export interface Conclusion {
  readonly ending: CallEnding;
  readonly reach: CallReach;
  readonly isVoicemail: boolean;
  /** True when no fact has told of the call yet. */
  readonly isUntold: boolean;
  readonly counters: MediaCounters;
  readonly teardown: TeardownPlan | undefined;
  /** States what was used for the call before it began, and by no engine. */
  book(): void;
}

/** States the end, and what is yet to be asked of the carrier. Nothing for a call of which nothing is known but a socket. */
export function recordEnd(context: SessionContext, conclusion: Conclusion): void {
  const { ending, reach, isVoicemail, isUntold, counters, teardown } = conclusion;
  const { identity, ledger } = context;
  if (ending.unrecorded === true) return;
  if (isUntold) {
    if (identity.carrierCallId === null && identity.caller === '') return;
    ledger.publish({ type: 'call.status', status: 'initiated', ...identity });
  }
  conclusion.book();
  if (ending.loss !== undefined) ledger.note(LOST_CODE, LOSSES[ending.loss], { at: ending.at });
  ledger.publish(
    {
      type: 'call.ended',
      endReason: ending.reason,
      outcome: isVoicemail ? 'voicemail' : outcomeOf(ending, reach),
      error: ending.failure ?? null,
      media: { ...counters },
      ...(reach.answered || ending.durationMs === undefined ? {} : { durationMs: ending.durationMs }),
      ...(isHangUpDue(context, teardown) ? { hangUp: 'pending' } : {}),
    },
    ending.at,
  );
}

/** What is asked of the carrier after the end. */
export interface TeardownPlan {
  readonly wish: CarrierWish;
  /** Resolves to whether anything is to be asked, where that is not known yet. */
  readonly before: Promise<boolean> | undefined;
}

export interface TeardownSituation {
  /** Resolves to whether the carrier takes the order to hand the caller over, while that is not known. */
  readonly ordered: Promise<boolean> | undefined;
  /** Resolves when the request to place the call is done with, for one that we place: its id says then whether there is a call. */
  readonly placed: Promise<void> | undefined;
}

/** What the ending wants of the carrier; undefined when that is nothing. */
export function planTeardown(
  { identity }: SessionContext,
  ending: CallEnding,
  { ordered, placed }: TeardownSituation,
): TeardownPlan | undefined {
  // Who is not handed over after all must not be left on the line.
  if (ending.reason === 'transferred' && ordered !== undefined)
    return { wish: 'hang-up', before: ordered.then((isTaken) => !isTaken) };
  if (ending.carrier === undefined) return undefined;
  const before = identity.carrierCallId === null ? placed?.then(() => true) : undefined;
  return { wish: ending.carrier, before };
}

/** Asks the carrier for what was planned. */
export function beginTeardown(
  context: SessionContext,
  ending: CallEnding,
  plan: TeardownPlan,
): CarrierTeardown {
  const { environment, ledger, callId } = context;
  const { carrier, clock, logger, isRecordKept } = environment;
  return new CarrierTeardown({
    callId,
    wish: plan.wish,
    carrierCallId: () => context.identity.carrierCallId,
    before: plan.before,
    carrier,
    clock,
    logger,
    isRecordKept,
    tell: (state) => {
      if (ending.unrecorded !== true) ledger.hungUp(state);
    },
    note: (code, message) => ledger.note(code, message),
  });
}

/** True when it is certain already that the carrier is asked for the end of the call. */
function isHangUpDue({ identity, environment }: SessionContext, plan: TeardownPlan | undefined): boolean {
  if (plan === undefined || plan.wish === 'stop-stream' || plan.before !== undefined) return false;
  return identity.carrierCallId !== null && environment.carrier.rest.configured;
}
