// Chat Completions asked of the emulator on a clock that the test moves, and its replies as they come.
import { expect, onTestFinished } from 'vitest';
import { ChatCompletions, type ChatCompletionsOptions } from '../../../../src/providers/llm/index.js';
import type {
  ChatMessage,
  LanguageModelEvent,
  ToolDefinition,
} from '../../../../src/providers/language-model.js';
import { emulateChatCompletions, type EmulateChatCompletionsOptions } from '../../../../src/testing/index.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { soon } from '../../../support/soon.js';

export async function start(
  options: EmulateChatCompletionsOptions = {},
  provider: ChatCompletionsOptions = {},
) {
  const clock = new FakeClock();
  const emulator = await emulateChatCompletions({ clock, ...options });
  onTestFinished(() => emulator.close());
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

export const HELLO: readonly ChatMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hello' },
];
export const TOOL: ToolDefinition = {
  name: 'find_slot',
  description: 'Free appointments on a day',
  parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
};

interface Ask {
  messages?: readonly ChatMessage[];
  tools?: readonly ToolDefinition[];
  signal?: AbortSignal;
}

/** Reads a reply in the background. */
export function listen(model: ChatCompletions, ask: Ask = {}) {
  const { messages = HELLO, tools, signal = new AbortController().signal } = ask;
  const reading = { events: [] as LanguageModelEvent[], over: false, error: undefined as unknown };
  void (async () => {
    try {
      const request = { callId: 'c', messages, signal, ...(tools === undefined ? {} : { tools }) };
      for await (const event of model.respond(request)) reading.events.push(event);
    } catch (error) {
      reading.error = error;
    }
    reading.over = true;
  })();
  return reading;
}

type Reading = ReturnType<typeof listen>;

export const textOf = ({ events }: Reading) =>
  events.map((event) => (event.type === 'text' ? event.delta : '')).join('');

export async function finished(reading: Reading): Promise<Reading> {
  await soon(() => expect(reading.over).toBe(true));
  return reading;
}

export const END = { type: 'end', reason: 'complete' };
