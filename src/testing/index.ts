// Entry of `offhook/testing`: calls without a telephone.
export { type CallerVoice, openEmbeddedVoice } from './caller-voice.js';
export type { CallerStep, OpenVoice } from './caller-script.js';
export { createId, type IdPrefix } from './carrier-a/ids.js';
export { readMarkup, type MarkupAnswer, type MarkupReading } from './carrier-a/markup.js';
export { testStore, type StoreCheck } from './conformance/store.js';
export {
  startRestServer,
  type CarrierARestServer,
  type NumberSettings,
  type RestCall,
  type RestRequest,
  type RestServerOptions,
} from './carrier-a/rest-server.js';
export { signedText, signRequest, type SignedRequest } from './carrier-a/signing.js';
export type { StreamEnd, Violation } from './carrier-a/stream.js';
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
export { findSpeech, type Span, type SpanOptions } from './speech-spans.js';
export { makeSpeechTones } from './tones.js';
export { downmix, readWav, writeWav, type WavAudio } from './wav.js';
export {
  type ChatCompletionsEmulator,
  type ChatExchange,
  emulateChatCompletions,
  type EmulateChatCompletionsOptions,
} from './emulators/chat-completions.js';
export type { EmulatedReply, EmulatedToolCall, ReplyStyle } from './emulators/chat-reply-encoding.js';
export {
  type DeepgramConnection,
  type DeepgramEmulator,
  emulateDeepgram,
  type EmulateDeepgramOptions,
} from './emulators/deepgram.js';
export {
  type ElevenLabsConnection,
  type ElevenLabsEmulator,
  emulateElevenLabs,
  type EmulateElevenLabsOptions,
} from './emulators/elevenlabs.js';
export type { EmulatorRequest, WireTroubles } from './emulators/vendor-peer.js';
export type { Emulator, EmulatorOptions, Refusal } from './emulators/vendor-server.js';
export {
  type LanguageModelSetup,
  type LanguageModelSuiteOptions,
  testLanguageModel,
  type WantedReply,
} from './conformance/language-model.js';
export type { ProviderCheck, ProviderSetup } from './conformance/provider-check.js';
export { type SpeechToTextSetup, testSpeechToText } from './conformance/speech-to-text.js';
export { testTextToSpeech, type TextToSpeechSetup } from './conformance/text-to-speech.js';
