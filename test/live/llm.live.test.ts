// Language models answer with one word, and call a tool.
import { describe, expect } from 'vitest';
import type { LanguageModel, LanguageModelEvent } from '../../src/providers/language-model.js';
import { AnthropicMessages, ChatCompletions } from '../../src/providers/llm/index.js';
import { live, named } from './vendor.js';

const MODELS: readonly [string | readonly string[], () => LanguageModel][] = [
  ['OPENAI_API_KEY', () => new ChatCompletions({ maxTokens: 60 })],
  ['GROQ_API_KEY', () => new ChatCompletions({ service: 'groq', maxTokens: 200 })],
  ['ANTHROPIC_API_KEY', () => new AnthropicMessages({ maxTokens: 400 })],
  // These have no model of ours: whoever has the key names one that calls tools.
  ...(['cerebras', 'xai', 'openrouter'] as const).map((service): [readonly string[], () => LanguageModel] => {
    const vendor = service.toUpperCase();
    const model = `${vendor}_MODEL`;
    return [
      [`${vendor}_API_KEY`, model],
      () => new ChatCompletions({ service, model: named(model), maxTokens: 400 }),
    ];
  }),
];

const TOOL = {
  name: 'find_slot',
  description: 'Free appointments on a day of the week',
  parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
};

describe('a language model answers, and calls a tool', () => {
  for (const [needed, create] of MODELS)
    live(needed, create, async (model, meter) => {
      const ask = async (content: string): Promise<LanguageModelEvent[]> => {
        const events: LanguageModelEvent[] = [];
        const { signal } = new AbortController();
        const messages = [{ role: 'user', content }] as const;
        for await (const event of model.respond({ callId: 'live', messages, tools: [TOOL], signal })) {
          events.push(event);
          if (event.type === 'usage') meter.thought(event.usage);
        }
        return events;
      };
      const said = await ask('Answer with the single word "bread".');
      expect(said.map((event) => (event.type === 'text' ? event.delta : '')).join('')).toMatch(/bread/i);
      const called = await ask('Which slots are free on Friday? Use the tool.');
      expect(called).toContainEqual(expect.objectContaining({ type: 'tool-call', name: 'find_slot' }));
      expect(called.at(-1)).toEqual({ type: 'end', reason: 'tool-calls' });
    });
});
