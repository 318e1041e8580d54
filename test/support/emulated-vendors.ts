// Every vendor that is asked over a network, emulated for one call. A row is all that the matrix of troubles needs of a vendor: another one
// is one more row, and plays every trouble that its wire can have (`wanted-ends.ts` says how its calls are to end). What runs in this process
// has no row: the embedded voice, the scripted model, the simulated recognizer, and models of the AI SDK, whose connections are its own.
import type { Clock } from '../../src/base/clock.js';
import type { LanguageModel } from '../../src/providers/language-model.js';
import { AnthropicMessages, ChatCompletions } from '../../src/providers/llm/index.js';
import { ElevenLabsAgents, GeminiLive, OpenAIRealtime } from '../../src/providers/realtime/index.js';
import type { RealtimeModel } from '../../src/providers/realtime-model.js';
import type { SpeechToText } from '../../src/providers/speech-to-text.js';
import {
  AssemblyAISpeechToText,
  DeepgramSpeechToText,
  OpenAITranscription,
} from '../../src/providers/stt/index.js';
import type { TextToSpeech } from '../../src/providers/text-to-speech.js';
import {
  CartesiaTextToSpeech,
  DeepgramAura,
  ElevenLabsTextToSpeech,
  OpenAISpeech,
} from '../../src/providers/tts/index.js';
import {
  type ElevenLabsEmulator,
  type Emulator,
  emulateAnthropic,
  emulateAssemblyAI,
  emulateCartesia,
  emulateChatCompletions,
  emulateDeepgram,
  emulateDeepgramAura,
  emulateElevenLabs,
  emulateElevenLabsAgents,
  emulateGeminiLive,
  emulateOpenAIRealtime,
  emulateOpenAISpeech,
  emulateOpenAITranscription,
} from '../../src/testing/index.js';
import { nextReply, QUESTION, type Scene } from './vendor-scene.js';
import type { VendorManner } from './vendor-troubles.js';

export type TroubledStage = 'stt' | 'llm' | 'tts' | 'engine';

/** Of vendors with conversations: what each was told. */
export type ConnectedEmulator = Emulator & { readonly connections?: readonly unknown[] };

/** One vendor, ready for a call. */
export interface EmulatedVendor<Provider> {
  readonly emulator: ConnectedEmulator;
  readonly create: (clock: Clock) => Provider;
}

export interface VendorRow<Provider> extends VendorManner {
  start(scene: Scene): Promise<EmulatedVendor<Provider>>;
}

type Rows<Provider> = Readonly<Record<string, VendorRow<Provider>>>;

const KEY = 'test-key';
/** Stretches of sound that a recognizer may hear in one call, repeats included. */
const UTTERANCES = Array.from({ length: 20 }, () => QUESTION);
/** Thinking takes this long, so that something can happen in it. */
const THINKING_MS = 600;
/** A tool is called sooner. */
const CALLING_MS = 100;
/** The time to think of a recognizer that is given what was said as a whole. */
const RECOGNISING_MS = 400;
/** Words of the caller come behind the end of the turn, so that something can happen before. */
const LATE_WORDS_MS = 400;
const VOICE_PACE = { firstAudioMs: 100, chunkEveryMs: 60 };

export const RECOGNISERS: Rows<SpeechToText> = {
  deepgram: {
    wire: 'socket',
    hasIds: true,
    tellsUsage: false,
    // A key and a rate are refused at the handshake.
    errors: { broken: { type: 'Error', variant: 'INTERNAL', description: 'broken', message: 'broken' } },
    async start({ clock }) {
      const emulator = await emulateDeepgram({ clock, utterances: UTTERANCES });
      return { emulator, create: () => new DeepgramSpeechToText({ apiKey: KEY, baseUrl: emulator.url }) };
    },
  },
  assemblyai: {
    wire: 'socket',
    // Server error, session over, too many sessions, faster than it is spoken; bad message, bad rate, key, money.
    passingCloses: [3005, 3008, 3009, 4029],
    refusingCloses: [3006, 4000, 4001, 4002],
    hasIds: true,
    tellsUsage: false,
    // What an error means is said by the code of the close behind it.
    errors: { broken: { type: 'Error', error_code: 3005, error: 'Server error' } },
    async start({ clock }) {
      const emulator = await emulateAssemblyAI({ clock, utterances: UTTERANCES });
      return { emulator, create: () => new AssemblyAISpeechToText({ apiKey: KEY, baseUrl: emulator.url }) };
    },
  },
  transcription: {
    wire: 'requests',
    // Text alone comes back, with nothing in it that could be another call's.
    hasIds: false,
    tellsUsage: false,
    errors: {
      broken: { error: { message: 'broken', type: 'server_error', code: 'server_error' } },
      busy: { error: { message: 'busy', type: 'requests', code: 'rate_limit_exceeded' } },
      refused: { error: { message: 'no', type: 'insufficient_quota', code: 'insufficient_quota' } },
    },
    async start({ clock }) {
      const emulator = await emulateOpenAITranscription({
        clock,
        utterances: UTTERANCES,
        firstWordMs: RECOGNISING_MS,
      });
      const options = { apiKey: KEY, baseUrl: `${emulator.url}/v1`, model: 'whisper' };
      return { emulator, create: () => new OpenAITranscription(options) };
    },
  },
};

