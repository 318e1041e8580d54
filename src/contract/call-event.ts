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
  LocalRecording,
  MediaCounters,
  ProviderStage,
  Recording,
  ToolCall,
  TranscriptEntry,
  Transfer,
  Turn,
  TurnTokens,
  Usage,
  VoiceMode,
} from './call-record.js';

/** Events of all calls as they happen, in this process: `events` of what `serve` returns, and what a dashboard listens to. */
export interface CallEvents {
  /**
   * Calls `listener` synchronously with every event, in order. `call.ended` waits until the store has it, for at most a second. An error
   * that the listener throws is logged and goes no further. Returns a function that unsubscribes; calling it twice does no harm.
   */
  subscribe(listener: (event: CallEvent) => void): () => void;
}

/** Who talks to whom, over which carrier. Repeated in each event that may be the first of its call. */
export interface CallIdentity {
  /** The carrier's ID of the call; null until it is known. */
  carrierCallId: string | null;
  /** The carrier of the call. */
  carrier: CarrierId;
  /** Whether the call came in or was placed. */
  direction: CallDirection;
  /** The number that calls. */
  caller: string;
  /** The number that is called. */
  callee: string;
  /** Name of the agent; missing if it has none, and for a call that came to no agent. */
  agent?: string;
}

/** What happened, without the envelope, which the owner of the call adds. */
export type CallFact =
  /** The status changed before the media stream was up. */
  | ({
      type: 'call.status';
      /** The new status. */
      status: Exclude<CallStatus, 'completed'>;
    } & CallIdentity)
  /** The media stream is up, and the conversation begins. */
  | ({
      type: 'call.started';
      /** How the agent hears and speaks. */
      mode: VoiceMode;
      /** The AI providers that serve the call. */
      provider: CallProviders;
      /** The language that it begins in, a BCP 47 tag; missing if the agent names none. */
      language?: string;
    } & CallIdentity)
  /** The phase of the conversation changed. The phase always differs from the previous one, and `ending` is the last. */
  | {
      type: 'phase.changed';
      /** The new phase. */
      phase: CallPhase;
      /** The phase before; missing in the first event of a call. */
      previous?: CallPhase;
    }
  /** A piece of transcript was added or replaced. */
  | {
      type: 'transcript.segment';
      /** Replaces an entry with the same ID. A final entry with empty text removes it. */
      entry: TranscriptEntry;
      /** The result of a tool that was still running when its turn completed. */
      tool?: ToolCall;
    }
  /** A turn began. */
  | {
      type: 'turn.started';
      /** Its index, from 0. */
      turnIndex: number;
    }
  /** A turn is complete. */
  | {
      type: 'turn.completed';
      /** The whole turn. It replaces a turn with the same index. */
      turn: Turn;
    }
  /** Cost and usage so far. */
  | {
      type: 'cost.updated';
      /** The cost of the whole call so far. */
      cost: Cost;
      /** The quantities behind it; null while nothing has been measured. */
      usage: Usage | null;
      /** Set when a cost arrives after its turn completed: the index of the turn, its new cost and its tokens. */
      turn?: { index: number; cost: number | null; tokens: TurnTokens | null };
    }
  /** The person on the line pressed a key. */
  | {
      type: 'dtmf.received';
      /** The key: `0` to `9`, `*`, `#`, or `A` to `D`. */
      digit: string;
    }
  /** Answering machine detection has a result. */
  | {
      type: 'amd.detected';
      /** The result. */
      amd: AmdResult;
    }
  /** The carrier finished its recording, or reported that there is none. */
  | {
      type: 'recording.completed';
      /** Where the recording is. */
      recording: Recording;
    }
  /** The recording on the machine of the server began, was paused or went on, was given up, or is there. */
  | {
      type: 'local-recording.updated';
      /** The whole state of the recording. */
      recording: LocalRecording;
    }
  /** A transfer started, or its result is known. */
  | {
      type: 'transfer.updated';
      /** The number that the caller is transferred to. */
      to: string;
      /** Null when the carrier accepted the transfer; set when its result is known. */
      result: Transfer['result'];
    }
  /** Something of note happened. */
  | {
      type: 'incident.noted';
      /** A stable code such as `stream-replaced`, or the code of an error. */
      code: string;
      /** One sentence without numbers, keys or transcript. */
      message: string;
      /** How long it took, in milliseconds, if that is known. */
      durationMs?: number;
    }
  /** A provider works again after a lost connection or a failed request. */
  | {
      type: 'provider.reconnected';
      /** The stage that it serves. */
      stage: ProviderStage;
      /** The provider, as `vendor` or `vendor/model`. */
      provider: string;
      /** The code of the error that interrupted it. */
      code: string;
      /** How long the call was without it, in milliseconds. */
      gapMs: number;
    }
  /** Another provider took over from one that failed. */
  | {
      type: 'provider.replaced';
      /** The stage that failed. */
      stage: ProviderStage;
      /** The provider that failed. */
      from: string;
      /** The provider that took over. */
      to: string;
      /** The code of the error. */
      code: string;
      /** How long the call was without a provider, in milliseconds. */
      gapMs: number;
      /** The voice mode from now on. */
      mode: VoiceMode;
      /** All providers that serve the call from now on. */
      provider: CallProviders;
    }
  /** The call goes on in another language. */
  | {
      type: 'language.changed';
      /** The language from now on, a BCP 47 tag. */
      language: string;
      /** The language before. */
      previous: string;
      /** All providers that serve the call from now on: each language may have a voice of its own. */
      provider: CallProviders;
    }
  /** The agent handed the caller over to another one. */
  | {
      type: 'agent.changed';
      /** Name of the agent that had the caller; null if it has none. */
      from: string | null;
      /** Name of the agent that has the caller from now on. */
      to: string;
      /** What the first told the second, in one line. */
      summary: string;
      /** The language from now on, a BCP 47 tag; missing if that agent names none. */
      language?: string;
      /** The voice mode from now on. */
      mode: VoiceMode;
      /** All providers that serve the call from now on. */
      provider: CallProviders;
    }
  /** How loud both sides were. Sent once, before the end of a call that had audio. */
  | {
      type: 'audio.measured';
      /** The loudness of both sides over time. */
      envelope: AudioEnvelope;
    }
  /** The call ended. Only late events follow, such as the carrier's price or recording (`LATE_FACTS`); any other is ignored. */
  | {
      type: 'call.ended';
      /** Why the call ended. */
      endReason: EndReason;
      /** What became of the attempt to talk. */
      outcome: CallOutcome;
      /** What went wrong; null if nothing did. */
      error: CallFailure | null;
      /** Counters of the media stream; null if the process died during the call. */
      media: MediaCounters | null;
      /** Milliseconds since the answer, as the carrier counts them. Set only if no earlier event reported the answer. */
      durationMs?: number;
      /** Set if the carrier has yet to confirm the hang-up. */
      hangUp?: 'pending';
    }
  /** The state of the hang-up changed, after the end of the call. */
  | {
      type: 'hangup.updated';
      /** The new state. */
      state: HangUpState;
    }
  /** The call was deleted: whoever keeps something of it lets go of it, and of what comes later. Only the ID remains. */
  | {
      type: 'call.forgotten';
    };

