import { afterEach, describe, expect, it, vi } from 'vitest';
import { ConfigError } from '../../../../src/base/errors.js';
import type { ChatMessage } from '../../../../src/providers/language-model.js';
import { AnthropicMessages, type AnthropicMessagesOptions } from '../../../../src/providers/llm/index.js';
import {
  type AnthropicEmulator,
  emulateAnthropic,
  type EmulateAnthropicOptions,
  type EmulatedAnthropicReply,
} from '../../../../src/testing/index.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { describeHttpModel } from '../http-model.js';
import { itRefuses } from '../../../support/refused-options.js';
import { callsOf, finished, HELLO, readReply, textOf, TOOL } from '../../../support/reply-reading.js';
import { passUntil } from '../../../support/pass-until.js';
import { untilQuiet } from '../../../support/virtual/quiet.js';
import { soon } from '../../../support/soon.js';
import { closedAfterTest } from '../../../support/closed-after-test.js';

let emulator: AnthropicEmulator;

afterEach(() => vi.unstubAllEnvs());

async function start(options: EmulateAnthropicOptions = {}, provider: AnthropicMessagesOptions = {}) {
  const clock = new FakeClock();
  emulator = closedAfterTest(await emulateAnthropic({ clock, ...options }));
  const model = new AnthropicMessages({ apiKey: 'test-key', baseUrl: emulator.url, clock, ...provider });
  return { clock, model, emulator };
}

const END = { type: 'end', reason: 'complete' };

describe('new AnthropicMessages()', () => {
  itRefuses(AnthropicMessages, [
    [{ modell: 'x' }, /Did you mean model/],
    [{ maxTokens: 0 }, /maxTokens/],
    [{ temperature: 1.5 }, /temperature/],
    [{ cacheSystemPrompt: 'yes' }, /cacheSystemPrompt/],
    [{ extraBody: { system: 'x' } }, /system/],
    [{ baseUrl: 'ftp://x' }, /must begin with http/],
  ]);

  it('demands a key when a reply is wanted, and takes it from the environment', async () => {
    const model = new AnthropicMessages();
    expect(model.name).toBe('anthropic/claude-haiku-5-5');
    expect(() => model.assertConfigured()).toThrow(/ANTHROPIC_API_KEY/);
    model.warmUp();
    expect((await finished(readReply(model))).error).toBeInstanceOf(ConfigError);
    vi.stubEnv('ANTHROPIC_API_KEY', 'k');
    expect(() => new AnthropicMessages().assertConfigured()).not.toThrow();
  });
});

