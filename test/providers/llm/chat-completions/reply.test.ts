import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChatReply } from '../../../../src/providers/llm/chat-completions/reply.js';

function read(chunks: readonly (object | string)[], options: { aborted?: boolean } = {}) {
  const reply = new ChatReply({ inputCharacters: 400 });
  const text = chunks.map((chunk) => reply.take(typeof chunk === 'string' ? chunk : JSON.stringify(chunk)));
  const events = reply.conclude({ aborted: options.aborted ?? false });
  return {
    reply,
    text: text.join(''),
    usage: events.find(({ type }) => type === 'usage'),
    end: events.at(-1),
    calls: events.filter(({ type }) => type === 'tool-call'),
  };
}

const delta = (fields: object, finish: string | null = null): object => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});
const called = (text: string): object => ({
  tool_calls: [{ index: 0, id: 'a', function: { name: 'find', arguments: text } }],
});

describe('ChatReply', () => {
  it('takes text, whatever stands beside it', () => {
    const { text, end } = read([
      delta({ role: 'assistant', content: null }),
      delta({ content: '' }),
      delta({ content: 'Hel' }),
      delta({ content: 'lo.', reasoning_content: 'think' }),
      delta({}, 'stop'),
      '[DONE]',
    ]);
    expect([text, end]).toEqual(['Hello.', { type: 'end', reason: 'complete' }]);
  });

  it('says a refusal', () => {
    expect(read([delta({ refusal: 'I cannot.' }), delta({}, 'stop')]).text).toBe('I cannot.');
  });

  it.each([
    ['stop', 'complete'],
    ['length', 'length'],
    ['content_filter', 'filtered'],
    ['tool_calls', 'complete'],
    ['something new', 'complete'],
    ['error', 'interrupted'],
    [null, 'interrupted'],
  ])('ends after finish_reason %j with %s', (reason, expected) => {
    expect(read([delta({ content: 'a' }), delta({}, reason)]).end).toEqual({ type: 'end', reason: expected });
  });

  it.each([
    ['tool_calls', '{"x":1}', 'tool-calls', 1],
    ['stop', '{"x":1}', 'tool-calls', 1],
    ['stop', '{"x"', 'tool-calls', 1],
    ['length', '{"x"', 'length', 0],
    ['content_filter', '{"x":1}', 'filtered', 0],
    ['error', '{"x":1}', 'interrupted', 0],
    [null, '{"x":1}', 'interrupted', 0],
  ])('with a call and finish_reason %j, arguments %s: %s', (reason, text, expected, count) => {
    const { end, calls } = read([delta(called(text)), delta({}, reason)]);
    expect(end).toEqual({ type: 'end', reason: expected });
    expect(calls).toHaveLength(count);
  });

  it('makes no calls after an abort', () => {
    const { end, calls } = read([delta(called('{}')), delta({}, 'tool_calls')], { aborted: true });
    expect([end, calls]).toEqual([{ type: 'end', reason: 'interrupted' }, []]);
  });

  const usage = {
    prompt_tokens: 100,
    completion_tokens: 9,
    prompt_tokens_details: { cached_tokens: 60 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
  it.each([
    ['a chunk of its own', { choices: [], usage }],
    ['the last chunk', { ...delta({}, 'stop'), usage }],
    ['a vendor field', { ...delta({}, 'stop'), x_groq: { id: 'r', usage } }],
  ])('finds usage in %s', (_, chunk) => {
    expect(read([delta({ content: 'a' }), chunk, { choices: [], usage: null }]).usage).toEqual({
      type: 'usage',
      usage: { inputTokens: 100, cachedTokens: 60, outputTokens: 9 },
    });
  });

  it('tells what was written to the cache, and no more than was not read from it', () => {
    const tell = (cache_write_tokens: number) => {
      const prompt_tokens_details = { cached_tokens: 60, cache_write_tokens };
      return read([delta({ content: 'a' }), { choices: [], usage: { ...usage, prompt_tokens_details } }])
        .usage;
    };
    expect(tell(30)).toMatchObject({ usage: { inputTokens: 100, cachedTokens: 60, cacheWrittenTokens: 30 } });
    expect(tell(99)).toMatchObject({ usage: { cacheWrittenTokens: 40 } });
  });

  it('takes the last of growing usages, and no more cached tokens than there are', () => {
    const growing = { prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 99 } };
    const chunks = [1, 2, 3].map((completion_tokens) => ({
      ...delta({ content: 'a' }),
      usage: { ...growing, completion_tokens },
    }));
    expect(read(chunks).usage).toMatchObject({ usage: { cachedTokens: 10, outputTokens: 3 } });
  });

  it('estimates usage that nobody tells, and says so', () => {
    expect(read([delta({ content: 'x'.repeat(40) })], { aborted: true }).usage).toEqual({
      type: 'usage',
      usage: { inputTokens: 100, cachedTokens: 0, outputTokens: 10, estimated: true },
    });
  });

  it.each([
    [{ message: 'sk-123 is wrong', type: 'server_error' }, 'transient', '(server_error)'],
    [{ message: 'x', code: 'rate_limit_exceeded' }, 'throttled', '(rate_limit_exceeded)'],
    [{ message: 'x', code: 503 }, 'transient', '(503)'],
    [{ message: 'x', code: 429 }, 'throttled', '(429)'],
    [
      { message: 'x', code: 'insufficient_quota', type: 'insufficient_quota' },
      'fatal',
      '(insufficient_quota)',
    ],
    ['a text', 'transient', 'broke off its answer'],
  ])('takes the error %j in a stream as %s', (error, kind, shown) => {
    const { reply } = read([delta({ content: 'a' }), { error }]);
    expect(reply.failure?.kind).toBe(kind);
    expect(reply.failure?.reason).toContain(shown);
    expect(reply.failure?.reason).not.toContain('sk-123');
  });

  it.each([['[DONE]'], [JSON.stringify({ error: 'a text' })]])('is done with %s, and not before', (end) => {
    const { reply } = read([delta({ content: 'a' }, 'stop')]);
    expect(reply.done).toBe(false);
    reply.take(end);
    expect([reply.done, reply.take(JSON.stringify(delta({ content: 'late' })))]).toEqual([true, '']);
  });

  it('never throws, gives no text after its end, and always ends in an end', () => {
    const chunk = fc.oneof(
      fc.string(),
      fc.constant('[DONE]'),
      fc.json(),
      fc
        .record(
          {
            choices: fc.oneof(
              fc.jsonValue(),
              fc.array(
                fc.record({
                  delta: fc.oneof(
                    fc.jsonValue(),
                    fc.record({ content: fc.string(), tool_calls: fc.jsonValue() }),
                  ),
                  finish_reason: fc.jsonValue(),
                }),
              ),
            ),
            usage: fc.jsonValue(),
            error: fc.jsonValue(),
          },
          { requiredKeys: ['choices'] },
        )
        .map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(fc.array(chunk), fc.boolean(), (chunks, aborted) => {
        const { reply, end } = read(chunks, { aborted });
        expect(end?.type).toBe('end');
        if (reply.done) expect(reply.take(JSON.stringify(delta({ content: 'late' })))).toBe('');
      }),
    );
  });
});
