import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AnthropicEmulator, emulateAnthropic } from '../../../src/testing/index.js';

let emulator: AnthropicEmulator;
beforeEach(async () => {
  emulator = await emulateAnthropic();
});
afterEach(() => emulator.close());

const HEADERS = { 'x-api-key': 'test-key', 'anthropic-version': '2023-06-01' };
const USER = { role: 'user', content: 'Hello' };
const USE = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'x', input: {} }] };
const BODY = { model: 'm', max_tokens: 5, stream: true, messages: [USER] };

const post = (body: object, headers: Record<string, string> = HEADERS) =>
  fetch(`${emulator.url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body) });

describe('emulateAnthropic', () => {
  it('streams named events, from the start of the message to its end', async () => {
    const text = await (await post(BODY)).text();
    const names = [...text.matchAll(/^event: (.*)$/gm)]
      .map(([, name]) => name)
      .filter((name) => name !== 'ping');
    expect(names.slice(0, 3)).toEqual(['message_start', 'content_block_start', 'content_block_delta']);
    expect(text).toContain('"role":"assistant","model":"m"');
    expect(names.slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop']);
    expect(emulator.violations).toEqual([]);
  });

  it.each([
    [{}, 401],
    [{ ...HEADERS, 'x-api-key': 'wrong' }, 401],
    [{ 'x-api-key': 'test-key' }, 400],
    [{ ...HEADERS, 'anthropic-version': '2023-01-01' }, 400],
  ])('refuses the headers %j', async (headers, status) => {
    const answer = await post(BODY, headers);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ type: 'error', error: { type: expect.any(String) } });
  });

  it('takes the key either way, and both versions of the API, the newer without sampling', async () => {
    const newer = { authorization: 'Bearer test-key', 'anthropic-version': '2026-10-21' };
    const sampled = { ...BODY, temperature: 0.5 };
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'x' };
    const again = [USER, { role: 'assistant', content: [thought, { type: 'text', text: 'Yes?' }] }, USER];
    for (const [body, headers, status] of [
      [BODY, newer, 200],
      [sampled, HEADERS, 200],
      [sampled, newer, 400],
      [{ ...BODY, messages: again }, newer, 200],
    ] as const)
      expect((await post(body, headers)).status).toBe(status);
  });

  it.each<[object, RegExp]>([
    [{ ...BODY, max_tokens: undefined }, /max_tokens/],
    [{ ...BODY, frequency_penalty: 1 }, /frequency_penalty/],
    [{ ...BODY, messages: [] }, /at least one/],
    [{ ...BODY, messages: [{ role: 'system', content: 'x' }] }, /first message/],
    [{ ...BODY, messages: [USER, { role: 'assistant', content: 'x' }] }, /prefill/],
    [{ ...BODY, messages: [{ role: 'user', content: ' ' }] }, /non-empty/],
    [{ ...BODY, messages: [USER, USE, USER] }, /tool_result/],
    [
      { ...BODY, messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] }] },
      /tool_use_id/,
    ],
    [{ ...BODY, tools: [{ name: 'x' }] }, /input_schema/],
  ])('refuses %j', async (body, sentence) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(sentence);
    expect(emulator.violations).toHaveLength(1);
  });
});
