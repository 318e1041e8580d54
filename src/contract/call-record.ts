// The one truth about a call, as REST, SSE, callbacks and exports show it.
// Times are epoch milliseconds, durations milliseconds. What is not known is null, never 0.

/** The carriers that `offhook simulate` and `offhook/testing` play. */
export const SIMULATED_CARRIERS = ['carrier-a', 'carrier-b'] as const;
export type SimulatedCarrier = (typeof SIMULATED_CARRIERS)[number];

/** ID of a carrier: `carrier-a`, `carrier-b`, or that of your own carrier, in kebab-case. */
export type CarrierId = string;

const KEBAB_CASE = /^(?=.{1,40}$)[a-z][a-z\d]*(?:-[a-z\d]+)*$/;

/** A valid carrier ID: kebab-case, at most 40 characters. */
export const CARRIER_ID = KEBAB_CASE;

/** A valid name of an agent: kebab-case, at most 40 characters. */
export const AGENT_NAME = KEBAB_CASE;

/** Whether the call came in or was placed. */
export type CallDirection = 'inbound' | 'outbound';

/** Status of a call. It never goes back. Totals count `initiated` and `ringing` calls as active. */
export type CallStatus = 'initiated' | 'ringing' | 'active' | 'completed';

/**
 * What became of the attempt to talk. `answered`: a person was on the line. `voicemail`: an answering machine was. `canceled`: the caller,
 * an operator or the server gave up before the answer. `failed`: the call could not be connected, its audio never arrived, or a fax
 * answered.
 */
export const CALL_OUTCOMES = ['answered', 'voicemail', 'no-answer', 'busy', 'failed', 'canceled'] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

/**
 * Why a call ended; each call has exactly one reason. `caller-hangup`: the person on the line hung up, in either direction.
 * `agent-hangup`: the agent did, also after leaving a voicemail. `carrier-hangup`: the carrier reported an end that nothing else explains.
 * `rejected`: the application's `agent` function did not take the call. `operator-hangup` and `server-shutdown` may also end calls that ring or are being placed. `transferred`: the caller was transferred, or
 * was being transferred when the server stopped.
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
  'rejected',
  'no-answer',
  'busy',
  'failed',
  'canceled',
  'server-shutdown',
  'process-lost',
] as const;
export type EndReason = (typeof END_REASONS)[number];

/** `realtime`: one model hears and speaks. `pipeline`: speech-to-text, then a language model, then text-to-speech. */
export type VoiceMode = 'realtime' | 'pipeline';

/** A stage that can fail. `engine` is a realtime model, or the voice mode as a whole. */
export const PROVIDER_STAGES = ['stt', 'llm', 'tts', 'engine'] as const;
export type ProviderStage = (typeof PROVIDER_STAGES)[number];

/**
 * The AI providers that serve the call, or served it last, as `vendor` or `vendor/model`. Stages that the voice mode does not have are
 * null.
 */
export interface CallProviders {
  /** Realtime model. */
  engine: string | null;
  /** Speech-to-text. */
  stt: string | null;
  /** Language model. */
  llm: string | null;
  /** Text-to-speech. */
  tts: string | null;
}

/** Speaker of a transcript entry. */
export type TranscriptRole = 'user' | 'agent' | 'system' | 'tool';

/** One piece of the transcript. */
export interface TranscriptEntry {
  /** Unique in the call. An entry with the same ID replaces the earlier one. */
  id: string;
  /** The turn that it belongs to. */
  turnIndex: number;
  /** Who speaks. */
  role: TranscriptRole;
  /** The words. For the agent, the ones that the caller heard. */
  text: string;
  /** When it was said. */
  at: number;
  /** False while the text may still change. */
  final: boolean;
  /** True if the caller interrupted the agent here. */
  interrupted?: boolean;
}

/**
 * Latency of one turn, in milliseconds. Each stage starts where the one before ended, and `endpointingMs` to `sendMs` add up to `totalMs`.
 * All fields are null for a turn that the agent opens, such as the greeting.
 */
