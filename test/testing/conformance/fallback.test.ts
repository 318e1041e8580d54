// Chains whose first member is down do what every provider of their kind must do.
import { describe, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { Circuits } from '../../../src/providers/circuits.js';
import { LanguageModelChain } from '../../../src/providers/fallback/language-model-chain.js';
import { SpeechToTextChain } from '../../../src/providers/fallback/speech-to-text-chain.js';
import { TextToSpeechChain } from '../../../src/providers/fallback/text-to-speech-chain.js';
import { ChatCompletions } from '../../../src/providers/llm/index.js';
import { DeepgramSpeechToText } from '../../../src/providers/stt/index.js';
import { CartesiaTextToSpeech } from '../../../src/providers/tts/index.js';
import {
  emulateCartesia,
  emulateChatCompletions,
  emulateDeepgram,
  testLanguageModel,
  testSpeechToText,
  testTextToSpeech,
} from '../../../src/testing/index.js';

const apiKey = 'test-key';
/** Nobody listens there. */
const DOWN = 'http://127.0.0.1:9';

function chained<T>(first: T, second: T) {
  const circuits = new Circuits(systemClock);
  return { members: [first, second] as const, circuits, clock: systemClock };
}

describe('a chain of recognizers', () => {
  const checks = testSpeechToText(async (texts) => {
    const emulator = await emulateDeepgram({ utterances: texts });
    const at = (baseUrl: string) => new DeepgramSpeechToText({ apiKey, baseUrl });
    return {
      provider: new SpeechToTextChain(chained(at(DOWN), at(emulator.url))),
      breakConnections: () => emulator.disconnectAll(),
      close: () => emulator.close(),
    };
  });
  for (const { name, run } of checks) it(name, run);
});

describe('a chain of language models', () => {
  const checks = testLanguageModel(async (replies) => {
    const emulator = await emulateChatCompletions({
      replies: replies.map(({ text, toolCalls, wordMs }) => ({
        text,
        ...(toolCalls === undefined ? {} : { toolCalls }),
        ...(wordMs === undefined ? {} : { tokenMs: wordMs }),
      })),
    });
    const at = (url: string) => new ChatCompletions({ apiKey, baseUrl: `${url}/v1` });
    return {
      provider: new LanguageModelChain(chained(at(DOWN), at(emulator.url))),
      stoppedReplies: () => emulator.exchanges.filter(({ aborted }) => aborted).length,
      close: () => emulator.close(),
    };
  });
  for (const { name, run } of checks) it(name, run);
});

describe('a chain of voices', () => {
  const checks = testTextToSpeech(async () => {
    const emulator = await emulateCartesia({ firstAudioMs: 20, chunkEveryMs: 5 });
    const at = (baseUrl: string) => new CartesiaTextToSpeech({ apiKey, baseUrl, voiceId: 'v1' });
    return {
      provider: new TextToSpeechChain(chained(at(DOWN), at(emulator.url))),
      breakConnections: () => emulator.disconnectAll(),
      close: () => emulator.close(),
    };
  });
  for (const { name, run } of checks) it(name, run);
});
