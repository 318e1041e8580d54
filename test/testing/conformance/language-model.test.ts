import { describe, it } from 'vitest';
import {
  AiSdkLanguageModel,
  AnthropicMessages,
  ChatCompletions,
  ScriptedLanguageModel,
} from '../../../src/providers/llm/index.js';
import { emulateAnthropic, emulateChatCompletions, testLanguageModel } from '../../../src/testing/index.js';
import { FakeAiSdkModel } from '../../support/fake-ai-sdk-model.js';

const suites = {
  ChatCompletions: testLanguageModel(async (wanted) => {
    const replies = wanted.map(({ wordMs = 0, ...reply }) => ({ ...reply, tokenMs: wordMs }));
    const emulator = await emulateChatCompletions({ replies });
    return {
      provider: new ChatCompletions({ apiKey: 'test-key', baseUrl: `${emulator.url}/v1` }),
      stoppedReplies: () => emulator.exchanges.filter(({ aborted }) => aborted).length,
      breakConnections: () => emulator.cutRequests(),
      endStreams: () => emulator.break(1000),
      close: () => emulator.close(),
    };
  }),
  AnthropicMessages: testLanguageModel(async (wanted) => {
    const replies = wanted.map(({ wordMs = 0, ...reply }) => ({ ...reply, tokenMs: wordMs }));
    const emulator = await emulateAnthropic({ replies });
    return {
      provider: new AnthropicMessages({ apiKey: 'test-key', baseUrl: emulator.url }),
      stoppedReplies: () => emulator.exchanges.filter(({ aborted }) => aborted).length,
      breakConnections: () => emulator.cutRequests(),
      endStreams: () => emulator.break(1000),
      close: () => emulator.close(),
    };
  }),
  AiSdkLanguageModel: testLanguageModel((wanted) => {
    const model = new FakeAiSdkModel(
      wanted.map(({ wordMs = 0, ...reply }) => ({ ...reply, tokenMs: wordMs })),
    );
    return {
      provider: new AiSdkLanguageModel({ model }),
      stoppedReplies: () => model.stopped,
      breakConnections: () => model.breakAll(),
      endStreams: () => model.endAll(),
      close() {},
    };
  }),
  ScriptedLanguageModel: testLanguageModel(
    () => ({ provider: new ScriptedLanguageModel({ firstWordMs: 7, wordsPerSecond: 200 }), close() {} }),
    { saysWhatIsWanted: false },
  ),
};

describe.each(Object.entries(suites))('%s', (_, checks) => {
  for (const { name, run } of checks) it(name, run);
});