export interface TurnLatency {
  /** From the end of the caller's speech until offhook decides that they have finished. */
  endpointingMs: number | null;
  /** Until the last words are recognized. */
  sttMs: number | null;
  /** Until the first token of the answer. */
  llmFirstTokenMs: number | null;
  /** Until the first sentence is complete. */
  sentenceMs: number | null;
  /** Until the first audio of that sentence. */
  ttsFirstByteMs: number | null;
  /** Until the first frame is handed to the carrier. */
  sendMs: number | null;
  /** From the end of the caller's speech to the first frame handed to the carrier. */
  totalMs: number | null;
  /** From the end of the caller's speech until the carrier confirms playback. */
  heardMs: number | null;
}

/**
 * What a tool was called with, or what came of it. All tools of a call have 128 KiB, counted as JSON: what is beyond has an empty text, and is `cut`.
 */
export interface ToolText {
  /** At most the first 4,096 bytes, as UTF-8. */
  text: string;
  /** True if that is not all of it. */
  cut: boolean;
}

/** A tool that the model called in a turn. */
export interface ToolCall {
  /** ID of its transcript entry; null if it is not known. */
  id: string | null;
  /** Name of the tool. */
  name: string;
  /** The arguments, as the model wrote them: JSON, unless the model failed to write it. Null if they are not known, or not kept (`privacy`). */
  arguments: ToolText | null;
  /** What the model was told: text or JSON, also of an error. Null while the tool runs, and if it is not known or not kept. */
  result: ToolText | null;
  /** When it started. */
  startedAt: number;
  /** How long it ran. Null while it runs, and for good if the call ended first or the tool was given up. A turn does not wait for it. */
  durationMs: number | null;
  /** What went wrong; null if nothing did. */
  error: string | null;
}

/** Tokens of the language or realtime model in one turn, those of replies that were discarded included. */
export interface TurnTokens {
  /** Input tokens: text and audio, cached ones included. */
  inputTokens: number;
  /** Those of `inputTokens` that came from a cache. */
  cachedTokens: number;
  /** Those of `inputTokens` that are audio. */
  audioInputTokens: number;
  /** Output tokens: text and audio. */
  outputTokens: number;
  /** Those of `outputTokens` that are audio. */
  audioOutputTokens: number;
}

/** The caller speaks, the agent answers. */
export interface Turn {
  /** Position in the call, from 0. */
  index: number;
  /** Name of the agent whose turn it is; null if it has none. */
  agent: string | null;
  /** When it began. */
  startedAt: number;
  /**
   * When the caller had finished what it answers, which its latency counts from. Null if it answers nothing that was said, as a greeting does,
   * and if nobody reported that end.
   */
  speechEndedAt: number | null;
  /** What the caller said. */
  userText: string;
  /** What the caller heard of the answer. */
  agentText: string;
  /** What was generated but not heard. */
  agentTextUnheard: string;
  /** True if the caller interrupted the answer. */
  interrupted: boolean;
  /** Latency of this answer. */
  latency: TurnLatency;
  /** From the end of the caller's speech to the first frame of a filler, in milliseconds; null if none was said. */
  fillerMs: number | null;
  /**
   * Cost of its recognition, replies (discarded ones included) and speech, in US dollars; null if a price is unknown. The cost of the call
   * also includes what belongs to no turn: the line, the recognizer's last seconds, and what the application spends.
   */
  cost: number | null;
  /** Tokens of its replies; null if there was no model, or its provider did not report all of them, as for some replies that are interrupted. */
  tokens: TurnTokens | null;
  /** Tools called in this turn. */
  toolCalls: ToolCall[];
}

/**
 * Latency over the answered turns of a call: those with a `totalMs`, interrupted answers included. Turns without an audible answer and
 * turns that the agent opened do not count. Null if there is no answered turn.
 */
