// Chat Completions asked of the emulator on a clock that the test moves.
import { closedAfterTest } from '../../../support/closed-after-test.js';
import { ChatCompletions, type ChatCompletionsOptions } from '../../../../src/providers/llm/index.js';
import { emulateChatCompletions, type EmulateChatCompletionsOptions } from '../../../../src/testing/index.js';
import { FakeClock } from '../../../support/fake-clock.js';

export async function start(
  options: EmulateChatCompletionsOptions = {},
  provider: ChatCompletionsOptions = {},
) {
  const clock = new FakeClock();
  const emulator = closedAfterTest(await emulateChatCompletions({ clock, ...options }));
  return {
    clock,
    emulator,
    model: new ChatCompletions({
      apiKey: 'test-key',
      baseUrl: `${emulator.url}/v1`,
      clock,
      ...provider,
    }),
  };
}
