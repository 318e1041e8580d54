// A call that never had a session: it was turned away, or over before its stream came. From its first fact to its last.
import type { CallFailure } from '../../contract/call-record.js';
import type { CallReport, WaitingCall } from '../call-desk.js';
import { type CallEnding, reportedEnd } from './call-ending.js';
import type { CallEnvironment } from '../call-environment.js';
import { CallLedger } from '../facts/call-ledger.js';
import { STREAM_DEADLINE_MS } from '../streams/call-media.js';
import { EndedCall } from './ended-call.js';
import type { PreparedCall } from '../voice/prepared-call.js';

export interface BriefCall extends Omit<WaitingCall, 'host' | 'carrierCallId'> {
  readonly carrierCallId: string | null;
  readonly prepared?: PreparedCall | undefined;
}

export type BriefEnding = Pick<CallEnding, 'reason' | 'outcome' | 'failure' | 'durationMs'>;

/** Webhooks and streams of one number may go to several servers, each of which keeps a record of the call. */
const STREAM_ELSEWHERE: CallFailure = {
  code: 'CARRIER_FAILED',
  message:
    'The carrier opened no stream to this server. If several servers answer this number, another one may have had the call.',
};

/** A carrier's word that a call is over. */
export type EndReport = Extract<CallReport, { type: 'status' }>;

/** The end that a carrier reports. Who was on the line for longer than a stream takes to come has waited for it. */
export function reportedBriefly({ direction }: BriefCall, report: EndReport): BriefEnding {
  const { durationMs } = report;
  const isLost = (durationMs ?? 0) > STREAM_DEADLINE_MS;
  const ending: BriefEnding = isLost
    ? { reason: 'stream-lost', outcome: 'failed', failure: STREAM_ELSEWHERE }
    : reportedEnd(report, { direction, answered: false, started: false });
  return { ...ending, durationMs };
}

/** States all there is to say of the call. */
export function recordBriefly(
  call: BriefCall,
  { reason, outcome = 'failed', failure, durationMs }: BriefEnding,
  environment: CallEnvironment,
): EndedCall {
  const { callId, carrierCallId, caller, callee, direction, prepared } = call;
  const ledger = new CallLedger(callId, environment, undefined, environment.others?.claimedTerm(callId));
  const parties = { carrierCallId, carrier: environment.carrier.id, direction, caller, callee };
  ledger.publish({ type: 'call.status', status: 'initiated', ...parties });
  prepared?.book(ledger, { isCharged: false });
  ledger.publish({
    type: 'call.ended',
    endReason: reason,
    outcome,
    error: failure ?? null,
    media: { framesReceived: 0, framesSent: 0, unexpectedMessages: 0, clears: 0 },
    ...(durationMs === undefined ? {} : { durationMs }),
  });
  return new EndedCall({ callId, carrierCallId, direction, ledger, teardown: undefined });
}
