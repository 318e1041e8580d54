import { describe, it } from 'vitest';
import {
  AssemblyAISpeechToText,
  DeepgramSpeechToText,
  OpenAITranscription,
  type OpenAITranscriptionOptions,
  SimulatedSpeechToText,
} from '../../../src/providers/stt/index.js';
import {
  emulateAssemblyAI,
  emulateDeepgram,
  emulateOpenAITranscription,
  type SpeechToTextSetup,
  testSpeechToText,
} from '../../../src/testing/index.js';

type Recogniser = [string, (texts: readonly string[]) => SpeechToTextSetup | Promise<SpeechToTextSetup>];

function transcription(options: OpenAITranscriptionOptions): Recogniser {
  return [
    `OpenAITranscription with ${JSON.stringify(options)}`,
    async (utterances) => {
      const emulator = await emulateOpenAITranscription({ utterances });
      const access = { apiKey: 'test-key', baseUrl: `${emulator.url}/v1`, model: 'whisper' };
      return {
        provider: new OpenAITranscription({ ...access, ...options }),
        breakConnections: () => emulator.cutRequests(),
        close: () => emulator.close(),
      };
    },
  ];
}

const recognisers: Recogniser[] = [
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
  ...[{}, { stream: true }, { verbose: true }].map(transcription),
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
