// The vendors of one call, all of them emulated on a clock of their own, and the recipe of an agent that works with them.
import type { Clock } from '../../src/base/clock.js';
import type { EngineRecipe } from '../../src/engines/engine.js';
import { createPipelineRecipe } from '../../src/engines/pipeline-engine.js';
import { createRealtimeRecipe } from '../../src/engines/realtime-engine.js';
import { DEFAULT_TURN_TAKING } from '../../src/engines/turn-taking.js';
import type { LanguageModel } from '../../src/providers/language-model.js';
import { AnthropicMessages, ChatCompletions } from '../../src/providers/llm/index.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import type { RealtimeModel } from '../../src/providers/realtime-model.js';
import type { SpeechToText } from '../../src/providers/speech-to-text.js';
import { AssemblyAISpeechToText, DeepgramSpeechToText } from '../../src/providers/stt/index.js';
import type { TextToSpeech } from '../../src/providers/text-to-speech.js';
import {
  CartesiaTextToSpeech,
  DeepgramAura,
  ElevenLabsTextToSpeech,
  OpenAISpeech,
} from '../../src/providers/tts/index.js';
import {
  type Emulator,
  emulateAnthropic,
  emulateAssemblyAI,
  emulateCartesia,
  emulateChatCompletions,
  emulateDeepgram,
  emulateDeepgramAura,
  emulateElevenLabs,
  emulateOpenAIRealtime,
  emulateOpenAISpeech,
} from '../../src/testing/index.js';
import { FakeClock } from './fake-clock.js';

/** What the person asks, and what the agent says; the goodbye comes with the tool that ends the call. */
export const QUESTION = 'Which cakes do you have today?';
export const GREETING = 'Hello, this is the bakery, how can I help you?';
export const ANSWER = 'We have apple cake today. There is also a lemon tart. Both are fresh from the oven.';
export const GOODBYE = 'Thank you for your call, goodbye.';

export type TroubledStage = 'stt' | 'llm' | 'tts' | 'engine';

/** One vendor, ready for a call. */
export interface EmulatedVendor<Provider> {
  readonly emulator: Emulator;
  readonly create: (clock: Clock) => Provider;
}

/** What every vendor of a call shares. */
export interface Scene {
  readonly clock: FakeClock;
  /** The next answer is the goodbye. */
  isLast: boolean;
  /** What a model before has said of it: the next one is asked for the rest. */
  said?: string | undefined;
}

type Start<Provider> = (scene: Scene) => Promise<EmulatedVendor<Provider>>;

const KEY = 'test-key';
/** Stretches of sound that a recogniser may hear in one call, repeats included. */
const UTTERANCES = Array.from({ length: 20 }, () => QUESTION);
const END_CALL = [{ name: 'end_call', arguments: '{}' }];
/** Thinking takes this long, so that something can happen in it. */
const THINKING_MS = 600;

function nextReply({ isLast, said = '' }: Scene) {
  const text = isLast ? GOODBYE : ANSWER;
  const rest = text.startsWith(said) ? text.slice(said.length) : text;
  return isLast ? { text: rest, toolCalls: END_CALL } : { text: rest };
}

function llmReply(scene: Scene) {
  return { ...nextReply(scene), firstTokenMs: THINKING_MS, tokenMs: 80 };
}

export const RECOGNISERS: Readonly<Record<string, Start<SpeechToText>>> = {
  async deepgram({ clock }) {
    const emulator = await emulateDeepgram({ clock, utterances: UTTERANCES });
    return { emulator, create: () => new DeepgramSpeechToText({ apiKey: KEY, baseUrl: emulator.url }) };
  },
  async assemblyai({ clock }) {
    const emulator = await emulateAssemblyAI({ clock, utterances: UTTERANCES });
    return { emulator, create: () => new AssemblyAISpeechToText({ apiKey: KEY, baseUrl: emulator.url }) };
  },
};

export const LANGUAGE_MODELS: Readonly<Record<string, Start<LanguageModel>>> = {
  async chat(scene) {
    const emulator = await emulateChatCompletions({ clock: scene.clock, replies: () => llmReply(scene) });
    const baseUrl = `${emulator.url}/v1`;
    return { emulator, create: (clock) => new ChatCompletions({ apiKey: KEY, baseUrl, clock }) };
  },
  async anthropic(scene) {
    const emulator = await emulateAnthropic({ clock: scene.clock, replies: () => llmReply(scene) });
    const baseUrl = emulator.url;
    return { emulator, create: (clock) => new AnthropicMessages({ apiKey: KEY, baseUrl, clock }) };
  },
};

