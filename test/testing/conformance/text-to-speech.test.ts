import { describe, it } from 'vitest';
import { ElevenLabsTextToSpeech, FliteTextToSpeech } from '../../../src/providers/tts/index.js';
import {
  emulateElevenLabs,
  type EmulateElevenLabsOptions,
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
  ElevenLabsTextToSpeech: elevenLabs({}),
  'ElevenLabsTextToSpeech with a voice that halts': elevenLabs({ pauseMs: 300, chunkBytes: 3333 }),
  'ElevenLabsTextToSpeech without alignment': elevenLabs({ withoutAlignment: true }),
  FliteTextToSpeech: testTextToSpeech(() => ({ provider: new FliteTextToSpeech(), close() {} })),
};

describe.each(Object.entries(suites))('%s', (_, checks) => {
  it.each(checks.map((check) => [check.name, check] as const))('%s', (_name, check) => check.run());
});