describe('AnthropicMessages', () => {
  it('asks as the vendor wants to be asked on a telephone', async () => {
    const { model } = await start();
    const reading = await finished(readReply(model, { tools: [TOOL] }));
    expect(textOf(reading)).toBe('You said: Hello');
    expect(reading.events.at(-1)).toEqual(END);
    expect(emulator.exchanges[0]?.body).toEqual({
      model: 'claude-haiku-5-5',
      stream: true,
      max_tokens: 1000,
      output_config: { effort: 'low' },
      tools: [{ name: TOOL.name, description: TOOL.description, input_schema: TOOL.parameters }],
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    });
    expect(emulator.violations).toEqual([]);
  });

  it('sends what it is told to send, to where it is told to', async () => {
    const { clock } = await start();
    const model = new AnthropicMessages({
      apiKey: 'test-key',
      baseUrl: `${emulator.url}/proxy?tenant=a`,
      model: 'claude-other',
      maxTokens: 50,
      temperature: 0,
      cacheSystemPrompt: false,
      extraBody: { top_k: 3 },
      clock,
    });
    await finished(readReply(model));
    expect(emulator.requests[0]?.url.href).toContain('/proxy/v1/messages?tenant=a');
    const body = emulator.exchanges[0]?.body;
    expect(body).toMatchObject({ model: 'claude-other', max_tokens: 50, temperature: 0, top_k: 3 });
    expect(body).toMatchObject({ system: [{ type: 'text', text: 'Be brief.' }] });
    expect(body).not.toHaveProperty('output_config');
    expect(body?.system).not.toHaveProperty('0.cache_control');
  });

  it('counts what the vendor has cached, read or written, as input', async () => {
    const usage = { input: 10, cached: 1000, written: 200, output: 7 };
    const { model } = await start({ replies: [{ text: 'Yes.', usage }] });
    expect((await finished(readReply(model))).events.at(-2)).toEqual({
      type: 'usage',
      usage: { inputTokens: 1210, cachedTokens: 1000, cacheWrittenTokens: 200, outputTokens: 7 },
    });
  });

  it('does not speak what the model thinks', async () => {
    const { model } = await start({ replies: [{ thinking: 'The caller is polite.', text: 'Good day.' }] });
    expect(textOf(await finished(readReply(model)))).toBe('Good day.');
  });

  it('makes calls of tools, and gives all their results back in one message before what the caller says', async () => {
    const toolCalls = [
      { id: 'toolu_a', name: 'find_slot', arguments: '{"day": "Friday"}' },
      { id: 'toolu_b', name: 'find_slot', arguments: '{"day":' },
      { id: 'toolu_c', name: 'find_slot', arguments: '' },
    ];
    const { model } = await start({ replies: [{ text: 'One moment.', toolCalls }, { text: 'At ten.' }] });
    const reading = await finished(readReply(model, { tools: [TOOL] }));
    const calls = callsOf(reading);
    expect(calls.map(({ id, arguments: input }) => [id, input])).toEqual([
      ['toolu_a', { day: 'Friday' }],
      ['toolu_b', null],
      ['toolu_c', {}],
    ]);
    expect(reading.events.at(-1)).toEqual({ type: 'end', reason: 'tool-calls' });
    const messages: ChatMessage[] = [
      ...HELLO,
      { role: 'assistant', content: 'One moment.', toolCalls: calls },
      ...calls.map(({ id }) => ({ role: 'tool' as const, toolCallId: id, content: `result of ${id}` })),
      { role: 'user', content: 'And?' },
    ];
    expect(textOf(await finished(readReply(model, { messages, tools: [TOOL] })))).toBe('At ten.');
    expect(emulator.exchanges[1]?.body.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'One moment.' },
          { type: 'tool_use', id: 'toolu_a', name: 'find_slot', input: { day: 'Friday' } },
          { type: 'tool_use', id: 'toolu_b', name: 'find_slot', input: { INVALID_JSON: '{"day":' } },
          { type: 'tool_use', id: 'toolu_c', name: 'find_slot', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          ...['toolu_a', 'toolu_b', 'toolu_c'].map((id) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: [{ type: 'text', text: `result of ${id}` }],
          })),
          { type: 'text', text: 'And?' },
        ],
      },
    ]);
    const [first, second] = emulator.exchanges.map(({ text }) => text.replace(/\]\}$/, ''));
    expect(second?.startsWith(first ?? '?')).toBe(true);
    expect(emulator.violations).toEqual([]);
  });

  it.each<[string, readonly ChatMessage[], string[]]>([
    [
      'a greeting',
      [
        { role: 'assistant', content: 'Hello!' },
        { role: 'user', content: 'Hi' },
      ],
      ['user', 'assistant', 'user'],
    ],
    [
      'an agent with the last word',
      [...HELLO, { role: 'assistant', content: 'Still there?' }],
      ['user', 'assistant', 'user'],
    ],
    ['blanks', [...HELLO, { role: 'assistant', content: ' ' }, { role: 'user', content: 'So?' }], ['user']],
    ['a system prompt alone', HELLO.slice(0, 1), ['user']],
    ['a system message in between', [...HELLO, { role: 'system', content: 'It rains.' }], ['user']],
    [
      'ids of another vendor',
      [
        ...HELLO,
        {
          role: 'assistant',
          content: '',
          toolCalls: [{ id: 'a.b:1', name: 'x', arguments: {}, argumentsText: '{}' }],
        },
        { role: 'tool', toolCallId: 'a.b:1', content: '' },
      ],
      ['user', 'assistant', 'user'],
    ],
  ])('makes a conversation that the vendor takes from %s', async (_, messages, roles) => {
    const { model } = await start({ replies: [{ text: 'Fine.' }] });
    expect(textOf(await finished(readReply(model, { messages })))).toBe('Fine.');
    expect(emulator.exchanges[0]?.body.messages.map(({ role }) => role)).toEqual(roles);
    expect(emulator.violations).toEqual([]);
  });

  it.each<[string, string]>([
    ['stop_sequence', 'complete'],
    ['something_new', 'complete'],
    ['', 'complete'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'filtered'],
  ])('takes %s for %s', async (stopReason, reason) => {
    const { model } = await start({ replies: [{ text: 'So.', stopReason }] });
    expect((await finished(readReply(model))).events.at(-1)).toEqual({ type: 'end', reason });
  });

  it('fails when its thoughts take all the tokens that it may use', async () => {
    const reply = { thinking: 'Let me see.', stopReason: 'max_tokens' };
    const { clock, model } = await start({ replies: [reply, reply] });
    const { error } = await finished(readReply(model), { clock });
    expect(error).toMatchObject({
      message: 'Anthropic gave no answer within its limit of tokens.',
      retryable: true,
    });
    expect(emulator.exchanges).toHaveLength(2);
  });

  it('does not make a call that the limit cut off', async () => {
    const toolCalls = [{ id: 'a', name: 'find_slot', arguments: '{"day":"Fri' }];
    const { model } = await start({
      replies: [{ text: 'One moment.', toolCalls, stopReason: 'max_tokens' }],
    });
    const reading = await finished(readReply(model, { tools: [TOOL] }));
    expect([callsOf(reading), reading.events.at(-1)]).toEqual([[], { type: 'end', reason: 'length' }]);
  });

  it('stops at once, closes the connection and says nothing more when it is aborted', async () => {
    const { clock, model } = await start({
      replies: [{ text: 'one two three four', tokenMs: 10, usage: { input: 30, output: 9 } }],
    });
    const abort = new AbortController();
    const reading = readReply(model, { signal: abort.signal });
    await passUntil(clock, 10, () => {
      expect(textOf(reading)).toBe('one two');
    });
    abort.abort();
    await finished(reading);
    await untilQuiet();
    clock.advance(1000);
    expect(textOf(reading)).toBe('one two');
    expect(reading.events.slice(-2)).toEqual([
      { type: 'usage', usage: { inputTokens: 30, cachedTokens: 0, outputTokens: 2, estimated: true } },
      { type: 'end', reason: 'interrupted' },
    ]);
    await soon(() => expect(emulator.exchanges[0]?.aborted).toBe(true));
  });

  it.each([
    ['a stream that just ended', null],
    ['a reply that was to go on', 'pause_turn'],
  ])('fails after %s', async (_, stopReason) => {
    const { model } = await start({ replies: [{ text: 'half a', stopReason }] });
    const reading = await finished(readReply(model));
    expect([textOf(reading), reading.error]).toEqual([
      'half a',
      expect.objectContaining({
        message: 'Anthropic broke off its answer before its end.',
        retryable: true,
      }),
    ]);
    expect(emulator.exchanges).toHaveLength(1);
  });

  it('names the key when the stream says that it is refused', async () => {
    const trouble = { errorAfter: 3, error: { type: 'authentication_error', message: 'invalid' } };
    const { model } = await start({ replies: [{ text: 'a b c', ...trouble }] });
    const { error } = await finished(readReply(model));
    expect(error).toMatchObject({
      message:
        'Anthropic broke off its answer (authentication_error): check ANTHROPIC_API_KEY, or the option apiKey.',
      retryable: false,
    });
  });

  it('loses nothing of a message by an error behind its end', async () => {
    // message_start, a block of one word, its end, message_delta; in the place of message_stop the error.
    const error = { type: 'api_error', message: 'broken' };
    const { model } = await start({ replies: [{ text: 'Here.', errorAfter: 5, error }] });
    const reading = await finished(readReply(model));
    expect([textOf(reading), reading.error, reading.events.at(-1)]).toEqual(['Here.', undefined, END]);
  });

  it('does not try again after an error inside the stream that would come again', async () => {
    const error = { type: 'invalid_request_error', message: 'test-key is secret' };
    const { model } = await start({ replies: [{ errorAfter: 1, error }] });
    const reading = await finished(readReply(model));
    expect(reading.error).toMatchObject({ retryable: false });
    expect(String(reading.error)).not.toContain('secret');
    expect(emulator.requests).toHaveLength(1);
  });
});

