// Front door of the package: re-exports only.
export {
  AuthError,
  CarrierError,
  ConfigError,
  ERROR_CODES,
  type ErrorCode,
  LimitError,
  NotFoundError,
  OffhookError,
  ProtocolError,
  ProviderError,
  RequestError,
  SignatureError,
  RecordingError,
  StoreError,
  TranscoderError,
} from './base/errors.js';
export type { Logger } from './base/log.js';
export type { PlacedCall } from './calls/call-desk.js';
export type { ForgetOutcome, SayOptions, SayOutcome } from './contract/call-command.js';
export type {
  CallPayload,
  CallEndPayload,
  CallStartPayload,
  MetricsPayload,
  TranscriptPayload,
} from './calls/facts/callbacks.js';
export type { PriceOverrides } from './calls/money/pricing.js';
export type { AudioFormat } from './audio/format.js';
export type {
  CallAnswer,
  CallDetails,
  CallerLocation,
  CallLookup,
  CallReference,
  Carrier,
  CarrierCommands,
  CarrierMessage,
  CarrierRest,
  DialRequest,
  MediaDialect,
  MediaMessage,
  NumberUrls,
  StreamInvitation,
  TransferRequest,
  WebhookDialect,
  WebhookReply,
  WebhookRequest,
  WebhookRoute,
} from './carriers/carrier.js';
export type { CarrierSetting } from './carriers/setting.js';
export { CarrierA, type CarrierAOptions } from './carriers/carrier-a/index.js';
export { CarrierB, type CarrierBOptions } from './carriers/carrier-b/index.js';
export { Offhook } from './client.js';
export type { CallHistory } from './client/call-history.js';
export type { RunningServer, ServedCalls } from './client/runtime.js';
export type { SetAgent } from './client/serving-agents.js';
export type { CallContext, Variables } from './contract/call-context.js';
export type {
  CallEvent,
  CallEventOf,
  CallEvents,
  CallEventType,
  CallFact,
  CallIdentity,
} from './contract/call-event.js';
export type {
  AmdResult,
  CallDirection,
  CallFailure,
  CallLatency,
  CallOutcome,
  CallPhase,
  CallProviders,
  CallRecord,
  CallStatus,
  CarrierId,
  Cost,
  CurrentPhase,
  EndReason,
  Handoff,
  HangUpState,
  Incident,
  MediaCounters,
  Recording,
  ToolCall,
  TranscriptEntry,
  TranscriptRole,
  Transfer,
  Turn,
  TurnLatency,
  Usage,
  VoiceMode,
} from './contract/call-record.js';
export type { Aggregates, CallSummary } from './contract/dashboard-api.js';
export type { CallPrice, CallPrices, ModelPrice, PriceOrigin } from './contract/price.js';
export type { Guardrail } from './engines/pipeline/speaking/guardrails.js';
export type { MessageData, OnMessage } from './engines/responder/responder.js';
export type { TransferTargets } from './engines/tools/built-in-tools.js';
export { mcp } from './engines/tools/mcp/mcp.js';
export type { McpHeaders } from './engines/tools/mcp/headers.js';
export type { McpOptions } from './engines/tools/mcp/options.js';
export type { StandardSchema, Tool, ToolContext } from './engines/tools/tool.js';
export { tool, type ToolArguments, type TypedTool } from './engines/tools/typed-tool.js';
export type { ToolSource } from './engines/tools/tool-source.js';
export type { Agent, AgentOptions, HandoffOptions } from './options/agent.js';
export type { BudgetOptions } from './options/budget.js';
export type { CallOptions } from './options/call.js';
export type { ClientOptions, PhoneNumberOptions } from './options/client.js';
export type { FallbackEngine, FallbackOptions } from './options/fallback.js';
export type { IdleOptions } from './options/idle.js';
export type { ByLanguage } from './options/languages.js';
export type { StageOptions } from './options/providers.js';
export type { DrainOptions } from './options/drain.js';
export type { PrivacyOptions } from './options/privacy.js';
export type { LocalRecordingOptions } from './options/local-recording.js';
export type { ResumeOptions } from './options/resume.js';
export type { AgentChoice, ChooseAgent, RingingCall } from './options/agent-choice.js';
export type { AttachOptions, ServeOptions } from './options/serve.js';
export type { TurnTakingOptions } from './options/turn-taking.js';
export type {
  ChatMessage,
  JsonObject,
  LanguageModel,
  LanguageModelEvent,
  LanguageModelRequest,
  ModelToolCall,
  ReplyEnd,
  TokenUsage,
  ToolDefinition,
} from './providers/language-model.js';
export type {
  RealtimeContext,
  RealtimeEvents,
  RealtimeFormats,
  RealtimeModel,
  RealtimeSession,
  RealtimeUsage,
} from './providers/realtime-model.js';
export type { SessionHandle } from './contract/session-handle.js';
export type { Payee, Recovery, Replacement } from './providers/remedy.js';
export type {
  RecognitionGap,
  RecognitionUsage,
  SpeechToText,
  SpeechToTextContext,
  SpeechToTextEvents,
  SpeechToTextSession,
} from './providers/speech-to-text.js';
export type {
  SpokenPiece,
  SynthesisEvents,
  SynthesisUsage,
  TextToSpeech,
  TextToSpeechContext,
  TextToSpeechEvents,
  TextToSpeechSession,
} from './providers/text-to-speech.js';
export type { CallPage, CallQuery, CallReader, CallStore } from './stores/call-store.js';
