import { describe, it } from 'vitest';
import {
  AssemblyAISpeechToText,
  DeepgramSpeechToText,
  SimulatedSpeechToText,
} from '../../../src/providers/stt/index.js';
import {
  emulateAssemblyAI,
  emulateDeepgram,
  type SpeechToTextSetup,
  testSpeechToText,
} from '../../../src/testing/index.js';

const recognisers: [string, (texts: readonly string[]) => SpeechToTextSetup | Promise<SpeechToTextSetup>][] =
  [
    [
      'AssemblyAISpeechToText',
      async (utterances) => {
        const emulator = await emulateAssemblyAI({ utterances });
        return {
          provider: new AssemblyAISpeechToText({ apiKey: 'test-key', baseUrl: emulator.url }),
          countsOpenTime: true,
          breakConnections: () => emulator.disconnectAll(),
          close: () => emulator.close(),
        };
      },
    ],
    [
      'DeepgramSpeechToText',
      async (utterances) => {
        const emulator = await emulateDeepgram({ utterances });
        return {
          provider: new DeepgramSpeechToText({ apiKey: 'test-key', baseUrl: emulator.url }),
          breakConnections: () => emulator.disconnectAll(),
          close: () => emulator.close(),
        };
      },
    ],
    [
      'DeepgramSpeechToText with turns of its own',
      async (utterances) => {
        const emulator = await emulateDeepgram({ utterances });
        return {
          provider: new DeepgramSpeechToText({
            apiKey: 'test-key',
            baseUrl: emulator.url,
            ownsTurnTaking: true,
          }),
          breakConnections: () => emulator.disconnectAll(1011, 'NET-0000'),
          close: () => emulator.close(),
        };
      },
    ],
    [
      'SimulatedSpeechToText',
      () => ({
        provider: new SimulatedSpeechToText(),
        announce: (session, text) => session.pushSpokenText?.({ id: text, text, final: true }),
        close() {},
      }),
    ],
  ];

describe.each(recognisers)('%s', (_, create) => {
  it.each(testSpeechToText(create).map((check) => [check.name, check] as const))('%s', (_name, check) =>
    check.run(),
  );
});
