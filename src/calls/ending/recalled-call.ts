// A call that ended before this process began: what still comes of it goes on where its record stopped.
import type { Clock } from '../../base/clock.js';
import type { CallRecord, Cost, HangUpState, LocalRecording, Recording } from '../../contract/call-record.js';
import { roundMoney } from '../../events/summarize.js';
import type { CallEnvironment } from '../call-environment.js';
import { EndedCall } from './ended-call.js';
import { FactStamp } from '../facts/fact-stamp.js';
import { LineMeter } from '../money/line-meter.js';
import { isCharge, toDollars, toMicros } from '../money/money.js';
import type { LateLedger } from '../session-owner.js';

/** Carriers know within this time after the end what a call costs. */
const CHARGE_DUE_MS = 10 * 60_000;

export function recallCall(record: CallRecord, environment: CallEnvironment): EndedCall {
  const { callId, carrierCallId, direction } = record;
  const ledger = new RecalledLedger(record, environment);
  return new EndedCall({ callId, carrierCallId, direction, ledger, teardown: undefined });
}

/** True while it makes sense to ask the carrier what the call costs. */
export function isChargeDue(record: CallRecord, clock: Clock): boolean {
  return record.cost.estimated && clock.wallNow() - (record.endedAt ?? 0) < CHARGE_DUE_MS;
}

/** For how long the carrier has been asked to end the call, in milliseconds; undefined when it is not to be asked. */
export function hangUpDueMs(record: CallRecord, { carrier, clock }: CallEnvironment): number | undefined {
  const { hangUp, carrierCallId, endedAt } = record;
  const isDue = hangUp === 'pending' && carrierCallId !== null && record.carrier === carrier.id;
  return isDue ? Math.max(0, clock.wallNow() - (endedAt ?? 0)) : undefined;
}

/**
 * True for a call whose process died and that the carrier may still have. One that was being handed over is left to whom it was handed
 * to, and one that is longer ago than a call may take is not asked about: the carrier may have forgotten it.
 */
export function mayBeUp(record: CallRecord, environment: CallEnvironment): boolean {
  const { carrier, clock, maxCallMs } = environment;
  const { carrierCallId, transfer, endedAt } = record;
  const isHandedOver = transfer !== null && (transfer.result === null || transfer.result === 'connected');
  const isRecent = clock.wallNow() - (endedAt ?? 0) < maxCallMs;
  return carrierCallId !== null && record.carrier === carrier.id && !isHandedOver && isRecent;
}

class RecalledLedger implements LateLedger {
  readonly #stamp: FactStamp;
  readonly #record: CallRecord;
  /** What the stream cost beside the carrier's figure, in US dollars. */
  readonly #streamUsd: number;
  #hangUp: HangUpState | null;
  #charge: number | undefined;
  #recording: Recording['status'] | undefined;

  constructor(record: CallRecord, environment: CallEnvironment) {
    const at = record.endedAt ?? record.startedAt;
    // Who had it before this process may have stated what has yet to be heard here.
    const term = environment.others?.claimedTerm(record.callId);
    this.#stamp = new FactStamp(record.callId, environment, { record, at, term });
    this.#record = record;
    this.#hangUp = record.hangUp;
    this.#streamUsd = estimateStream(record, environment);
    this.#recording = record.recording?.status;
  }

  get isChargeKnown(): boolean {
    return this.#charge !== undefined;
  }

  get hangUp(): HangUpState | null {
    return this.#hangUp;
  }

  raiseTerm(term: number): void {
    this.#stamp.raise(term);
  }

  /** A recording that is there is told once; that there is none may be corrected. */
  recorded(recording: Recording): void {
    if (this.#recording === 'completed' || this.#recording === recording.status) return;
    this.#recording = recording.status;
    this.#stamp.publish({ type: 'recording.completed', recording });
  }

  recordedLocally(recording: LocalRecording): void {
    this.#stamp.publish({ type: 'local-recording.updated', recording });
  }

  charged(costUsd: number): void {
    if (!isCharge(costUsd) || this.#charge === costUsd) return;
    this.#charge = costUsd;
    const { cost, usage, transfer, endReason } = this.#record;
    const charged = withCharge(cost, costUsd, this.#streamUsd);
    // The leg of a transfer is billed apart, and what a process used last it may not have told.
    const hasOtherLeg = transfer !== null && (transfer.result === null || transfer.result === 'connected');
    const estimated = charged.estimated || hasOtherLeg || endReason === 'process-lost';
    this.#stamp.publish({ type: 'cost.updated', cost: { ...charged, estimated }, usage });
  }

  hungUp(state: HangUpState): void {
    if (this.#hangUp === state) return;
    this.#hangUp = state;
    this.#stamp.publish({ type: 'hangup.updated', state });
  }

  note(code: string, message: string): void {
    this.#stamp.publish({ type: 'incident.noted', code, message });
  }

  close(): void {
    this.#stamp.close();
  }
}

/** 0 where the carrier's own figure covers the stream, or nobody charges for it. */
function estimateStream({ durationMs }: CallRecord, { carrier, pricing }: CallEnvironment): number {
  if (carrier.supports.callCostCoversStream || durationMs === null) return 0;
  const price = pricing.call(carrier, 'stream');
  return price === undefined ? 0 : toDollars(toMicros(new LineMeter(price).nanos(durationMs)));
}

/** The same cost with the carrier's own figure, and the stream beside it. */
function withCharge(cost: Cost, chargeUsd: number, streamUsd: number): Cost {
  const telephony = roundMoney(chargeUsd + streamUsd);
  const { stt, llm, tts } = cost;
  const total = roundMoney(cost.total - (cost.telephony ?? 0) + telephony);
  return { ...cost, telephony, total, estimated: [stt, llm, tts].includes(null) || streamUsd > 0 };
}
