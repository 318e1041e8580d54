// The end of a call as its record shows it, and what is still asked of the carrier.
import type { MediaCounters } from '../contract/call-record.js';
import { type CallEnding, type CallReach, outcomeOf } from './call-ending.js';
import type { CallLine } from './call-line.js';
import { Farewell } from './farewell.js';

export interface Conclusion {
  readonly ending: CallEnding;
  readonly reach: CallReach;
  readonly isVoicemail: boolean;
  /** True when no fact has told of the call yet. */
  readonly isUntold: boolean;
  readonly counters: MediaCounters;
  /** States what was used for the call before it began, and by no engine. */
  book(): void;
}

/** States the end. Nothing for a call of which nothing is known but a socket. */
export function recordEnd(line: CallLine, conclusion: Conclusion): void {
  const { ending, reach, isVoicemail, isUntold, counters } = conclusion;
  const { identity, ledger } = line;
  if (ending.unrecorded === true) return;
  if (isUntold) {
    if (identity.carrierCallId === null && identity.caller === '') return;
    ledger.publish({ type: 'call.status', status: 'initiated', ...identity });
  }
  conclusion.book();
  ledger.publish({
    type: 'call.ended',
    endReason: ending.reason,
    outcome: isVoicemail ? 'voicemail' : outcomeOf(ending, reach),
    error: ending.failure ?? null,
    media: { ...counters },
  });
}

export interface FarewellSituation {
  /** Resolves to whether the carrier takes the order to hand the caller over, while that is not known. */
  readonly ordered: Promise<boolean> | undefined;
  /** Resolves to whether there is a call at the carrier, for one that is being placed. */
  readonly placed: Promise<boolean> | undefined;
}

/** Asks the carrier for what the ending wants; undefined when that is nothing. */
export function sayFarewell(
  line: CallLine,
  ending: CallEnding,
  situation: FarewellSituation,
): Farewell | undefined {
  const { environment, identity, ledger, callId } = line;
  const isHandedOver = ending.reason === 'transferred' && situation.ordered !== undefined;
  // Who is not handed over after all must not be left on the line.
  const isStillHere = situation.ordered?.then((isTaken) => !isTaken);
  const isPlaced = identity.carrierCallId === null ? situation.placed : undefined;
  const wish = isHandedOver ? 'hang-up' : ending.carrier;
  if (wish === undefined) return undefined;
  const { carrier, clock, logger } = environment;
  return new Farewell({
    callId,
    wish,
    carrierCallId: () => line.identity.carrierCallId,
    before: isHandedOver ? isStillHere : isPlaced,
    carrier,
    clock,
    logger,
    note: (code, message) => ledger.note(code, message),
  });
}
