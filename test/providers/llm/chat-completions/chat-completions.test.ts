import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../../src/base/errors.js';
import { ChatCompletions, type ChatCompletionsOptions } from '../../../../src/providers/llm/index.js';
import type { LanguageModelEvent, ChatMessage } from '../../../../src/providers/language-model.js';
import { finished, HELLO, readReply, textOf, TOOL } from '../../../support/reply-reading.js';
import { itRefuses } from '../../../support/refused-options.js';
import { start } from './scene.js';
import { passUntil } from '../../../support/pass-until.js';
import { soon } from '../../../support/soon.js';

const END = { type: 'end', reason: 'complete' };

describe('new ChatCompletions()', () => {
  itRefuses(ChatCompletions, [
    [{ modell: 'x' }, /Did you mean model/],
    [{ service: 'nobody' }, /service must be one of openai[^?]*$/],
    [{ service: 'gorq' }, /service must be one of openai.* Did you mean groq\?$/],
    [{ service: 'xai' }, /needs model/],
    [{ service: 'compatible', model: 'm' }, /baseUrl/],
    [{ maxTokens: 0 }, /maxTokens/],
    [{ temperature: 3 }, /temperature/],
    [{ extraBody: { messages: [] } }, /messages/],
    [{ apiKey: 'a\nb' }, /key/],
  ]);

  it.each<[ChatCompletionsOptions, string]>([
    [{}, 'openai/gpt-6-luna'],
    [{ service: 'groq' }, 'groq/openai/gpt-oss-20b'],
    [{ service: 'ollama', model: 'llama' }, 'ollama/llama'],
  ])('%j is called %s', (options, name) => {
    expect(new ChatCompletions(options).name).toBe(name);
  });

  it('demands a key when a reply is wanted, and from hosted services only', async () => {
    const model = new ChatCompletions();
    expect(() => model.assertConfigured()).toThrow(/OPENAI_API_KEY/);
    model.warmUp();
    expect((await finished(readReply(model))).error).toBeInstanceOf(ConfigError);
    expect(() => new ChatCompletions({ service: 'ollama', model: 'm' }).assertConfigured()).not.toThrow();
  });
});

