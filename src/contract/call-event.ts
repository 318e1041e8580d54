// Every fact about a call. Facts are few, ordered and durable; audio never travels here.
import type {
  AmdResult,
  AudioEnvelope,
  CallDirection,
  CallFailure,
  CallOutcome,
  CallPhase,
  CallProviders,
  CallStatus,
  CarrierId,
  Cost,
  EndReason,
  HangUpState,
  MediaCounters,
  ProviderStage,
  Recording,
  ToolCall,
  TranscriptEntry,
  Transfer,
  Turn,
  Usage,
  VoiceMode,
} from './call-record.js';

/** Facts of calls as they happen, in process: what `serve` returns as `events`, and what a dashboard listens to. */
export interface CallEvents {
  /**
   * Hears every fact, synchronously and in order; `call.ended` when the store has it, or after a second. What the listener throws is
   * logged and felt by nobody. Returns the function that ends it, which may be called twice.
   */
  subscribe(listener: (event: CallEvent) => void): () => void;
}

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
  /**
   * What the caller experiences has changed: never to the phase that it was. `previous` is missing in the first one of a call. Behind
   * `ending` no other one comes.
   */
  | { type: 'phase.changed'; phase: CallPhase; previous?: CallPhase }
  /**
   * A partial or final piece of transcript. The same id replaces; a final entry with empty text takes the entry away. `tool`: what became of
   * a tool whose turn was complete already.
   */
  | { type: 'transcript.segment'; entry: TranscriptEntry; tool?: ToolCall }
  | { type: 'turn.started'; turnIndex: number }
  | { type: 'turn.completed'; turn: Turn }
  /** `turn`: what a turn that was complete already has cost after all, where the change is of one. */
  | { type: 'cost.updated'; cost: Cost; usage: Usage | null; turn?: { index: number; cost: number | null } }
  | { type: 'dtmf.received'; digit: string }
  | { type: 'amd.detected'; amd: AmdResult }
  | { type: 'recording.completed'; recording: Recording }
  /** `result` is null when the carrier has taken the order, and set when it is known. */
  | { type: 'transfer.updated'; to: string; result: Transfer['result'] }
  /** `durationMs`: how long it took, where that is known. */
  | { type: 'incident.noted'; code: string; message: string; durationMs?: number }
  /**
   * A provider was in trouble and works again: a connection made anew, a request sent again. `code` is that of the error, `gapMs` the
   * time that the call was without it.
   */
  | { type: 'provider.reconnected'; stage: ProviderStage; provider: string; code: string; gapMs: number }
  /** Another provider took the place of one that failed. `mode` and `provider` name all that talk to the caller now. */
  | {
      type: 'provider.replaced';
      stage: ProviderStage;
      from: string;
      to: string;
      code: string;
      gapMs: number;
      mode: VoiceMode;
      provider: CallProviders;
    }
  /** Once, before the end of a call that had audio. */
  | { type: 'audio.measured'; envelope: AudioEnvelope }
  /** Always the last fact but for the late ones (`LATE_FACTS`). Whatever else comes behind it changes nothing. */
  | {
      type: 'call.ended';
      endReason: EndReason;
      outcome: CallOutcome;
      error: CallFailure | null;
      /** Null where the process died with the call. */
      media: MediaCounters | null;
      /** Time from the answer on, as the carrier counts it. Set where nothing else has told of the answer. */
      durationMs?: number;
      /** Set when the carrier is yet to let go of the call. */
      hangUp?: 'pending';
    }
  /** How the hang-up at the carrier stands, after the end. */
  | { type: 'hangup.updated'; state: HangUpState };

/**
 * Envelope of a fact. `seq` starts at 1 and rises by one per call; the end of a call whose process died leaves a gap. `at` is epoch
 * milliseconds.
 *
 * The facts of one call are delivered in the order of `seq`; facts of different calls mix in any order. A fact may be delivered again
 * at any time: a `seq` that is not above the record's is known. Where `seq` jumps, the facts between are lost to this reader, and it
 * goes on with what came: every fact carries whole values, none a difference, so that what is told again later (cost, transcript
 * entries by their id, turns by their index, the end) is right again, and only what was told nowhere else is missing. A reader that
 * can ask for the whole record does so, and need not wait for it. Facts before the first `call.status` or `call.started` that a reader
 * hears of a call are not for it: without them it does not know who is talking.
 */
export interface CallEventEnvelope {
  callId: string;
  nodeId: string;
  seq: number;
  at: number;
}

export type CallEvent = CallEventEnvelope & CallFact;

export type CallEventType = CallEvent['type'];

/** What may come after the end of a call: its price, its recording, how its hang-up stands, and trouble with that. */
export const LATE_FACTS: readonly CallEventType[] = [
  'recording.completed',
  'cost.updated',
  'incident.noted',
  'hangup.updated',
];

/** An event of one type. */
export type CallEventOf<T extends CallEventType> = Extract<CallEvent, { type: T }>;
