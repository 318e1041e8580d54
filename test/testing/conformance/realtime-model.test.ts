import { describe, expect, it } from 'vitest';
import {
  ElevenLabsAgents,
  type ElevenLabsAgentsOptions,
  GeminiLive,
  type GeminiLiveOptions,
  OpenAIRealtime,
  type OpenAIRealtimeOptions,
} from '../../../src/providers/realtime/index.js';
import {
  type Emulator,
  emulateElevenLabsAgents,
  type EmulateElevenLabsAgentsOptions,
  emulateGeminiLive,
  type EmulateGeminiLiveOptions,
  emulateOpenAIRealtime,
  type EmulateOpenAIRealtimeOptions,
  type RealtimeModelSetup,
  type RealtimeScene,
  testRealtimeModel,
} from '../../../src/testing/index.js';

/** A model and its vendor, and how it differs from what most of them do. */
type Started = Pick<RealtimeModelSetup, 'model' | 'argumentsAreObjects' | 'resumes'> & { emulator: Emulator };
type Start = (scene: RealtimeScene) => Promise<Started>;

function openAI(options: OpenAIRealtimeOptions = {}, emulation: EmulateOpenAIRealtimeOptions = {}): Start {
  return async ({ utterances, replies }) => {
    const emulator = await emulateOpenAIRealtime({ ...emulation, utterances, replies });
    const baseUrl = `${emulator.url}/v1`;
    return { emulator, model: new OpenAIRealtime({ apiKey: 'test-key', baseUrl, ...options }) };
  };
}

function agents(
  options: Partial<ElevenLabsAgentsOptions> = {},
  emulation: EmulateElevenLabsAgentsOptions = {},
): Start {
  return async ({ utterances, replies }) => {
    const emulator = await emulateElevenLabsAgents({ ...emulation, utterances, replies });
    const model = new ElevenLabsAgents({ agentId: 'agent-1', baseUrl: emulator.url, ...options });
    return { emulator, model, argumentsAreObjects: true };
  };
}

function gemini(options: GeminiLiveOptions = {}, emulation: EmulateGeminiLiveOptions = {}): Start {
  return async ({ utterances, replies }) => {
    const emulator = await emulateGeminiLive({ ...emulation, utterances, replies });
    const model = new GeminiLive({ apiKey: 'test-key', baseUrl: emulator.url, ...options });
    return { emulator, model, argumentsAreObjects: true, resumes: emulation.resumable !== false };
  };
}

const MODELS: Readonly<Record<string, Start>> = {
  OpenAIRealtime: openAI(),
  'OpenAIRealtime with pieces cut anywhere': openAI(
    { g711: false },
    { chunkBytes: 1601, withoutPadding: true },
  ),
  'OpenAIRealtime at a server that speaks part of the wire': openAI(
    { transcription: false },
    { dialect: 'subset' },
  ),
  ElevenLabsAgents: agents(),
  'ElevenLabsAgents with a private agent of PCM, in pieces cut anywhere, that marks the end of its audio':
    agents(
      { apiKey: 'test-key' },
      { isPrivate: true, inputFormat: 'pcm_16000', outputFormat: 'pcm_24000', chunkBytes: 1601, end: 'mark' },
    ),
  'ElevenLabsAgents with an agent that tells little and allows nothing': agents(
    { overrides: { prompt: false, firstMessage: false, language: false } },
    { end: 'none', tentative: false, allowedOverrides: [], outputFormat: 'pcm_8000' },
  ),
  GeminiLive: gemini(),
  'GeminiLive with tools that do not block': gemini({ toolBehavior: 'when-idle' }, { chunkBytes: 1601 }),
  'GeminiLive without the words of the caller, and sessions that end with their connection': gemini(
    { transcription: false },
    { resumable: false, waitsForPlayback: false },
  ),
};

describe.concurrent.each(Object.entries(MODELS))('%s', (_, start) => {
  const checks = testRealtimeModel(async (scene) => {
    const { emulator, ...setup } = await start(scene);
    return {
      ...setup,
      breakConnections: () => emulator.disconnectAll(),
      async close() {
        await emulator.close();
        expect(emulator.violations).toEqual([]);
      },
    };
  });
  for (const { name, run } of checks) it(name, { timeout: 20_000 }, run);
});