export interface CallLatency {
  /** Average `totalMs`. */
  avgMs: number | null;
  /** Median `totalMs`. */
  p50Ms: number | null;
  /** 95th percentile of `totalMs`. */
  p95Ms: number | null;
  /** 99th percentile of `totalMs`. */
  p99Ms: number | null;
  /** Average of each stage over the same turns. The stages add up to `avgMs`, except for rounding. */
  stages: TurnLatency;
}

/** Cost in US dollars, rounded to 6 decimals. A component with an unknown price is null. */
export interface Cost {
  /** Speech-to-text. */
  stt: number | null;
  /** Language model. With a realtime model, everything it does, its voice included. */
  llm: number | null;
  /** Text-to-speech. */
  tts: number | null;
  /** The carrier: estimated from the time since the answer until the carrier reports its own figure. */
  telephony: number | null;
  /** Sum of the known components. */
  total: number;
  /** Always US dollars. */
  currency: 'USD';
  /**
   * True while a component is unknown, guessed by its provider, or not yet reported by the carrier. It stays true for a transferred
   * caller: the carrier bills that leg separately (incident `cost-incomplete`).
   */
  estimated: boolean;
}

/** The quantities that the cost is computed from. */
export interface Usage {
  /** Seconds of audio transcribed, with three decimals. */
  sttSeconds: number;
  /** Input tokens. */
  llmInputTokens: number;
  /** Input tokens that came from a cache. */
  llmCachedTokens: number;
  /** Output tokens. */
  llmOutputTokens: number;
  /** Characters synthesized. */
  ttsCharacters: number;
  /** Seconds billed by the carrier, in its billing steps; rounded up to whole seconds if the line has no price. */
  telephonySeconds: number;
}

/**
 * State of the hang-up at the carrier. `pending`: the carrier has not confirmed it; offhook keeps asking for a day, across restarts.
 * `done`: the leg is over. `failed`: the carrier refused, or the day is over; the leg may still be up and billed until the carrier reports
 * its end.
 */
export const HANG_UP_STATES = ['pending', 'done', 'failed'] as const;
export type HangUpState = (typeof HANG_UP_STATES)[number];

/**
 * Phase of the conversation, as the caller experiences it. `listening`: it is the caller's turn. `hearing`: the caller is speaking, or their
 * last words are still being recognized; a realtime model that does not report speech has no such phase. `thinking`: the caller is owed an
 * answer, or the rest of one, and hears nothing yet. `speaking`: the caller hears the agent. `held`: nobody is listening, because the caller
 * is being transferred, the stream is being replaced, or an answering machine plays its greeting. `ending`: the goodbye is being said, or
 * was.
 */
export const CALL_PHASES = ['listening', 'hearing', 'thinking', 'speaking', 'held', 'ending'] as const;
export type CallPhase = (typeof CALL_PHASES)[number];

/** The current phase. */
export interface CurrentPhase {
  /** Name of the phase. */
  name: CallPhase;
  /** When it began. */
  since: number;
}

/** Counters of the media stream. */
export interface MediaCounters {
  /** Audio frames received. */
  framesReceived: number;
  /** Audio frames sent. */
  framesSent: number;
  /** Messages that were malformed, unknown or out of place. */
  unexpectedMessages: number;
  /** How often playback was cut off. */
  clears: number;
}

/** The carrier's recording of the call. */
export interface Recording {
  /** Address of the recording at the carrier; null if there is none. */
  url: string | null;
  /** Length of the recording; null if it is unknown. */
  durationMs: number | null;
  /** Whether there is a recording. */
  status: 'completed' | 'absent';
}

/**
 * State of a recording on this machine. `recording`: the call is up. `pending`: the call is over, and the file is being made. `completed`: the
 * file is there. `failed`: there is none.
 */
export const LOCAL_RECORDING_STATUSES = ['recording', 'pending', 'completed', 'failed'] as const;
export type LocalRecordingStatus = (typeof LOCAL_RECORDING_STATUSES)[number];

