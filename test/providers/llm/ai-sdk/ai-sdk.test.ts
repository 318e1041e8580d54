import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../../src/providers/language-model.js';
import { AiSdkLanguageModel, type AiSdkLanguageModelOptions } from '../../../../src/providers/llm/index.js';
import { FakeAiSdkModel, type FakeSdkReply } from '../../../support/fake-ai-sdk-model.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { itRefuses } from '../../../support/refused-options.js';
import { callsOf, finished, HELLO, readReply, textOf, TOOL } from '../../../support/reply-reading.js';
import { soon } from '../../../support/soon.js';

function start(replies: readonly FakeSdkReply[], options: Partial<AiSdkLanguageModelOptions> = {}) {
  const clock = new FakeClock();
  const sdk = new FakeAiSdkModel(replies);
  return { clock, sdk, model: new AiSdkLanguageModel({ model: sdk, clock, ...options }) };
}

const END = { type: 'end', reason: 'complete' };
const INTERRUPTED = { type: 'end', reason: 'interrupted' };
const delta = (text: string) => ({ type: 'text-delta', id: 't', delta: text });

describe('new AiSdkLanguageModel()', () => {
  const sdk = new FakeAiSdkModel([]);
  itRefuses(AiSdkLanguageModel, [
    [{}, /language model of the AI SDK/],
    [{ model: 'gpt' }, /not its name/],
    [{ model: { specificationVersion: 'v3' } }, /language model of the AI SDK/],
    [{ model: { ...sdk, doStream: () => {}, specificationVersion: 'v1' } }, /v2, v3, v4/],
    [{ model: sdk, maxTokens: 0 }, /maxTokens/],
    [{ model: sdk, temprature: 0 }, /temperature/],
  ]);

  it('is called as vendor and model, and costs what it is told to cost', () => {
    const price = { inputPerMillionTokens: 1, outputPerMillionTokens: 2 };
    const model = new AiSdkLanguageModel({ model: sdk, price });
    expect([model.name, model.price]).toEqual(['fake/model-1', price]);
  });
});