function llmReply(scene: Scene) {
  return { ...nextReply(scene), firstTokenMs: THINKING_MS, tokenMs: 80 };
}

export const LANGUAGE_MODELS: Rows<LanguageModel> = {
  chat: {
    wire: 'requests',
    hasIds: true,
    tellsUsage: true,
    errors: {
      broken: { error: { message: 'broken', type: 'server_error', code: null } },
      busy: { error: { message: 'busy', type: 'requests', code: 'rate_limit_exceeded' } },
      refused: { error: { message: 'no', type: 'insufficient_quota', code: 'insufficient_quota' } },
    },
    async start(scene) {
      const emulator = await emulateChatCompletions({ clock: scene.clock, replies: () => llmReply(scene) });
      const baseUrl = `${emulator.url}/v1`;
      return { emulator, create: (clock) => new ChatCompletions({ apiKey: KEY, baseUrl, clock }) };
    },
  },
  anthropic: {
    wire: 'requests',
    hasIds: true,
    tellsUsage: true,
    errors: {
      broken: anthropicError('api_error'),
      busy: anthropicError('overloaded_error'),
      refused: anthropicError('authentication_error'),
    },
    async start(scene) {
      const emulator = await emulateAnthropic({ clock: scene.clock, replies: () => llmReply(scene) });
      const baseUrl = emulator.url;
      return { emulator, create: (clock) => new AnthropicMessages({ apiKey: KEY, baseUrl, clock }) };
    },
  },
};

function anthropicError(type: string): string {
  return `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type, message: 'broken' } })}\n\n`;
}

export const VOICES: Rows<TextToSpeech> = {
  elevenlabs: {
    wire: 'socket',
    hasIds: true,
    tellsUsage: false,
    errors: {
      broken: (emulator) => elevenLabsError(emulator, 'internal_error'),
      busy: (emulator) => elevenLabsError(emulator, 'system_busy'),
      refused: (emulator) => elevenLabsError(emulator, 'quota_exceeded'),
    },
    async start({ clock }) {
      const emulator = await emulateElevenLabs({ clock, ...VOICE_PACE });
      return { emulator, create: () => new ElevenLabsTextToSpeech({ apiKey: KEY, baseUrl: emulator.url }) };
    },
  },
  cartesia: {
    wire: 'socket',
    hasIds: true,
    tellsUsage: false,
    errors: {
      broken: cartesiaError(500, 'internal'),
      busy: cartesiaError(429, 'concurrency_limited'),
      refused: cartesiaError(402, 'quota_exceeded'),
    },
    async start({ clock }) {
      const emulator = await emulateCartesia({ clock, ...VOICE_PACE });
      return { emulator, create: () => new CartesiaTextToSpeech({ apiKey: KEY, baseUrl: emulator.url }) };
    },
  },
  aura: {
    wire: 'socket',
    // Its audio has no names.
    hasIds: false,
    tellsUsage: false,
    // A key and a rate are refused at the handshake.
    errors: { broken: { type: 'Error', err_code: 'INTERNAL', err_msg: 'broken' } },
    async start({ clock }) {
      const emulator = await emulateDeepgramAura({ clock, ...VOICE_PACE });
      return { emulator, create: () => new DeepgramAura({ apiKey: KEY, baseUrl: emulator.url }) };
    },
  },
  speech: {
    wire: 'requests',
    hasIds: false,
    tellsUsage: false,
    // An answer that has begun is sound, whatever is written into it.
    errors: { broken: 'broken' },
    async start({ clock }) {
      const emulator = await emulateOpenAISpeech({ clock, ...VOICE_PACE });
      const options = { apiKey: KEY, baseUrl: `${emulator.url}/v1`, model: 'kokoro', voice: 'af_bella' };
      return { emulator, create: () => new OpenAISpeech(options) };
    },
  },
};

