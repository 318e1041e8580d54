// The vendors of the pipeline that a whole call can be made of, each emulated for that call alone.
import type { LanguageModel } from '../../src/providers/language-model.js';
import { AnthropicMessages, ChatCompletions } from '../../src/providers/llm/index.js';
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
  type EmulatedReply,
  type Emulator,
  emulateAnthropic,
  emulateAssemblyAI,
  emulateCartesia,
  emulateChatCompletions,
  emulateDeepgram,
  emulateDeepgramAura,
  emulateElevenLabs,
  emulateOpenAISpeech,
  emulateOpenAITranscription,
} from '../../src/testing/index.js';

export type PipelineStage = 'stt' | 'llm' | 'tts';

/** One vendor, and what a call works with it by. */
export interface StageVendor<Provider> {
  readonly emulator: Emulator;
  readonly provider: Provider;
  /** It has been asked something in this call. Undefined for one that is asked from its start on. */
  readonly isAsked?: () => boolean;
}

type Message = { readonly role: string; readonly content?: unknown };

/** What the vendors of a call share. */
export interface PipelineScene {
  /** How long a recognizer of recordings takes. */
  readonly thinkingMs: number;
  readonly replies: (messages: readonly Message[]) => EmulatedReply;
}

export type StageTable<Provider> = Readonly<
  Record<string, (scene: PipelineScene) => Promise<StageVendor<Provider>>>
>;

const KEY = 'test-key';
const VOICE_PACE = { firstAudioMs: 60, chunkEveryMs: 60 };

/** A stage's own name is that of its first vendor. */
export const RECOGNISERS: StageTable<SpeechToText> = {
  async stt() {
    const emulator = await emulateDeepgram();
    return { emulator, provider: new DeepgramSpeechToText({ apiKey: KEY, baseUrl: emulator.url }) };
  },
  /** Takes whole recordings. */
  async 'http-stt'({ thinkingMs }) {
    const emulator = await emulateOpenAITranscription({ firstWordMs: thinkingMs });
    const options = { apiKey: KEY, baseUrl: `${emulator.url}/v1`, model: 'whisper-1' };
    return {
      emulator,
      provider: new OpenAITranscription(options),
      isAsked: () => emulator.exchanges.length > 0,
    };
  },
  async assemblyai() {
    const emulator = await emulateAssemblyAI();
    return { emulator, provider: new AssemblyAISpeechToText({ apiKey: KEY, baseUrl: emulator.url }) };
  },
};

export const LANGUAGE_MODELS: StageTable<LanguageModel> = {
  async llm({ replies }) {
    const emulator = await emulateChatCompletions({ replies: ({ messages }) => replies(messages) });
    const provider = new ChatCompletions({ apiKey: KEY, baseUrl: `${emulator.url}/v1` });
    return { emulator, provider, isAsked: () => emulator.exchanges.length > 0 };
  },
  async anthropic({ replies }) {
    const emulator = await emulateAnthropic({ replies: ({ messages }) => replies(messages) });
    const provider = new AnthropicMessages({ apiKey: KEY, baseUrl: emulator.url });
    return { emulator, provider, isAsked: () => emulator.exchanges.length > 0 };
  },
};

export const VOICES: StageTable<TextToSpeech> = {
  async tts() {
    const emulator = await emulateElevenLabs(VOICE_PACE);
    return { emulator, provider: new ElevenLabsTextToSpeech({ apiKey: KEY, baseUrl: emulator.url }) };
  },
  async cartesia() {
    const emulator = await emulateCartesia(VOICE_PACE);
    const options = { apiKey: KEY, baseUrl: emulator.url, voiceId: 'v1' };
    return { emulator, provider: new CartesiaTextToSpeech(options) };
  },
  async aura() {
    const emulator = await emulateDeepgramAura(VOICE_PACE);
    return { emulator, provider: new DeepgramAura({ apiKey: KEY, baseUrl: emulator.url }) };
  },
  async speech() {
    const emulator = await emulateOpenAISpeech(VOICE_PACE);
    const options = { apiKey: KEY, baseUrl: `${emulator.url}/v1`, model: 'kokoro', voice: 'af_bella' };
    return { emulator, provider: new OpenAISpeech(options) };
  },
};

/** Who takes the place of a vendor that is gone. */
export const NEXT: Readonly<Record<PipelineStage, string>> = {
  stt: 'assemblyai',
  llm: 'anthropic',
  tts: 'cartesia',
};

/** The stage that a vendor works at; undefined for a realtime model, which does the work of all. */
export function stageOf(name: string): PipelineStage | undefined {
  if (name in RECOGNISERS) return 'stt';
  if (name in LANGUAGE_MODELS) return 'llm';
  return name in VOICES ? 'tts' : undefined;
}

export function openVendor<Provider>(
  table: StageTable<Provider>,
  name: string,
  scene: PipelineScene,
): Promise<StageVendor<Provider>> {
  const open = table[name];
  if (open === undefined) throw new Error(`there is no vendor ${name}`);
  return open(scene);
}