/**
 * Why a recording lacks something of the call, or all of it. `disk-full`, `disk-slow` (nothing was written for 10 s) and `disk-failed`: it was
 * given up, and has what came before. `tape-damaged`: what was written during the call cannot be read to its end. `key-wrong`: it was encrypted
 * with another key. `too-long`: it does not fit into a file, or is larger than `maxBytes` by itself. `empty`: there was no audio. `lost`: its files are gone. `unavailable`: the folder
 * cannot be used. `moved`: the call came from another server of the cluster, which has what came before.
 */
export const LOCAL_RECORDING_TROUBLES = [
  'disk-full',
  'disk-slow',
  'disk-failed',
  'tape-damaged',
  'key-wrong',
  'too-long',
  'empty',
  'lost',
  'unavailable',
  'moved',
] as const;
export type LocalRecordingTrouble = (typeof LOCAL_RECORDING_TROUBLES)[number];

/** Who paused a recording. `keys`: the caller was keying in a secret. */
export const RECORDING_PAUSERS = ['application', 'tool', 'keys'] as const;
export type RecordingPauser = (typeof RECORDING_PAUSERS)[number];

/** A time in which nothing was recorded: both sides are silent there. */
export interface RecordingPause {
  /** When it began. */
  startedAt: number;
  /** When it ended; null while it lasts, and for one that lasted until the end of the call. */
  endedAt: number | null;
  /** Who asked for it first. */
  by: RecordingPauser;
}

/** The most pauses that a record names. Later ones are kept as well, and not named. */
export const MAX_RECORDING_PAUSES = 100;

/** The recording of the call on the machine of its server. */
export interface LocalRecording {
  /** How far it is. */
  status: LocalRecordingStatus;
  /** Name of the file in the folder `recordings` of `dataDir`; null until it is there. */
  file: string | null;
  /** When it begins. */
  startedAt: number;
  /** Its length, pauses and gaps included; null until it is there. */
  durationMs: number | null;
  /** Size of the file on disk, of which encryption is a small part; null until it is there. */
  bytes: number | null;
  /** Pauses, oldest first, at most 100. */
  pauses: RecordingPause[];
  /** Why it lacks something of the call; null if it does not. */
  trouble: LocalRecordingTrouble | null;
  /** In a cluster: `cluster.address` of the server that has it. Any server plays it. */
  server?: string;
}

/** Result of answering machine detection. */
export interface AmdResult {
  /** Who or what answered. */
  answeredBy: 'human' | 'machine' | 'fax' | 'unknown';
  /** When the result came. */
  detectedAt: number;
}

/** A transfer of the caller to another number. */
export interface Transfer {
  /** The number, in E.164 form. */
  to: string;
  /** When the carrier accepted the transfer. */
  startedAt: number;
  /**
   * Null until the result is known, and for good if the call ends first. Some carriers report `connected` only after the transferred
   * conversation; a transfer without news for 45 s counts as connected.
   */
  result: 'connected' | 'busy' | 'no-answer' | 'failed' | null;
}

/** A hand-off of the caller from one agent to another. */
export interface Handoff {
  /** When it happened. */
  at: number;
  /** Name of the agent that had the caller; null if it has none. */
  from: string | null;
  /** Name of the agent that has the caller from then on. */
  to: string;
  /** What the first told the second, in one line. */
  summary: string;
}

/** The most hand-offs of one call. */
export const MAX_HANDOFFS = 10;

/** The most incidents that a record names: a call in trouble must not grow its record without bound. */
export const MAX_INCIDENTS = 100;

/** Something of note during a call, such as a replaced stream or a failed provider. */
export interface Incident {
  /** When it happened. */
  at: number;
  /** A stable code such as `stream-replaced`, or the code of an error. */
  code: string;
  /** One sentence without numbers, keys or transcript. */
  message: string;
  /**
   * How long the call was without what had failed, in milliseconds; null if that does not apply. For `apology-spoken`: how long the caller
   * had heard nothing, counted from when they began to wait, or else from the failure, until the apology began or the carrier accepted it.
   */
  durationMs: number | null;
}

