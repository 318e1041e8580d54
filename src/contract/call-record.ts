// The one truth about a call, as REST, SSE, callbacks and exports show it.
// Times are epoch milliseconds, durations milliseconds. What is not known is null, never 0.

/** The telephony carriers that this package speaks to. */
/** The carriers that `offhook simulate` and `offhook/testing` play. */
export const SIMULATED_CARRIERS = ['carrier-a', 'carrier-b'] as const;
export type SimulatedCarrier = (typeof SIMULATED_CARRIERS)[number];

/** Names a carrier: `carrier-a`, `carrier-b`, or the id of one of your own, in kebab-case. */
export type CarrierId = string;

/** What an id of a carrier looks like: kebab-case, at most 40 characters. */
export const CARRIER_ID = /^(?=.{1,40}$)[a-z][a-z\d]*(?:-[a-z\d]+)*$/;

export type CallDirection = 'inbound' | 'outbound';

/** `initiated` and `ringing` count as active in every total. A status never goes backwards. */
export type CallStatus = 'initiated' | 'ringing' | 'active' | 'completed';

/**
 * What became of the attempt to talk. `answered`: somebody was on the line. `voicemail`: a machine. `canceled`: it was given up
 * before the answer, by the caller, by an operator or because the server stopped. `failed`: it could not be connected, its audio never
 * came, or machine detection found a fax.
 */
export const CALL_OUTCOMES = ['answered', 'voicemail', 'no-answer', 'busy', 'failed', 'canceled'] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

/**
 * Why a call ended. Exactly one per call. `caller-hangup`: the person on the line left, in either direction. `agent-hangup`: also
 * after a message on a machine. `carrier-hangup`: the carrier reports an end that nothing else explains. `operator-hangup` and
 * `server-shutdown` also end calls that ring or are being dialled. `transferred`: also when the server stops in the middle of it.
 */
export const END_REASONS = [
  'caller-hangup',
  'agent-hangup',
  'operator-hangup',
  'carrier-hangup',
  'transferred',
  'stream-lost',
  'protocol-error',
  'provider-failed',
  'max-duration',
  'idle',
  'budget',
  'over-capacity',
  'no-answer',
  'busy',
  'failed',
  'canceled',
  'server-shutdown',
  'process-lost',
] as const;
export type EndReason = (typeof END_REASONS)[number];

/** `realtime`: one model hears and speaks. `pipeline`: speech-to-text, language model, text-to-speech. */
export type VoiceMode = 'realtime' | 'pipeline';

/** Part of a voice mode that can fail; `engine` is a realtime model, or the mode itself. */
export const PROVIDER_STAGES = ['stt', 'llm', 'tts', 'engine'] as const;
export type ProviderStage = (typeof PROVIDER_STAGES)[number];

/** Names (`vendor` or `vendor/model`) of the AI providers of a call, those of now or at its end. A part that the mode does not have is null. */
export interface CallProviders {
  engine: string | null;
  stt: string | null;
  llm: string | null;
  tts: string | null;
}

/** Speaker of a transcript entry. */
export type TranscriptRole = 'user' | 'agent' | 'system' | 'tool';

/** One piece of the transcript. An agent's entry holds what the caller heard. */
export interface TranscriptEntry {
  /** Unique in the call. An entry with the same id replaces the earlier one. */
  id: string;
  turnIndex: number;
  role: TranscriptRole;
  text: string;
  at: number;
  /** False while the text may still change. */
  final: boolean;
  /** The agent was cut off here. */
  interrupted?: boolean;
}

/**
 * Latency of one turn, in milliseconds. The stages are contiguous: each starts where the one before ended, and
 * `endpointingMs` to `sendMs` sum to `totalMs`, which is the time from the end of the caller's speech to the first agent
 * frame handed to the carrier. `heardMs` is the same up to the carrier's playback acknowledgement.
 * A turn that the agent opens (the greeting) has no end of speech: its fields are null.
 */