describe('ChatCompletions', () => {
  it('asks as the vendor wants to be asked on a telephone', async () => {
    const { model, emulator } = await start();
    const reading = await finished(readReply(model, { tools: [TOOL] }));
    expect(textOf(reading)).toBe('You said: Hello');
    expect(reading.events.slice(-2)).toEqual([
      { type: 'usage', usage: { inputTokens: 20, cachedTokens: 0, outputTokens: 4 } },
      END,
    ]);
    expect(emulator.exchanges[0]?.body).toEqual({
      model: 'gpt-6-luna',
      stream: true,
      stream_options: { include_usage: true, include_obfuscation: false },
      reasoning_effort: 'none',
      max_completion_tokens: 400,
      tools: [{ type: 'function', function: TOOL }],
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
    });
    expect(emulator.violations).toEqual([]);
  });

  it('speaks the older words of the dialect, without a key, to servers of one’s own', async () => {
    const { clock, emulator } = await start({ dialect: 'common' });
    const model = new ChatCompletions({
      service: 'compatible',
      baseUrl: `${emulator.url}/deep/prefix/v1?tenant=a`,
      model: 'mine',
      temperature: 0,
      extraBody: { seed: 7 },
      clock,
    });
    expect(textOf(await finished(readReply(model)))).toBe('You said: Hello');
    expect(emulator.exchanges[0]?.body).toEqual({
      model: 'mine',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 400,
      temperature: 0,
      seed: 7,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
    });
    expect(emulator.requests[0]?.url.href).toContain('/deep/prefix/v1/chat/completions?tenant=a');
    expect(emulator.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('leaves out, from then on, what a server refuses by its name', async () => {
    const { model, emulator } = await start({ unknownFields: ['stream_options', 'reasoning_effort'] });
    expect(textOf(await finished(readReply(model)))).toBe('You said: Hello');
    expect(textOf(await finished(readReply(model)))).toBe('You said: Hello');
    expect(emulator.requests).toHaveLength(4);
    expect(emulator.exchanges[1]?.body).not.toHaveProperty('stream_options');
  });

  it.each(['own-chunk', 'last-chunk', 'x_groq'] as const)('finds usage in %s', async (usagePlacement) => {
    const { model } = await start({
      replies: [{ text: 'Yes.', usagePlacement, usage: { input: 50, cached: 30, output: 2 } }],
    });
    expect((await finished(readReply(model))).events.at(-2)).toEqual({
      type: 'usage',
      usage: { inputTokens: 50, cachedTokens: 30, outputTokens: 2 },
    });
  });

  it.each(['fragments', 'whole', 'same-index', 'no-index', 'no-id'] as const)(
    'assembles tool calls that come as %s',
    async (toolCallStyle) => {
      const toolCalls = [
        { id: 'a', name: 'find_slot', arguments: '{"day":"Friday"}' },
        { id: 'b', name: 'find_slot', arguments: '{"day":"Monday"}' },
      ];
      const { model } = await start({
        replies: [{ text: 'One moment.', toolCalls, toolCallStyle, finishReason: 'stop' }],
      });
      const { events } = await finished(readReply(model, { tools: [TOOL] }));
      const calls = events.flatMap((event) => (event.type === 'tool-call' ? [event] : []));
      expect(calls.map((call) => [call.name, call.arguments])).toEqual([
        ['find_slot', { day: 'Friday' }],
        ['find_slot', { day: 'Monday' }],
      ]);
      expect(events.some(({ type }) => type === 'working')).toBe(true);
      if (toolCallStyle !== 'no-id') expect(calls.map(({ id }) => id)).toEqual(['a', 'b']);
      expect(events.at(-1)).toEqual({ type: 'end', reason: 'tool-calls' });
    },
  );

  it('carries calls and their results in the history, and keeps its beginning byte for byte', async () => {
    const { model, emulator } = await start({
      replies: [
        { toolCalls: [{ id: 'a', name: 'find_slot', arguments: '{"day": "Friday"}' }] },
        { text: 'At ten.' },
      ],
    });
    const { events } = await finished(readReply(model, { tools: [TOOL] }));
    const toolCalls = events.flatMap((event) => (event.type === 'tool-call' ? [event] : []));
    const messages: ChatMessage[] = [
      ...HELLO,
      { role: 'assistant', content: '', toolCalls },
      { role: 'tool', toolCallId: 'a', content: '{"slots":["10:00"]}' },
    ];
    expect(textOf(await finished(readReply(model, { messages, tools: [TOOL] })))).toBe('At ten.');
    expect(emulator.exchanges[1]?.body.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'find_slot', arguments: '{"day": "Friday"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '{"slots":["10:00"]}' },
    ]);
    const [first, second] = emulator.exchanges.map(({ text }) => text.replace(/\]\}$/, ''));
    expect(second?.startsWith(first ?? '?')).toBe(true);
    expect(emulator.violations).toEqual([]);
  });

  it('stops at once and closes the connection when it is aborted', async () => {
    const { clock, model, emulator } = await start({
      replies: [{ text: 'one two three four', tokenMs: 10 }],
    });
    const abort = new AbortController();
    const reading = readReply(model, { signal: abort.signal });
    await passUntil(clock, 10, () => {
      expect(textOf(reading)).toBe('one two');
    });
    abort.abort();
    await new Promise((resolve) => setImmediate(resolve));
    await finished(reading);
    expect(reading.events.slice(-2)).toEqual([
      { type: 'usage', usage: expect.objectContaining({ estimated: true, outputTokens: 2 }) },
      { type: 'end', reason: 'interrupted' },
    ]);
    await soon(() => expect(emulator.exchanges[0]?.aborted).toBe(true));
    expect(reading.error).toBeUndefined();
    expect(clock.pending).toBeLessThanOrEqual(1);
  });

  it('asks nobody when it is aborted before', async () => {
    const { model, emulator } = await start();
    const reading = await finished(readReply(model, { signal: AbortSignal.abort() }));
    expect(reading.events).toEqual([{ type: 'end', reason: 'interrupted' }]);
    expect(emulator.requests).toHaveLength(0);
  });

  it('closes the connection when nobody reads any more', async () => {
    const { clock, model, emulator } = await start({ replies: [{ text: 'word '.repeat(500), tokenMs: 10 }] });
    const stream = model
      .respond({ callId: 'c', messages: HELLO, signal: new AbortController().signal })
      [Symbol.asyncIterator]();
    let first: LanguageModelEvent | undefined;
    void stream.next().then(({ value }) => {
      first = value;
    });
    await passUntil(clock, 10, () => {
      expect(first).toEqual({ type: 'text', delta: 'word' });
    });
    await stream.return?.(undefined);
    await soon(() => expect(emulator.exchanges[0]?.aborted).toBe(true));
  });

  it('does not wait for the usage of a reply that is complete', async () => {
    const { clock, model } = await start({ replies: [{ text: 'Done.', hangAfter: 3 }] });
    const reading = readReply(model);
    await soon(() => expect(textOf(reading)).toBe('Done.'));
    await passUntil(clock, 100, () => {
      expect(reading.over).toBe(true);
    });
    expect(reading.events.at(-1)).toEqual(END);
    expect(reading.events.at(-2)).toMatchObject({ usage: { estimated: true } });
  });
});