describe('AiSdkLanguageModel', () => {
  it.each(['v2', 'v3', 'v4'] as const)('reads a reply of specification %s', async (version) => {
    const sdk = new FakeAiSdkModel([{ text: 'Grüße, 👋!' }], version);
    const reading = await finished(readReply(new AiSdkLanguageModel({ model: sdk })));
    expect(textOf(reading)).toBe('Grüße, 👋!');
    expect(reading.events.slice(-2)).toEqual([
      {
        type: 'usage',
        usage: {
          inputTokens: 50,
          cachedTokens: 30,
          // The oldest specification does not tell it.
          ...(version === 'v2' ? {} : { cacheWrittenTokens: 5 }),
          outputTokens: 2,
        },
      },
      END,
    ]);
  });

  it('asks for what was wanted', async () => {
    const providerOptions = { fake: { effort: 'low' } };
    const { model, sdk } = start([{ text: 'Yes.' }], { maxTokens: 50, temperature: 0, providerOptions });
    await finished(readReply(model, { tools: [TOOL] }));
    expect(sdk.calls[0]).toEqual({
      maxOutputTokens: 50,
      temperature: 0,
      providerOptions,
      prompt: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
      ],
      tools: [
        { type: 'function', name: TOOL.name, description: TOOL.description, inputSchema: TOOL.parameters },
      ],
      abortSignal: expect.any(AbortSignal),
    });
  });

  it('makes calls of tools and gives their results back', async () => {
    const toolCalls = [
      { id: 'a', name: 'find_slot', arguments: '{"day":"Friday"}' },
      { id: 'b', name: 'find_slot', arguments: '{"day":' },
    ];
    const { model, sdk } = start([{ text: 'One moment.', toolCalls }, { text: 'At ten.' }]);
    const reading = await finished(readReply(model, { tools: [TOOL] }));
    expect(callsOf(reading).map((call) => call.arguments)).toEqual([{ day: 'Friday' }, null]);
    expect(reading.events.at(-1)).toEqual({ type: 'end', reason: 'tool-calls' });
    const messages: ChatMessage[] = [
      ...HELLO,
      { role: 'assistant', content: '', toolCalls: callsOf(reading) },
      { role: 'tool', toolCallId: 'a', content: 'ten' },
      { role: 'tool', toolCallId: 'b', content: 'unreadable' },
    ];
    expect(textOf(await finished(readReply(model, { messages })))).toBe('At ten.');
    const call = (id: string, input: object) => ({
      type: 'tool-call',
      toolCallId: id,
      toolName: 'find_slot',
      input,
    });
    const result = (id: string, value: string) => ({
      type: 'tool-result',
      toolCallId: id,
      toolName: 'find_slot',
      output: { type: 'text', value },
    });
    expect(sdk.calls[1]?.prompt.slice(2)).toEqual([
      { role: 'assistant', content: [call('a', { day: 'Friday' }), call('b', { INVALID_JSON: '{"day":' })] },
      { role: 'tool', content: [result('a', 'ten'), result('b', 'unreadable')] },
    ]);
  });

  it('leaves alone what the vendor runs itself, and parts that it does not know', async () => {
    const parts = [
      { type: 'tool-input-start', id: 's', toolName: 'search', providerExecuted: true },
      { type: 'tool-call', toolCallId: 's', toolName: 'search', input: '{}', providerExecuted: true },
      { type: 'tool-result', toolCallId: 's', toolName: 'search', result: 1 },
      { type: 'ping' },
      null,
      delta('Found.'),
      { type: 'finish', finishReason: { unified: 'stop' }, usage: {} },
    ] as object[];
    const reading = await finished(readReply(start([{ parts }]).model));
    expect(reading.events).toEqual([
      { type: 'text', delta: 'Found.' },
      { type: 'usage', usage: expect.objectContaining({ estimated: true }) },
      END,
    ]);
  });

  it.each([
    ['length', 'length'],
    ['content-filter', 'filtered'],
    ['other', 'complete'],
  ])('takes %s for %s', async (finishReason, reason) => {
    const { model } = start([{ parts: [delta('So.'), { type: 'finish', finishReason, usage: {} }] }]);
    expect((await finished(readReply(model))).events.at(-1)).toEqual({ type: 'end', reason });
  });

  it.each<[string, readonly object[]]>([
    ['a stream that just ended', []],
    ['a reply that the vendor broke off', [{ type: 'finish', finishReason: 'error', usage: {} }]],
  ])('fails after %s', async (_, end) => {
    const { model, sdk } = start([{ parts: [delta('half a'), ...end] }]);
    const reading = await finished(readReply(model));
    expect([textOf(reading), reading.error]).toEqual([
      'half a',
      expect.objectContaining({
        message: 'The model fake/model-1 broke off its answer before its end.',
        retryable: true,
      }),
    ]);
    expect(sdk.calls).toHaveLength(1);
  });

  it.each(['open', 'stream'] as const)('ends at once when it is aborted, though %s hangs', async (hang) => {
    const { model, sdk } = start([{ hang, parts: hang === 'stream' ? [delta('one')] : [] }]);
    const abort = new AbortController();
    const reading = readReply(model, { signal: abort.signal });
    await soon(() => expect(sdk.calls).toHaveLength(1));
    if (hang === 'stream') await soon(() => expect(textOf(reading)).toBe('one'));
    abort.abort();
    await finished(reading);
    expect([reading.error, reading.events.at(-1)]).toEqual([undefined, INTERRUPTED]);
    expect(sdk.calls[0]?.abortSignal?.aborted).toBe(true);
  });

  it('asks nobody when it is aborted before', async () => {
    const { model, sdk } = start([]);
    expect((await finished(readReply(model, { signal: AbortSignal.abort() }))).events).toEqual([INTERRUPTED]);
    expect(sdk.calls).toHaveLength(0);
  });

  it.each<[string, FakeSdkReply, number]>([
    ['a request', { hang: 'open' }, 6000],
    ['the first word', { parts: [], hang: 'stream' }, 6000],
    ['the next word', { parts: [delta('a')], hang: 'stream' }, 4000],
  ])('does not wait for ever for %s', async (_, reply, waitMs) => {
    const { clock, model, sdk } = start([reply]);
    const reading = readReply(model);
    await soon(() => expect(sdk.calls).toHaveLength(1));
    await finished(reading, { clock });
    expect(reading.error).toMatchObject({ message: expect.stringContaining('did not go on in time') });
    expect(clock.now()).toBeGreaterThanOrEqual(waitMs);
    expect(sdk.calls).toHaveLength(1);
  });

  it.each<[string, FakeSdkReply, number]>([
    ['a busy server', { refusal: { statusCode: 429, isRetryable: true } }, 1],
    ['an overload', { refusal: { statusCode: 529 } }, 1],
    ['an error in the stream', { parts: [{ type: 'error', error: { statusCode: 503 } }] }, 1],
    ['a lost connection', { refusal: new TypeError('fetch failed') }, 1],
    ['an empty stream', { parts: [] }, 2],
    [
      'thoughts that took all the tokens',
      { parts: [{ type: 'finish', finishReason: 'length', usage: {} }] },
      2,
    ],
    ['a reply that failed', { parts: [{ type: 'finish', finishReason: 'error', usage: {} }] }, 2],
  ])('tries once more after %s before the first word, and tells what is paid', async (_, reply, paid) => {
    const { clock, model, sdk } = start([reply, { text: 'Here.' }]);
    const reading = await finished(readReply(model), { clock });
    expect(textOf(reading)).toBe('Here.');
    const types = reading.events.map(({ type }) => type);
    expect(types.slice(0, paid)).toEqual([...Array(paid - 1).fill('usage'), 'recovered']);
    expect(types.filter((type) => type === 'usage')).toHaveLength(paid);
    expect(sdk.calls).toHaveLength(2);
  });

  it.each<[string, FakeSdkReply, number | null]>([
    ['401', { refusal: { statusCode: 401, message: 'key sk-secret' } }, 401],
    ['a quota', { refusal: { isRetryable: false } }, null],
    ['an error in the stream', { parts: [{ type: 'error', error: { statusCode: 400 } }] }, 400],
  ])('does not try again after %s', async (_, reply, status) => {
    const { model, sdk } = start([reply]);
    const { error } = await finished(readReply(model));
    expect(error).toMatchObject({ code: 'PROVIDER_FAILED', status, retryable: false });
    expect(String(error)).not.toContain('secret');
    expect(sdk.calls).toHaveLength(1);
  });

  it.each([401, 403])('says after %i whose key is meant', async (statusCode) => {
    const { model } = start([{ refusal: { statusCode } }]);
    const { error } = await finished(readReply(model));
    expect(error).toMatchObject({
      message: `The model ${model.name} failed (HTTP ${statusCode}): check the key that its provider package takes.`,
    });
  });

  it('fails after an error in the middle, and does not say anything twice', async () => {
    const parts = [delta('a'), { type: 'error', error: new Error('x') }];
    const { model, sdk } = start([{ parts }, { text: 'again' }]);
    const reading = await finished(readReply(model));
    expect([textOf(reading), sdk.calls.length]).toEqual(['a', 1]);
    expect(reading.error).toMatchObject({ retryable: true });
  });

  it('waits as long as the server wants, unless that is too long for a caller', async () => {
    const refusal = { statusCode: 429, responseHeaders: { 'retry-after': '30' } };
    const { model, sdk } = start([{ refusal }]);
    expect((await finished(readReply(model))).error).toMatchObject({ status: 429 });
    expect(sdk.calls).toHaveLength(1);
  });
});