export interface TurnLatency {
  endpointingMs: number | null;
  sttMs: number | null;
  llmFirstTokenMs: number | null;
  sentenceMs: number | null;
  ttsFirstByteMs: number | null;
  sendMs: number | null;
  totalMs: number | null;
  heardMs: number | null;
}

/** A tool that the model called in a turn. */
export interface ToolCall {
  name: string;
  startedAt: number;
  /** Null while it runs, for which its turn does not wait, and where nobody knows: the call ended first, or the tool was given up. */
  durationMs: number | null;
  error: string | null;
}

/** The caller speaks, the agent answers. */
export interface Turn {
  index: number;
  startedAt: number;
  userText: string;
  /** What the caller heard of the answer. */
  agentText: string;
  /** What was generated and not heard. */
  agentTextUnheard: string;
  interrupted: boolean;
  latency: TurnLatency;
  /** From the end of the caller's speech to the first frame of a filler sent, in milliseconds; null when none was said. */
  fillerMs: number | null;
  /**
   * What its recognition, replies (dropped ones, too) and speech have cost, in US dollars; null when a price is unknown. What belongs
   * to no turn, like the line, the recogniser's last seconds and what the application spends, is in the cost of the call alone.
   */
  cost: number | null;
  toolCalls: ToolCall[];
}

/**
 * Figures over the answered turns of a call: those with a `totalMs`. An answer that the caller interrupted counts. A turn without an
 * answer (empty, or cut off before the first sound) and one that the agent opened do not.
 */
export interface CallLatency {
  avgMs: number | null;
  p50Ms: number | null;
  p95Ms: number | null;
  p99Ms: number | null;
  /** Average of each stage over the same turns, so that the stages sum to `avgMs` but for the rounding of each. */
  stages: TurnLatency;
}

/** Money in US dollars, rounded to 6 decimals. A component whose price is unknown is null; `total` is the sum of what is known, as it stands here. */
export interface Cost {
  stt: number | null;
  /** A realtime model is all here, its voice included. */
  llm: number | null;
  tts: number | null;
  /** An estimate by the time since the answer, until the carrier tells its own figure. */
  telephony: number | null;
  total: number;
  currency: 'USD';
  /**
   * True while a component is unknown, guessed by its provider, or not yet the carrier's own figure. It stays true where the caller was
   * handed over: the carrier bills that leg apart (incident `cost-incomplete`).
   */
  estimated: boolean;
}

/** Quantities that cost is computed from. */
export interface Usage {
  /** With three decimals. */
  sttSeconds: number;
  llmInputTokens: number;
  llmCachedTokens: number;
  llmOutputTokens: number;
  ttsCharacters: number;
  /** In the carrier's steps, as they are billed; in begun seconds where the line has no price. */
  telephonySeconds: number;
}

/**
 * How the hang-up at the carrier stands. `pending`: the carrier has not confirmed it, and is asked again, for a day and across restarts.
 * `done`: the leg is over. `failed`: the carrier refused, or there was no more time; the leg may still be up, and billed, until the carrier
 * reports its end.
 */
export const HANG_UP_STATES = ['pending', 'done', 'failed'] as const;
export type HangUpState = (typeof HANG_UP_STATES)[number];

/**
 * What the caller experiences of the conversation. `listening`: it is their turn to speak. `hearing`: they are heard talking, or the words
 * of what was heard are not all there; a realtime model that does not tell when they begin and end has no such phase. `thinking`: an
 * answer, or the rest of one, is owed, and nothing is heard of it. `speaking`: they hear the agent. `held`: nobody listens to them, for
 * they are being transferred or their stream is replaced, or a machine plays its greeting. `ending`: the agent has said its last, or the
 * carrier says it.
 */
export const CALL_PHASES = ['listening', 'hearing', 'thinking', 'speaking', 'held', 'ending'] as const;
export type CallPhase = (typeof CALL_PHASES)[number];

/** The phase of now, and since when. */
export interface CurrentPhase {
  name: CallPhase;
  since: number;
}

