import { describe, it } from 'vitest';
import {
  CartesiaTextToSpeech,
  DeepgramAura,
  ElevenLabsTextToSpeech,
  FliteTextToSpeech,
} from '../../../src/providers/tts/index.js';
import {
  emulateCartesia,
  emulateDeepgramAura,
  emulateElevenLabs,
  testTextToSpeech,
} from '../../../src/testing/index.js';

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
  ElevenLabsTextToSpeech: testTextToSpeech(async () => {
    const emulator = await emulateElevenLabs({ firstAudioMs: 5, chunkEveryMs: 1 });
    return {
      provider: new ElevenLabsTextToSpeech({ apiKey: 'test-key', baseUrl: emulator.url }),
      breakConnections: () => emulator.disconnectAll(),
      close: () => emulator.close(),
    };
  }),
  FliteTextToSpeech: testTextToSpeech(() => ({ provider: new FliteTextToSpeech(), close() {} })),
};

describe.each(Object.entries(suites))('%s', (_, checks) => {
  it.each(checks.map((check) => [check.name, check] as const))('%s', (_name, check) => check.run());
});
