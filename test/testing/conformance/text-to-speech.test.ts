import { describe, it } from 'vitest';
import {
  CartesiaTextToSpeech,
  DeepgramAura,
  ElevenLabsTextToSpeech,
  FliteTextToSpeech,
  OpenAISpeech,
} from '../../../src/providers/tts/index.js';
import type { TextToSpeech } from '../../../src/providers/text-to-speech.js';
import {
  type Emulator,
  emulateCartesia,
  emulateDeepgramAura,
  emulateElevenLabs,
  type EmulateElevenLabsOptions,
  emulateOpenAISpeech,
  testTextToSpeech,
} from '../../../src/testing/index.js';

/** A voice over a socket. */
const connected = (
  emulate: (pace: { firstAudioMs: number; chunkEveryMs: number }) => Promise<Emulator>,
  create: (access: { apiKey: string; baseUrl: string }) => TextToSpeech,
) =>
  testTextToSpeech(async () => {
    const emulator = await emulate({ firstAudioMs: 5, chunkEveryMs: 1 });
    return {
      provider: create({ apiKey: 'test-key', baseUrl: emulator.url }),
      breakConnections: () => emulator.disconnectAll(),
      close: () => emulator.close(),
    };
  });

const elevenLabs = (options: EmulateElevenLabsOptions) =>
  connected(
    (pace) => emulateElevenLabs({ ...pace, ...options }),
    (access) => new ElevenLabsTextToSpeech(access),
  );

const suites = {
  CartesiaTextToSpeech: connected(emulateCartesia, (access) => new CartesiaTextToSpeech(access)),
  DeepgramAura: connected(emulateDeepgramAura, (access) => new DeepgramAura(access)),
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
  for (const { name, run } of checks) it(name, run);
});