/** Messages of the media stream, counted. */
export interface MediaCounters {
  framesReceived: number;
  framesSent: number;
  /** Messages that were malformed, unknown or out of place. */
  unexpectedMessages: number;
  /** Times that playback was cut off. */
  clears: number;
}

export interface Recording {
  url: string | null;
  durationMs: number | null;
  status: 'completed' | 'absent';
}

/** Verdict of answering-machine detection. */
export interface AmdResult {
  answeredBy: 'human' | 'machine' | 'fax' | 'unknown';
  detectedAt: number;
}

/** Handing the caller over to another number. */
export interface Transfer {
  to: string;
  startedAt: number;
  /**
   * Null while it is not known, and for good where the call ended before the carrier told: the caller hung up meanwhile, or the server
   * stopped. A carrier may tell only after the talk that one has `connected`; one of which nothing is heard for 45 s has.
   */
  result: 'connected' | 'busy' | 'no-answer' | 'failed' | null;
}

/** Something of note in a call that is no turn: a stream that was replaced, a carrier or provider that failed. */
export interface Incident {
  at: number;
  /** A stable word like `stream-replaced`, or the code of an error. */
  code: string;
  /** One sentence without numbers, keys or transcript. */
  message: string;
  /**
   * How long the call was without what had failed, in milliseconds; null where that does not apply. Of `sorry-spoken`: how long the caller
   * had heard nothing while they waited, or since the failure where they did not wait, until the agent's own sorry began or the carrier had
   * taken the order to say one.
   */
  durationMs: number | null;
}

/** How loud both sides were over the call: enough for a picture of it, not for a word. */
export interface AudioEnvelope {
  /** When bucket 0 begins, epoch milliseconds. */
  startedAt: number;
  /** Length of a bucket: 20 ms times a power of two, so that a channel has at most 2,000. */
  bucketMs: number;
  /** Base64 of signed bytes: least and greatest sample of bucket 0, of bucket 1, … in 1/128 of full scale. */
  caller: string;
  /** The same of the agent, as far as the caller heard it. */
  agent: string;
  /** Marks that came back, in milliseconds since `startedAt`; at most 500. */
  marksMs: number[];
  /** Times at which the agent was cut off, in milliseconds since `startedAt`; at most 500. */
  clearsMs: number[];
}

/** What went wrong in a call that ended in trouble. */
export interface CallFailure {
  code: string;
  message: string;
}

export interface CallRecord {
  /** Ours: opaque, URL-safe, known before the first audio. */
  callId: string;
  carrierCallId: string | null;
  carrier: CarrierId;
  direction: CallDirection;
  caller: string;
  callee: string;
  status: CallStatus;
  outcome: CallOutcome | null;
  endReason: EndReason | null;
  startedAt: number;
  answeredAt: number | null;
  endedAt: number | null;
  /** From answer to end; null until the end, and for a call that was never answered. */
  durationMs: number | null;
  mode: VoiceMode | null;
  provider: CallProviders;
  /** The process that owns or owned the call. */
  nodeId: string;
  /** Null before the conversation, and once the call is over. */
  phase: CurrentPhase | null;
  turnCount: number;
  /** In the order of their index; the first 5000. `turnCount` counts on. */
  turns: Turn[];
  /** The first 5000 entries; the last of so many says that the rest is missing. */
  transcript: TranscriptEntry[];
  latency: CallLatency;
  cost: Cost;
  /** Null while nothing has been measured. */
  usage: Usage | null;
  /** Null until the end, which tells them. */
  media: MediaCounters | null;
  recording: Recording | null;
  amd: AmdResult | null;
  /** The last transfer of the call. */
  transfer: Transfer | null;
  /** Oldest first, at most 100. */
  incidents: Incident[];
  /** Null until the end, and for a call without audio. */
  envelope: AudioEnvelope | null;
  error: CallFailure | null;
  /** Null until the end, and where the carrier was not asked: it had ended the call by itself, or the caller was handed over. */
  hangUp: HangUpState | null;
  /** Sequence number of the last event that is part of this record. */
  seq: number;
}