const VOICE_PACE = { firstAudioMs: 100, chunkEveryMs: 60 };

export const VOICES: Readonly<Record<string, Start<TextToSpeech>>> = {
  async elevenlabs({ clock }) {
    const emulator = await emulateElevenLabs({ clock, ...VOICE_PACE });
    return { emulator, create: () => new ElevenLabsTextToSpeech({ apiKey: KEY, baseUrl: emulator.url }) };
  },
  async cartesia({ clock }) {
    const emulator = await emulateCartesia({ clock, ...VOICE_PACE });
    return { emulator, create: () => new CartesiaTextToSpeech({ apiKey: KEY, baseUrl: emulator.url }) };
  },
  async aura({ clock }) {
    const emulator = await emulateDeepgramAura({ clock, ...VOICE_PACE });
    return { emulator, create: () => new DeepgramAura({ apiKey: KEY, baseUrl: emulator.url }) };
  },
  async speech({ clock }) {
    const emulator = await emulateOpenAISpeech({ clock, ...VOICE_PACE });
    const options = { apiKey: KEY, baseUrl: `${emulator.url}/v1`, model: 'kokoro', voice: 'af_bella' };
    return { emulator, create: () => new OpenAISpeech(options) };
  },
};

export const REALTIME_MODELS: Readonly<Record<string, Start<RealtimeModel>>> = {
  async openai(scene) {
    const emulator = await emulateOpenAIRealtime({
      clock: scene.clock,
      utterances: UTTERANCES,
      replies: () => ({ ...nextReply(scene), firstAudioMs: THINKING_MS }),
    });
    const baseUrl = `${emulator.url}/v1`;
    return { emulator, create: () => new OpenAIRealtime({ apiKey: KEY, baseUrl }) };
  },
};

/** Every vendor by the stage that it can break. */
export const VENDORS: Readonly<Record<TroubledStage, readonly string[]>> = {
  stt: Object.keys(RECOGNISERS),
  llm: Object.keys(LANGUAGE_MODELS),
  tts: Object.keys(VOICES),
  engine: Object.keys(REALTIME_MODELS),
};

export interface LineUp extends AsyncDisposable {
  readonly scene: Scene;
  /** The vendor that is to be broken. */
  readonly troubled: Emulator;
  readonly recipe: (clock: Clock) => EngineRecipe;
}

/** The vendors of one call, with `vendor` at `stage`; the others are those of a well-known house. */
export async function lineUp(
  stage: TroubledStage,
  vendor: string,
  options: { fillers?: readonly string[] } = {},
): Promise<LineUp> {
  const scene: Scene = { clock: new FakeClock(), isLast: false };
  const turnTaking = { ...DEFAULT_TURN_TAKING, fillers: options.fillers ?? [] };
  const agent = { systemPrompt: 'You answer for a bakery.', turnTaking };
  if (stage === 'engine') {
    const model = await start(REALTIME_MODELS, vendor, scene);
    return open([model.emulator], model.emulator, scene, (clock) =>
      createRealtimeRecipe({ ...agent, firstMessage: GREETING, model: model.create(clock) }),
    );
  }
  const stt = await start(RECOGNISERS, stage === 'stt' ? vendor : 'deepgram', scene);
  const llm = await start(LANGUAGE_MODELS, stage === 'llm' ? vendor : 'chat', scene);
  const tts = await start(VOICES, stage === 'tts' ? vendor : 'elevenlabs', scene);
  const stages = { stt, llm, tts };
  const emulators = [stt.emulator, llm.emulator, tts.emulator];
  return open(emulators, stages[stage].emulator, scene, (clock) =>
    createPipelineRecipe({
      ...agent,
      firstMessage: GREETING,
      stt: stt.create(clock),
      llm: llm.create(clock),
      tts: tts.create(clock),
    }),
  );
}

export function start<Provider>(
  vendors: Readonly<Record<string, Start<Provider>>>,
  name: string,
  scene: Scene,
): Promise<EmulatedVendor<Provider>> {
  const found = vendors[name];
  if (found === undefined) throw new Error(`there is no vendor ${name}`);
  return found(scene);
}

function open(
  emulators: readonly Emulator[],
  troubled: Emulator,
  scene: Scene,
  recipe: LineUp['recipe'],
): LineUp {
  return {
    scene,
    troubled,
    recipe,
    async [Symbol.asyncDispose]() {
      for (const emulator of emulators) await emulator.close();
    },
  };
}