/**
 * The fields of every event.
 *
 * Events of one call are ordered by `term`, then by `seq`; events of different calls interleave freely. An event may arrive more than once, and
 * one of a process that has lost its call may come late: ignore one that is not above the highest you have. A gap in `seq` means that events
 * were lost on the way, or that the process died during the call. In a higher term `seq` may begin below the last of the term before: what was stated from there on in
 * lower terms no longer holds, nor does an end of theirs. Carry on, or fetch the whole record: every event carries whole values, never differences, so later events correct what you
 * missed. Ignore a call until its first `call.status` or `call.started`: earlier events do not say who is talking.
 */
export interface CallEventEnvelope {
  /** ID of the call, assigned by offhook. */
  callId: string;
  /** The process that states the event. */
  nodeId: string;
  /** 1 in the process that the call began in, and one higher each time another process takes the call over. */
  term: number;
  /** The process that the call began in; missing if that is `nodeId`. */
  originId?: string;
  /** Number of the event in its call, from 1, one higher each time. A process that takes over counts on from the last event it knows. */
  seq: number;
  /** When it happened, in epoch milliseconds. */
  at: number;
}

/** The place of an event in its call. */
export type FactPlace = Pick<CallEventEnvelope, 'term' | 'seq'>;

export type CallEvent = CallEventEnvelope & CallFact;

export type CallEventType = CallEvent['type'];

/** The types that may follow `call.ended`: its price, its recordings, its hang-up, trouble with them, and that it was deleted. */
export const LATE_FACTS: readonly CallEventType[] = [
  'recording.completed',
  'local-recording.updated',
  'cost.updated',
  'incident.noted',
  'hangup.updated',
  'call.forgotten',
];

/** An event of one type. */
export type CallEventOf<T extends CallEventType> = Extract<CallEvent, { type: T }>;
