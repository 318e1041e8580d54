import { describe, it } from 'vitest';
import {
  CartesiaTextToSpeech,
  DeepgramAura,
  ElevenLabsTextToSpeech,
  FliteTextToSpeech,
  OpenAISpeech,
} from '../../../src/providers/tts/index.js';
import {
  emulateCartesia,
  emulateDeepgramAura,
  emulateElevenLabs,
  type EmulateElevenLabsOptions,
  emulateOpenAISpeech,
  testTextToSpeech,
} from '../../../src/testing/index.js';

const elevenLabs = (options: EmulateElevenLabsOptions) =>
  testTextToSpeech(async () => {
    const emulator = await emulateElevenLabs({ firstAudioMs: 5, chunkEveryMs: 1, ...options });
    return {
      provider: new ElevenLabsTextToSpeech({ apiKey: 'test-key', baseUrl: emulator.url }),
      breakConnections: () => emulator.disconnectAll(),
      close: () => emulator.close(),
    };
  });

const suites = {
  CartesiaTextToSpeech: testTextToSpeech(async () => {
    const emulator = await emulateCartesia({ firstAudioMs: 5, chunkEveryMs: 1 });
    return {
      provider: new CartesiaTextToSpeech({ apiKey: 'test-key', baseUrl: emulator.url }),
      breakConnections: () => emulator.disconnectAll(),
      close: () => emulator.close(),
    };
  }),
  DeepgramAura: testTextToSpeech(async () => {
    const emulator = await emulateDeepgramAura({ firstAudioMs: 5, chunkEveryMs: 1 });
    return {
      provider: new DeepgramAura({ apiKey: 'test-key', baseUrl: emulator.url }),
      breakConnections: () => emulator.disconnectAll(),
      close: () => emulator.close(),
    };
  }),
  ElevenLabsTextToSpeech: elevenLabs({}),
  'ElevenLabsTextToSpeech with a voice that halts': elevenLabs({ pauseMs: 300, chunkBytes: 3333 }),
  'ElevenLabsTextToSpeech without alignment': elevenLabs({ withoutAlignment: true }),
  OpenAISpeech: testTextToSpeech(async () => {
    const emulator = await emulateOpenAISpeech({ chunkEveryMs: 1 });
    const options = { model: 'kokoro', voice: 'bella', apiKey: 'test-key', baseUrl: `${emulator.url}/v1` };
    return {
      provider: new OpenAISpeech(options),
      breakConnections: () => emulator.cutRequests(),
      close: () => emulator.close(),
    };
  }),
  FliteTextToSpeech: testTextToSpeech(() => ({ provider: new FliteTextToSpeech(), close() {} })),
};

describe.each(Object.entries(suites))('%s', (_, checks) => {
  it.each(checks.map((check) => [check.name, check] as const))('%s', (_name, check) => check.run());
});