/** About the sentence that was begun last. */
function elevenLabsError(emulator: Emulator, error: string): object {
  const { connections } = emulator as ElevenLabsEmulator;
  const contexts = [...(connections.at(-1)?.texts ?? [])].filter(([, text]) => text !== '');
  return { message: 'broken', error, code: 1008, contextId: contexts.at(-1)?.[0] ?? 'none' };
}

/** Without a context: about what was said last. */
function cartesiaError(status_code: number, error_code: string): object {
  return { type: 'error', status_code, error_code, message: 'broken', done: true };
}

/** Before a tool is called they are there: what was done is not undone to hear them again. */
function lateWords({ isTool }: Scene) {
  return { transcriptAfterMs: isTool ? 0 : LATE_WORDS_MS };
}

function realtimeScript(scene: Scene) {
  return {
    clock: scene.clock,
    utterances: UTTERANCES,
    replies: () => {
      if (!scene.isTool) return { ...nextReply(scene), firstAudioMs: THINKING_MS };
      scene.isTool = false;
      return { toolCalls: [{ name: 'look_up', arguments: '{}' }], firstAudioMs: CALLING_MS };
    },
  };
}

export const REALTIME_MODELS: Rows<RealtimeModel> = {
  openai: {
    wire: 'socket',
    hasIds: true,
    tellsUsage: true,
    errors: {
      broken: openAIError('server_error'),
      busy: openAIError('rate_limit_exceeded'),
      refused: openAIError('insufficient_quota'),
    },
    async start(scene) {
      const emulator = await emulateOpenAIRealtime({ ...realtimeScript(scene), ...lateWords(scene) });
      const baseUrl = `${emulator.url}/v1`;
      return { emulator, create: () => new OpenAIRealtime({ apiKey: KEY, baseUrl }) };
    },
  },
  gemini: {
    wire: 'socket',
    hasIds: true,
    tellsUsage: true,
    // Whatever is wrong is said by the close: its code, and the words beside it.
    errors: { broken: { error: { code: 500, message: 'broken', status: 'INTERNAL' } } },
    async start(scene) {
      const emulator = await emulateGeminiLive({ ...realtimeScript(scene), ...lateWords(scene) });
      return { emulator, create: () => new GeminiLive({ apiKey: KEY, baseUrl: emulator.url }) };
    },
  },
  agents: {
    wire: 'socket',
    // Something of the service's own has failed; there is no such agent for this key.
    passingCloses: [1002],
    refusingCloses: [3000],
    hasIds: true,
    // It is paid for by the time.
    tellsUsage: false,
    // What an error means is said by the code of the close behind it.
    errors: {
      broken: {
        type: 'error',
        error_event: { code: 1002, error_type: 'llm_error', message: 'broken' },
      },
    },
    async start(scene) {
      const emulator = await emulateElevenLabsAgents({ ...realtimeScript(scene), isPrivate: true });
      const options = { agentId: 'agent-1', apiKey: KEY, baseUrl: emulator.url };
      return { emulator, create: () => new ElevenLabsAgents(options) };
    },
  },
};

function openAIError(code: string): object {
  return { type: 'error', error: { type: 'invalid_request_error', code, message: 'broken' } };
}

/** Every vendor by the stage that it can break. */
export const VENDORS: Readonly<Record<TroubledStage, Rows<unknown>>> = {
  stt: RECOGNISERS,
  llm: LANGUAGE_MODELS,
  tts: VOICES,
  engine: REALTIME_MODELS,
};

/** @throws Error when there is none of that name. */
export function rowOf<Provider>(rows: Rows<Provider>, name: string): VendorRow<Provider> {
  const found = rows[name];
  if (found === undefined) throw new Error(`there is no vendor ${name}`);
  return found;
}
