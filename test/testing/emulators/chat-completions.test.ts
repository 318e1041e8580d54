import { describe, expect, it } from 'vitest';
import {
  type ChatCompletionsEmulator,
  emulateChatCompletions,
  type EmulateChatCompletionsOptions,
} from '../../../src/testing/index.js';
import { closedAfterTest } from '../../support/closed-after-test.js';

async function ask(body: unknown, options: EmulateChatCompletionsOptions = {}, key = 'test-key') {
  const emulator: ChatCompletionsEmulator = closedAfterTest(await emulateChatCompletions(options));
  const response = await fetch(`${emulator.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { emulator, status: response.status, text: await response.text() };
}

const user = { role: 'user', content: 'Hi' };
const base = { model: 'm', stream: true, messages: [user] };
const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };

describe('emulateChatCompletions', () => {
  it.each<[string, unknown, RegExp]>([
    ['not JSON', '{', /not JSON/],
    ['an unknown field', { ...base, max_tokens: 5 }, /max_tokens/],
    ['no model', { ...base, model: undefined }, /model/],
    ['no messages', { ...base, messages: [] }, /messages/],
    ['an unknown role', { ...base, messages: [{ role: 'agent', content: 'x' }] }, /agent/],
    ['a message without text', { ...base, messages: [{ role: 'user', content: null }] }, /content/],
    [
      'a result without a call',
      { ...base, messages: [{ role: 'tool', content: 'x', tool_call_id: 'a' }] },
      /must answer a tool call/,
    ],
    [
      'a call without a result',
      { ...base, messages: [{ role: 'assistant', content: null, tool_calls: [call] }, user] },
      /must be followed/,
    ],
    ['empty tools', { ...base, tools: [] }, /tools/],
    ['a tool without a name', { ...base, tools: [{ type: 'function', function: {} }] }, /named/],
  ])('refuses %s', async (_, body, sentence) => {
    const { emulator, status, text } = await ask(body);
    expect([status, emulator.violations.length, emulator.exchanges.length]).toEqual([400, 1, 0]);
    expect(text).toMatch(sentence);
  });

  it('wants the right key, or none when it is a server of one’s own', async () => {
    expect((await ask(base, {}, 'wrong')).status).toBe(401);
    expect((await ask(base, { dialect: 'common' }, 'wrong')).status).toBe(401);
  });

  it('refuses the newest words in the older dialect', async () => {
    const messages = [{ role: 'developer', content: 'x' }, user];
    expect((await ask({ ...base, messages }, { dialect: 'common' })).status).toBe(400);
    expect((await ask({ ...base, max_tokens: 5 }, { dialect: 'common' })).status).toBe(200);
  });

  it('streams what it was told to say', async () => {
    const { text } = await ask(base, {
      replies: [{ text: 'Good day.', usage: { input: 7, cached: 3, output: 2 } }],
    });
    const lines = text.split('\n\n').filter(Boolean);
    expect(lines.at(-1)).toBe('data: [DONE]');
    const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.slice('data: '.length)));
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('Good day.');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } });
  });

  it.each([{ day: 'Friday' }, null, 7, [1], undefined])(
    'sends %j for the arguments of a call as it is',
    async (args) => {
      const { text, emulator } = await ask(base, {
        replies: [{ toolCalls: [{ name: 'f', arguments: args }] }],
      });
      const called = text.split('\n').find((line) => line.includes('"tool_calls":[')) ?? '';
      const sent = JSON.parse(called.slice('data: '.length)).choices[0].delta.tool_calls[0].function;
      expect(sent).toEqual(args === undefined ? { name: 'f' } : { name: 'f', arguments: args });
      expect(emulator.violations).toEqual([]);
    },
  );

  it('fails like a server where its script throws, and says so', async () => {
    const replies = () => {
      throw new Error('mine');
    };
    const { emulator, status } = await ask(base, { replies });
    expect(status).toBe(500);
    expect(emulator.violations).toEqual(['the script of the emulator failed: mine']);
    const broken = { toolCalls: [null] } as never;
    expect((await ask(base, { replies: [broken] })).status).toBe(500);
  });
});
