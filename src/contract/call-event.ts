// Every fact about a call. Facts are few, ordered and durable; audio never travels here.
import type {
  AmdResult,
  CallDirection,
  CallFailure,
  CallOutcome,
  CallProviders,
  CallStatus,
  CarrierId,
  Cost,
  EndReason,
  MediaCounters,
  Recording,
  TranscriptEntry,
  Transfer,
  Turn,
  Usage,
  VoiceMode,
} from './call-record.js';

/** Who talks to whom, over which carrier. Repeated in the facts that may be the first of a call. */
export interface CallIdentity {
  carrierCallId: string | null;
  carrier: CarrierId;
  direction: CallDirection;
  caller: string;
  callee: string;
}

/** What happened, without the envelope. The owner of the call adds that. */
export type CallFact =
  /** The carrier reports progress of a call that has no stream yet. */
  | ({ type: 'call.status'; status: Exclude<CallStatus, 'completed'> } & CallIdentity)
  /** The media stream is up and the engine runs. */
  | ({ type: 'call.started'; mode: VoiceMode; provider: CallProviders } & CallIdentity)
  /** A partial or final piece of transcript. The same id replaces; a final entry with empty text takes the entry away. */
  | { type: 'transcript.segment'; entry: TranscriptEntry }
  | { type: 'turn.started'; turnIndex: number }
  | { type: 'turn.completed'; turn: Turn }
  | { type: 'cost.updated'; cost: Cost; usage: Usage | null }
  | { type: 'dtmf.received'; digit: string }
  | { type: 'amd.detected'; amd: AmdResult }
  | { type: 'recording.completed'; recording: Recording }
  /** `result` is null when the carrier has taken the order, and set when it is known. */
  | { type: 'transfer.updated'; to: string; result: Transfer['result'] }
  | { type: 'incident.noted'; code: string; message: string }
  /** Always the last fact but for `recording.completed`, `cost.updated` and `incident.noted`, which may come later. */
  | {
      type: 'call.ended';
      endReason: EndReason;
      outcome: CallOutcome;
      error: CallFailure | null;
      media: MediaCounters;
    };

/**
 * Envelope of a fact. `seq` starts at 1 and rises by one per call; the end of a call whose process died leaves a gap. `at` is epoch
 * milliseconds.
 */
export interface CallEventEnvelope {
  callId: string;
  nodeId: string;
  seq: number;
  at: number;
}

export type CallEvent = CallEventEnvelope & CallFact;

export type CallEventType = CallEvent['type'];

/** An event of one type. */
export type CallEventOf<T extends CallEventType> = Extract<CallEvent, { type: T }>;
