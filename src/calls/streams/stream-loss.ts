// What it means for a call that the stream which was up is gone. Pure: a table in code.
import type { StreamLoss } from './call-stream.js';

/** What else is going on. */
export interface LossSituation {
  /** The carrier's voice is speaking, and the call ends with that. */
  readonly isAnnounced: boolean;
  /** The carrier has said that the call is over. */
  readonly isReportedOver: boolean;
  /** The caller is being handed over. */
  readonly isTransferring: boolean;
  /** Another stream of the call is to come. */
  readonly isReplaced: boolean;
  /** The carrier was told of another stream, and has ended this one perhaps for that. */
  readonly isInstructed: boolean;
  /** Another process may have the call, and its stream has taken the place of this one. */
  readonly isDoubtful: boolean;
  /** The carrier is steered by commands: a call without a stream stays up. */
  readonly isCommanded: boolean;
  /** Another stream can be had. */
  readonly canReopen: boolean;
}

/** `wait`: something else decides, within its own time. `ask`: the carrier is asked whether the call is over. `as-reported`: the call ends as its carrier has said. */
export type LossVerdict = 'wait' | 'ask' | 'reopen' | 'as-reported' | 'end';

export function judgeLoss(type: StreamLoss['type'], situation: LossSituation): LossVerdict {
  const { isCommanded } = situation;
  // Where the carrier's voice takes the place of the stream, a stop says nothing. Elsewhere it says that the other side has left.
  if (situation.isAnnounced) return type === 'stop' && isCommanded ? 'end' : 'wait';
  if (type === 'broken') return 'end';
  if (situation.isReportedOver) return type === 'stop' ? 'end' : 'as-reported';
  if (situation.isTransferring) return 'wait';
  if (type === 'stop' && (situation.isInstructed || situation.isDoubtful)) return 'ask';
  if (situation.isReplaced) return 'wait';
  if (type === 'lost' && situation.canReopen) return 'reopen';
  return 'end';
}
