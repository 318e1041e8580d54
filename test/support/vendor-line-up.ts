// The vendors of one call, all of them emulated on a clock of their own, and the recipe of an agent that works with them.
import type { Clock } from '../../src/base/clock.js';
import type { EngineRecipe } from '../../src/engines/engine.js';
import { createPipelineRecipe } from '../../src/engines/pipeline-engine.js';
import { createRealtimeRecipe } from '../../src/engines/realtime-engine.js';
import { createAgentTools } from '../../src/engines/tools/agent-tool.js';
import { DEFAULT_TURN_TAKING } from '../../src/engines/turn-taking.js';
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
import { FakeClock } from './fake-clock.js';

/** What the person asks, and what the agent says; the goodbye comes with the tool that ends the call. */
export const QUESTION = 'Which cakes do you have today?';
export const GREETING = 'Hello, this is the bakery, how can I help you?';
export const ANSWER = 'We have apple cake today. There is also a lemon tart. Both are fresh from the oven.';
export const GOODBYE = 'Thank you for your call, goodbye.';

/** What a tool gives, which the answer to the question is made of. */
export const TOOL_RESULT = 'apple, lemon';

export type TroubledStage = 'stt' | 'llm' | 'tts' | 'engine';

/** Of vendors with conversations: what each was told. */
type ConnectedEmulator = Emulator & { readonly connections?: readonly unknown[] };

/** One vendor, ready for a call. */
export interface EmulatedVendor<Provider> {
  readonly emulator: ConnectedEmulator;
  readonly create: (clock: Clock) => Provider;
}

/** What every vendor of a call shares. */
export interface Scene {
  readonly clock: FakeClock;
  /** The next answer is the goodbye. */
  isLast: boolean;
  /** What a model before has said of it: the next one is asked for the rest. */
  said?: string | undefined;
  /** The next answer is the call of a tool. */
  isTool: boolean;
  /** Times that the tool was run. */
  toolRuns: number;
}

type Start<Provider> = (scene: Scene) => Promise<EmulatedVendor<Provider>>;

const KEY = 'test-key';
/** Stretches of sound that a recogniser may hear in one call, repeats included. */
const UTTERANCES = Array.from({ length: 20 }, () => QUESTION);
const END_CALL = [{ name: 'end_call', arguments: '{}' }];
/** Thinking takes this long, so that something can happen in it. */
const THINKING_MS = 600;
/** A tool is called sooner, and takes so long that something can happen in it as well. */
const CALLING_MS = 100;
const TOOL_MS = 900;
/** The same of a recogniser that is given what was said as a whole. */
const RECOGNISING_MS = 400;
/** Words of the caller come behind the end of the turn, so that something can happen before. */
const LATE_WORDS_MS = 400;

/** The tool that an answer may be made of. */
function lookUp(scene: Scene, clock: Clock) {
  return createAgentTools([
    {
      name: 'look_up',
      description: 'Knows what is there today.',
      execute: () => {
        scene.toolRuns += 1;
        return new Promise((resolve) => void clock.after(TOOL_MS, () => resolve(TOOL_RESULT)));
      },
    },
  ]);
}

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
  async transcription({ clock }) {
    const emulator = await emulateOpenAITranscription({
      clock,
      utterances: UTTERANCES,
      firstWordMs: RECOGNISING_MS,
    });
    const options = { apiKey: KEY, baseUrl: `${emulator.url}/v1`, model: 'whisper' };
    return { emulator, create: () => new OpenAITranscription(options) };
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

export const REALTIME_MODELS: Readonly<Record<string, Start<RealtimeModel>>> = {
  async openai(scene) {
    const emulator = await emulateOpenAIRealtime({ ...realtimeScript(scene), ...lateWords(scene) });
    const baseUrl = `${emulator.url}/v1`;
    return { emulator, create: () => new OpenAIRealtime({ apiKey: KEY, baseUrl }) };
  },
  async gemini(scene) {
    const emulator = await emulateGeminiLive({ ...realtimeScript(scene), ...lateWords(scene) });
    return { emulator, create: () => new GeminiLive({ apiKey: KEY, baseUrl: emulator.url }) };
  },
  async agents(scene) {
    const emulator = await emulateElevenLabsAgents({ ...realtimeScript(scene), isPrivate: true });
    const options = { agentId: 'agent-1', apiKey: KEY, baseUrl: emulator.url };
    return { emulator, create: () => new ElevenLabsAgents(options) };
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
  readonly troubled: ConnectedEmulator;
  readonly recipe: (clock: Clock) => EngineRecipe;
}

/** The vendors of one call, with `vendor` at `stage`; the others are those of a well-known house. */
export async function lineUp(
  stage: TroubledStage,
  vendor: string,
  options: { fillers?: readonly string[]; withTool?: boolean | undefined } = {},
): Promise<LineUp> {
  const scene: Scene = {
    clock: new FakeClock(),
    isLast: false,
    isTool: options.withTool === true,
    toolRuns: 0,
  };
  const turnTaking = { ...DEFAULT_TURN_TAKING, fillers: options.fillers ?? [] };
  const agent = { systemPrompt: 'You answer for a bakery.', turnTaking };
  if (stage === 'engine') {
    const model = await start(REALTIME_MODELS, vendor, scene);
    return open([model.emulator], model.emulator, scene, (clock) =>
      createRealtimeRecipe({
        ...agent,
        firstMessage: GREETING,
        model: model.create(clock),
        tools: lookUp(scene, clock),
      }),
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
  troubled: ConnectedEmulator,
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
