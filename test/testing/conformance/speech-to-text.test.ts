import { describe, it } from 'vitest';
import {
  AssemblyAISpeechToText,
  DeepgramSpeechToText,
  type DeepgramSpeechToTextOptions,
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

type Recognizer = [string, (texts: readonly string[]) => SpeechToTextSetup | Promise<SpeechToTextSetup>];

function transcription(options: OpenAITranscriptionOptions): Recognizer {
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

function deepgram(options: DeepgramSpeechToTextOptions, code?: number, reason?: string): Recognizer[1] {
  return async (utterances) => {
    const emulator = await emulateDeepgram({ utterances });
    return {
      provider: new DeepgramSpeechToText({ apiKey: 'test-key', baseUrl: emulator.url, ...options }),
      breakConnections: () => emulator.disconnectAll(code, reason),
      close: () => emulator.close(),
    };
  };
}

const recognizers: Recognizer[] = [
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
  ['DeepgramSpeechToText', deepgram({})],
  ['DeepgramSpeechToText with turns of its own', deepgram({ ownsTurnTaking: true }, 1011, 'NET-0000')],
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

describe.each(recognizers)('%s', (_, create) => {
  for (const { name, run } of testSpeechToText(create)) it(name, run);
});