/** How loud both sides were over the call. It is enough to draw a waveform, and not enough to make out a word. */
export interface AudioEnvelope {
  /** When bucket 0 begins, in epoch milliseconds. */
  startedAt: number;
  /** Length of a bucket: 20 ms times a power of two, chosen so that each side has at most 2,000 buckets. */
  bucketMs: number;
  /** Base64 of signed bytes: minimum and maximum sample of each bucket, in 1/128 of full scale. */
  caller: string;
  /** The same for the agent, as far as the caller heard it. */
  agent: string;
  /** Confirmed playback marks, in milliseconds since `startedAt`; at most 500. */
  marksMs: number[];
  /** Times at which the agent was cut off, in milliseconds since `startedAt`; at most 500. */
  clearsMs: number[];
}

/** Why a call ended in trouble. */
export interface CallFailure {
  /** A stable code. */
  code: string;
  /** One sentence for people. */
  message: string;
}

/** Everything that is known about a call. */
export interface CallRecord {
  /** ID of the call, assigned by offhook: opaque, URL-safe, known before the first audio. */
  callId: string;
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
  /** Name of the agent that talks to the caller, or talked last; null if it has none, and for a call that never came to an agent. */
  agent: string | null;
  /** Status of the call. */
  status: CallStatus;
  /** What became of the attempt to talk; null until the end. */
  outcome: CallOutcome | null;
  /** Why the call ended; null until it does. */
  endReason: EndReason | null;
  /** When the call began to ring or was placed. */
  startedAt: number;
  /** When the call was answered; null if it was not. */
  answeredAt: number | null;
  /** When the call ended; null until it does. */
  endedAt: number | null;
  /** From answer to end; null until the end, and for a call that was not answered. */
  durationMs: number | null;
  /** How the agent hears and speaks; null until the call connects. */
  mode: VoiceMode | null;
  /** The AI providers that serve the call, or served it last. */
  provider: CallProviders;
  /** The language of the call, or its last one: a BCP 47 tag. Null if the agent names none, and until the call connects. */
  language: string | null;
  /** The process that owns the call, or owned it last. */
  nodeId: string;
  /** The process that the call began in. */
  originId: string;
  /** The current phase; null before the conversation and once the call has ended. */
  phase: CurrentPhase | null;
  /** Number of completed turns, also beyond the turns that are kept. */
  turnCount: number;
  /** Turns by index, at most the first 5000. */
  turns: Turn[];
  /** In the order in which it was said: at most the first 5000 entries. If there were more, the last one says so. */
  transcript: TranscriptEntry[];
  /** Latency of the answers. */
  latency: CallLatency;
  /** Cost so far, or of the whole call once it has ended. */
  cost: Cost;
  /** Quantities used; null while nothing has been measured. */
  usage: Usage | null;
  /** Counters of the media stream; null until the end. */
  media: MediaCounters | null;
  /** The carrier's recording; null until the carrier reports it. */
  recording: Recording | null;
  /** The recording on the machine of the server; null without `localRecording`, and until the call connects. */
  localRecording: LocalRecording | null;
  /** Result of answering machine detection; null if there is none. */
  amd: AmdResult | null;
  /** The last transfer; null if there was none. */
  transfer: Transfer | null;
  /** Hand-offs from agent to agent, oldest first, at most 10. */
  handoffs: Handoff[];
  /** Incidents, oldest first, at most 100. */
  incidents: Incident[];
  /** Loudness of both sides; null until the end, and for a call without audio. */
  envelope: AudioEnvelope | null;
  /** What went wrong; null if nothing did. */
  error: CallFailure | null;
  /** State of the hang-up; null until the end, and if the carrier was not asked: it had ended the call itself, or the caller was transferred. */
  hangUp: HangUpState | null;
  /** The term of the latest event that is part of this record: one higher for each process that took the call over. */
  term: number;
  /** Number of that event. */
  seq: number;
}
