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
  emulateElevenLabsAgents,
  type EmulateElevenLabsAgentsOptions,
  emulateGeminiLive,
  type EmulateGeminiLiveOptions,
  emulateOpenAIRealtime,
  type EmulateOpenAIRealtimeOptions,
  testRealtimeModel,
} from '../../../src/testing/index.js';

const models: [string, OpenAIRealtimeOptions, EmulateOpenAIRealtimeOptions][] = [
  ['OpenAIRealtime', {}, {}],
  ['OpenAIRealtime with pieces cut anywhere', { g711: false }, { chunkBytes: 1601, withoutPadding: true }],
  [
    'OpenAIRealtime at a server that speaks part of the wire',
    { transcription: false },
    { dialect: 'subset' },
  ],
];

describe.concurrent.each(models)('%s', (_, options, emulation) => {
  const checks = testRealtimeModel(async ({ utterances, replies }) => {
    const emulator = await emulateOpenAIRealtime({ ...emulation, utterances, replies });
    return {
      model: new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${emulator.url}/v1`, ...options }),
      breakConnections: () => emulator.disconnectAll(),
      async close() {
        await emulator.close();
        expect(emulator.violations).toEqual([]);
      },
    };
  });
  it.each(checks.map((check) => [check.name, check] as const))('%s', { timeout: 20_000 }, (_name, check) =>
    check.run(),
  );
});

const agents: [string, Partial<ElevenLabsAgentsOptions>, EmulateElevenLabsAgentsOptions][] = [
  ['ElevenLabsAgents', {}, {}],
  [
    'ElevenLabsAgents with a private agent of PCM, in pieces cut anywhere, that marks the end of its audio',
    { apiKey: 'test-key' },
    { isPrivate: true, inputFormat: 'pcm_16000', outputFormat: 'pcm_24000', chunkBytes: 1601, end: 'mark' },
  ],
  [
    'ElevenLabsAgents with an agent that tells little and allows nothing',
    { overrides: { prompt: false, firstMessage: false, language: false } },
    { end: 'none', tentative: false, allowedOverrides: [], outputFormat: 'pcm_8000' },
  ],
];

describe.concurrent.each(agents)('%s', (_, options, emulation) => {
  const checks = testRealtimeModel(async ({ utterances, replies }) => {
    const emulator = await emulateElevenLabsAgents({ ...emulation, utterances, replies });
    return {
      model: new ElevenLabsAgents({ agentId: 'agent-1', baseUrl: emulator.url, ...options }),
      argumentsAreObjects: true,
      breakConnections: () => emulator.disconnectAll(),
      async close() {
        await emulator.close();
        expect(emulator.violations).toEqual([]);
      },
    };
  });
  it.each(checks.map((check) => [check.name, check] as const))('%s', { timeout: 20_000 }, (_name, check) =>
    check.run(),
  );
});

const liveModels: [string, GeminiLiveOptions, EmulateGeminiLiveOptions][] = [
  ['GeminiLive', {}, {}],
  ['GeminiLive with tools that do not block', { toolBehavior: 'when-idle' }, { chunkBytes: 1601 }],
  [
    'GeminiLive without the words of the caller, and sessions that end with their connection',
    { transcription: false },
    { resumable: false, waitsForPlayback: false },
  ],
];

describe.concurrent.each(liveModels)('%s', (_, options, emulation) => {
  const checks = testRealtimeModel(async ({ utterances, replies }) => {
    const emulator = await emulateGeminiLive({ ...emulation, utterances, replies });
    return {
      model: new GeminiLive({ apiKey: 'test-key', baseUrl: emulator.url, ...options }),
      argumentsAreObjects: true,
      resumes: emulation.resumable !== false,
      breakConnections: () => emulator.disconnectAll(),
      async close() {
        await emulator.close();
        expect(emulator.violations).toEqual([]);
      },
    };
  });
  it.each(checks.map((check) => [check.name, check] as const))('%s', { timeout: 20_000 }, (_name, check) =>
    check.run(),
  );
});
