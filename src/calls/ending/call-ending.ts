// What an end is, and which reason and outcome the record of a call gets. Pure: no clock, no carrier.
import type { CallDirection, CallFailure, CallOutcome, EndReason } from '../../contract/call-record.js';
import type { Wait } from '../../conversation/wait.js';
import type { Loss } from './lost-call.js';

/**
 * What is asked of the carrier after the end: `hang-up`; `check`, a hang-up if the call is not over; `confirm`, the same after some
 * time in which the carrier may report the end by itself; `stop-stream`, for a call that goes on without us.
 */
export type CarrierWish = 'hang-up' | 'check' | 'confirm' | 'stop-stream';

/** How a socket is closed. */
export interface SocketClose {
  readonly code: number;
  readonly reason: string;
}

/** How a call ends. */
export interface CallEnding {
  readonly reason: EndReason;
  /** Follows from the reason and from how far the call came, when it is not given. */
  readonly outcome?: CallOutcome | undefined;
  readonly failure?: CallFailure | undefined;
  /** How the socket is closed; undefined leaves it alone. */
  readonly close?: SocketClose | undefined;
  /** Time from the answer on, as the carrier counts it. */
  readonly durationMs?: number | undefined;
  readonly carrier?: CarrierWish | undefined;
  /** That of a caller who was told nothing of the failure; undefined where they were told, or nothing failed. */
  readonly wait?: Wait | undefined;
  /** When it ended, in epoch milliseconds. @default now */
  readonly at?: number | undefined;
  /** Why no other process went on with a call whose process died. */
  readonly loss?: Loss | undefined;
  /** The call never was one: nothing is recorded. */
  readonly unrecorded?: boolean;
}

export const NORMAL_CLOSE: SocketClose = { code: 1000, reason: 'Call ended' };

/** How far a call came. */
export interface CallReach {
  readonly direction: CallDirection;
  /** The carrier said that it was answered. */
  readonly answered: boolean;
  /** A stream was up. */
  readonly started: boolean;
}

/** What a carrier says of the end of a call. */
export interface ReportedEnd {
  readonly outcome: CallOutcome | null;
  /** Who has left, where it tells. */
  readonly endedBy?: 'caller' | 'callee' | undefined;
}

/** What the carrier's report of the end says, when nothing else has told more. */
export function reportedEnd(
  { outcome, endedBy }: ReportedEnd,
  reach: CallReach,
): { reason: EndReason; outcome?: CallOutcome } {
  const isFailure = outcome !== null && outcome !== 'answered' && outcome !== 'voicemail';
  const other = reach.direction === 'inbound' ? 'caller' : 'callee';
  // Who has no stream yet is in nobody's hands but their own.
  const hasLeft = endedBy === other || (endedBy === undefined && !reach.started);
  const hungUp = hasLeft ? 'caller-hangup' : 'carrier-hangup';
  if (reach.answered || reach.started) return { reason: isFailure ? outcome : hungUp };
  if (reach.direction === 'inbound') {
    const reason = outcome === 'failed' || outcome === 'busy' ? outcome : 'caller-hangup';
    return { reason, outcome: outcome ?? 'canceled' };
  }
  if (outcome === null) return { reason: 'failed', outcome: 'failed' };
  return { reason: isFailure ? outcome : hungUp, outcome };
}

/** Ends that say nothing of whether anybody was reached. */
const NEUTRAL_REASONS: ReadonlySet<EndReason> = new Set([
  'caller-hangup',
  'agent-hangup',
  'operator-hangup',
  'carrier-hangup',
  'transferred',
  'max-duration',
  'budget',
  'server-shutdown',
]);

/** The outcome of a call. A call that had a stream was answered, whatever ended it. */
export function outcomeOf(ending: CallEnding, reach: CallReach): CallOutcome {
  const { reason, outcome } = ending;
  if (outcome !== undefined) return outcome;
  if (reach.started) return 'answered';
  if (reason === 'busy' || reason === 'no-answer' || reason === 'canceled') return reason;
  if (NEUTRAL_REASONS.has(reason)) return reach.answered ? 'answered' : 'canceled';
  return 'failed';
}
