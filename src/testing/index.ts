// Entry of `offhook/testing`: calls without a telephone.
export { type CallerVoice, openEmbeddedVoice } from './caller-voice.js';
export { openCallingCarrier, type CallingCarrier, type CallingCarrierOptions } from './calling-carrier.js';
export type { CallerStep, OpenVoice } from './caller-script.js';
export type { KeysWhileSpeaking } from './caller-speech.js';
export { createId, type IdPrefix } from './carrier-a/ids.js';
export { readMarkup, type MarkupAnswer, type MarkupReading } from './carrier-a/markup.js';
export { testCarrier } from './conformance/carrier.js';
export type {
  CarrierCheck,
  CarrierFixtures,
  EndpointAnswer,
  EndpointRequest,
} from './conformance/carrier-fixtures.js';
export { type CheckedCluster, type CoordinatorCheck, testCoordinator } from './conformance/coordinator.js';
export { testStore, type StoreCheck, type StoreSuiteOptions } from './conformance/store.js';
export type { Leg as CarrierALeg } from './carrier-a/leg.js';
export type { NumberSettings } from './carrier-a/numbers.js';
export {
  startCarrierASimulator,
  type CarrierASimulator,
  type CarrierASimulatorOptions,
} from './carrier-a/simulator.js';
export type { CarrierBLeg } from './carrier-b/leg-contract.js';
export type {
  ApplicationSettings,
  CarrierBCallee,
  CarrierBDisturbances,
  CarrierBSimulatorOptions,
  DigitsRoute,
  MachineDetection,
  StreamCodecName,
} from './carrier-b/options.js';
export {
  createCarrierBSigner,
  type CarrierBSigner,
  type SignatureHeaders,
} from './carrier-b/signing.js';
export { startCarrierBSimulator, type CarrierBSimulator } from './carrier-b/simulator.js';
export type { CarrierBWebhook, Delivery } from './carrier-b/webhook-sender.js';
export { streamNoise } from './carrier-a/stream-noise.js';
export type { StreamNoise } from './carrier-a/switchboard.js';
export type { OutgoingWebhook, WebhookAnswer } from './carrier-a/webhook-post.js';
export { signJsonRequest, signedText, signRequest, type SignedRequest } from './carrier-a/signing.js';
export { type Ledger, type LedgerEntry, openLedger } from './ledger.js';
export type { LineConditions } from './line-conditions.js';
export type { StreamEnd, Violation } from './stream-end.js';
export type {
  CallAnswerReport,
  CallReport,
  GapReport,
  InterruptionReport,
  TurnReport,
} from './report.js';
export { formatReport } from './report-text.js';
export { resampleRecording } from './resample.js';
export { simulateCall, type SimulateCallOptions } from './simulate-call.js';
export type {
  Callee,
  CarrierSimulator,
  Disturbances,
  InboundCall,
  RestPurpose,
  SeenRequest,
  SentWebhook,
  SimulatedLeg,
  SimulatorOptions,
} from './simulator.js';
export { findSpeech, type Span, type SpanOptions } from './speech-spans.js';
export { makeSpeechTones } from './tones.js';
export { type HeardWord, readTones, ToneReader } from './tone-reader.js';
export { openToneVoice, speakInTones, type ToneOptions, toSound } from './tone-voice.js';
export { downmix, readWav, writeWav, type WavAudio } from './wav.js';
export {
  type AnthropicEmulator,
  type AnthropicExchange,
  emulateAnthropic,
  type EmulateAnthropicOptions,
} from './emulators/anthropic.js';
export type { EmulatedAnthropicReply } from './emulators/anthropic-reply-encoding.js';
export type { AnthropicBlock, AnthropicRequestBody } from './emulators/anthropic-request-checks.js';
export type { ReplyPace } from './emulators/reply-stream.js';
export {
  type AssemblyAIConnection,
  type AssemblyAIEmulator,
  emulateAssemblyAI,
  type EmulateAssemblyAIOptions,
} from './emulators/assemblyai.js';
export {
  type CartesiaConnection,
  type CartesiaEmulator,
  emulateCartesia,
  type EmulateCartesiaOptions,
} from './emulators/cartesia.js';
export {
  type ChatCompletionsEmulator,
  type ChatExchange,
  emulateChatCompletions,
  type EmulateChatCompletionsOptions,
} from './emulators/chat-completions.js';
export type { EmulatedReply, EmulatedToolCall, ReplyStyle } from './emulators/chat-reply-encoding.js';
export {
  type DeepgramConnection,
  type DeepgramUtterance,
  type DeepgramEmulator,
  emulateDeepgram,
  type EmulateDeepgramOptions,
} from './emulators/deepgram.js';
export {
  type AuraConnection,
  type AuraEmulator,
  emulateDeepgramAura,
  type EmulateDeepgramAuraOptions,
} from './emulators/deepgram-aura.js';
export {
  type ElevenLabsConnection,
  type ElevenLabsEmulator,
  emulateElevenLabs,
  type EmulateElevenLabsOptions,
} from './emulators/elevenlabs.js';
export { type ElevenLabsAgentsEmulator, emulateElevenLabsAgents } from './emulators/elevenlabs-agents.js';
export type {
  AgentOverride,
  ElevenLabsAgentsConnection,
  EmulateElevenLabsAgentsOptions,
} from './emulators/elevenlabs-agents-script.js';
export { emulateGeminiLive, type GeminiLiveEmulator } from './emulators/gemini-live.js';
export type { EmulateGeminiLiveOptions, GeminiLiveConnection } from './emulators/gemini-live-script.js';
export { emulateOpenAIRealtime, type OpenAIRealtimeEmulator } from './emulators/openai-realtime.js';
export type {
  EmulateOpenAIRealtimeOptions,
  OpenAIRealtimeConnection,
} from './emulators/openai-realtime-script.js';
export {
  emulateOpenAISpeech,
  type EmulateOpenAISpeechOptions,
  type OpenAISpeechEmulator,
  type OpenAISpeechExchange,
} from './emulators/openai-speech.js';
export {
  emulateOpenAITranscription,
  type EmulateOpenAITranscriptionOptions,
  type OpenAITranscriptionEmulator,
  type OpenAITranscriptionExchange,
} from './emulators/openai-transcription.js';
export type {
  EmulatedItem,
  EmulatedRealtimeReply,
  EmulateRealtimeOptions,
  RealtimeAsk,
} from './emulators/realtime-script.js';
export type { SocketTrouble } from './emulators/socket-trouble.js';
export type { TimelineEntry } from './emulators/timeline.js';
export type { WireTroubles } from './emulators/troubled-wire.js';
export type { EmulatorRequest } from './emulators/vendor-peer.js';
export type { Emulator, EmulatorOptions, Refusal } from './emulators/vendor-server.js';
export {
  type LanguageModelSetup,
  type LanguageModelSuiteOptions,
  testLanguageModel,
  type WantedReply,
} from './conformance/language-model.js';
export type { ProviderCheck, ProviderSetup } from './conformance/provider-check.js';
export {
  type RealtimeModelSetup,
  type RealtimeScene,
  testRealtimeModel,
} from './conformance/realtime-model.js';
export { type SpeechToTextSetup, testSpeechToText } from './conformance/speech-to-text.js';
export { testTextToSpeech, type TextToSpeechSetup } from './conformance/text-to-speech.js';
