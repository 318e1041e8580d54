// The official client of Anthropic against the emulated vendor.
import Anthropic, { AuthenticationError } from '@anthropic-ai/sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AnthropicEmulator, emulateAnthropic } from '../../../src/testing/index.js';

const MODEL = 'claude-haiku-5-5';
const TOOL: Anthropic.Tool = {
  name: 'find_slot',
  description: 'Free appointments on a day',
  input_schema: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
};

let emulator: AnthropicEmulator;
let client: Anthropic;
beforeEach(async () => {
  const call = { id: 'toolu_1', name: 'find_slot', arguments: '{"day": "Friday"}' };
  emulator = await emulateAnthropic({
    replies: [
      { thinking: 'Which day?', text: 'Let me look.', toolCalls: [call] },
      { text: 'At ten, or at noon.', tokenMs: 5 },
    ],
  });
  client = new Anthropic({ apiKey: 'test-key', baseURL: emulator.url, maxRetries: 0 });
});
afterEach(() => emulator.close());

const ask = (messages: Anthropic.MessageParam[], model = MODEL) =>
  client.messages.stream({
    model,
    max_tokens: 400,
    system: 'You answer for a dentist.',
    messages,
    tools: [TOOL],
  });

describe('the official client of Anthropic', () => {
  it('streams text, calls a tool, and goes on with its result', async () => {
    const question: Anthropic.MessageParam = { role: 'user', content: 'Is Friday free?' };
    const first = ask([question]);
    let text = '';
    first.on('text', (delta) => {
      text += delta;
    });
    const answer = await first.finalMessage();
    expect(text).toBe('Let me look.');
    expect(answer).toMatchObject({ role: 'assistant', model: MODEL, stop_reason: 'tool_use' });
    expect(answer.content.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use']);
    expect(answer.content.at(-1)).toMatchObject({
      id: 'toolu_1',
      name: 'find_slot',
      input: { day: 'Friday' },
    });
    expect(answer.usage.input_tokens).toBeGreaterThan(0);
    expect(answer.usage.output_tokens).toBeGreaterThan(0);
    const second = await ask([
      question,
      { role: 'assistant', content: answer.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '["10:00"]' }] },
    ]).finalMessage();
    expect(second.content).toMatchObject([{ type: 'text', text: 'At ten, or at noon.' }]);
    expect(second.stop_reason).toBe('end_turn');
    expect(emulator.violations).toEqual([]);
  });

  it('is told what is wrong with the key and with a request', async () => {
    const stranger = new Anthropic({ apiKey: 'wrong', baseURL: emulator.url, maxRetries: 0 });
    const asked = stranger.messages.create({ model: MODEL, max_tokens: 9, messages: [] });
    await expect(asked).rejects.toThrow(AuthenticationError);
    await expect(asked).rejects.toMatchObject({ status: 401, type: 'authentication_error' });
    const empty = client.messages.create({ model: MODEL, max_tokens: 9, stream: true, messages: [] });
    await expect(empty).rejects.toMatchObject({ status: 400, type: 'invalid_request_error' });
    emulator.refuseNext({ status: 529, body: '{"type":"error","error":{"type":"overloaded_error"}}' });
    await expect(ask([{ role: 'user', content: 'Hello?' }]).finalMessage()).rejects.toMatchObject({
      status: 529,
    });
  });

  it('stops in the middle, and lists the models', async () => {
    const streaming = client.messages.stream({
      model: MODEL,
      max_tokens: 400,
      messages: [{ role: 'user', content: 'Tell me a story.' }],
    });
    const text = new Promise((resolve) => streaming.once('text', resolve));
    await text;
    streaming.abort();
    await expect(streaming.finalMessage()).rejects.toThrow(/abort/i);
    await expect.poll(() => emulator.exchanges[0]?.aborted).toBe(true);
    expect((await client.models.list()).data).toEqual([]);
  });
});