describeHttpModel<EmulatedAnthropicReply>('AnthropicMessages', {
  start,
  styles: [
    ['single bytes', { pieceBytes: 1 }],
    ['three bytes', { pieceBytes: 3 }],
    [
      'comments and unknown events',
      { noise: ': x\n\nevent: new\ndata: {"type":"new"}\n\ndata: no json\n\n' },
    ],
  ],
  brokenOff: [
    [
      'an overload that is told inside the stream',
      { text: 'a b c', errorAfter: 3, error: { type: 'overloaded_error', message: 'Overloaded' } },
      /^Anthropic broke off its answer \(overloaded_error\)\.$/,
    ],
    [
      'a cut connection',
      { text: 'a b c', cutAfter: 3, tokenMs: 1 },
      /^Anthropic could not be reached \(127\.0\.0\.1:\d+, ECONNRESET\)\.$/,
    ],
  ],
  wordless: [
    ['an overload inside the stream', { errorAfter: 1, error: { type: 'overloaded_error' } }],
    ['a cut connection', { cutAfter: 1 }],
    ['an empty stream', { stopReason: null }],
  ],
  passing: [408, 429, 500, 503, 529],
  lasting: [400, 401, 403, 404, 413].map((status) => [
    status,
    '{"type":"error","error":{"type":"some_error","message":"test-key"}}',
  ]),
  hanging: [
    ['the first word', { hangAfter: 1 }, 6000, ''],
    ['the next word', { text: 'a b c', hangAfter: 3 }, 4000, 'a'],
  ],
});
