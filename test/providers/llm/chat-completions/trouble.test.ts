import { describe, expect, it } from 'vitest';
import type { EmulatedReply } from '../../../../src/testing/index.js';
import { finished, readReply, textOf, TOOL } from '../../../support/reply-reading.js';
import { describeHttpModel } from '../http-model.js';
import { start } from './scene.js';
import { passUntil } from '../../../support/pass-until.js';

/** The host and the code, and never the path. */
const NOBODY = /^OpenAI could not be reached \(127\.0\.0\.1:\d+, ECONNREFUSED\)\.$/;

describe('the trouble of ChatCompletions', () => {
  it.each<[string, EmulatedReply]>([
    ['a finish reason alone', { withoutDone: true }],
    ['[DONE] alone', { finishReason: null }],
  ])('takes %s for the end of an answer', async (_, reply) => {
    const { model } = await start({ replies: [{ text: 'Two words.', ...reply }] });
    const reading = await finished(readReply(model));
    expect([textOf(reading), reading.error]).toEqual(['Two words.', undefined]);
    expect(reading.events.at(-1)).toEqual({ type: 'end', reason: 'complete' });
  });

  it('makes the calls of an answer that has nothing but [DONE] at its end', async () => {
    const toolCalls = [{ name: 'find_slot', arguments: '{"day":"Friday"}' }];
    const { model } = await start({ replies: [{ toolCalls, finishReason: null }] });
    const { events } = await finished(readReply(model, { tools: [TOOL] }));
    expect(events.map(({ type }) => type)).toContain('tool-call');
    expect(events.at(-1)).toEqual({ type: 'end', reason: 'tool-calls' });
  });

  it('fails when its limit cuts a call off, and there is nothing else to be heard', async () => {
    const toolCalls = [{ name: 'find_slot', arguments: '{"day":"Fri' }];
    const { model, emulator } = await start({ replies: [{ toolCalls, finishReason: 'length' }] });
    const { events, error } = await finished(readReply(model, { tools: [TOOL] }));
    const silent = ['working', 'usage'];
    expect(events.every(({ type }) => silent.includes(type))).toBe(true);
    const message = 'OpenAI gave no answer within its limit of tokens.';
    expect(error).toMatchObject({ message, retryable: true });
    expect(emulator.requests).toHaveLength(1);
  });

  it.each<[string, EmulatedReply[], number]>([
    ['one that broke off', [{ text: 'a b c', finishReason: 'error' }], 1],
    ['one that failed in the middle', [{ text: 'a b c', errorAfter: 2 }], 1],
    ['thoughts alone, and of what came instead', [{ text: '', finishReason: 'length' }, { text: 'b' }], 2],
    ['the answer alone, where the first try said only that it failed', [{ errorAfter: 0 }, { text: 'b' }], 1],
  ])('tells the usage of %s', async (_, replies, count) => {
    const { clock, model } = await start({ replies });
    const reading = readReply(model);
    await passUntil(clock, 20, () => {
      expect(reading.over).toBe(true);
    });
    expect(reading.events.filter(({ type }) => type === 'usage')).toHaveLength(count);
  });

  it('asks again at once when a kept connection was closed by the other side', async () => {
    const { model, emulator } = await start();
    await finished(readReply(model));
    emulator.resetNext();
    const reading = await finished(readReply(model));
    expect([textOf(reading), reading.error]).toEqual(['You said: Hello', undefined]);
    expect(emulator.connectionCount).toBe(2);
  });

  it('fails when nobody answers', async () => {
    const { clock, model, emulator } = await start();
    await emulator.close();
    const reading = readReply(model);
    await passUntil(clock, 20, () => {
      expect(reading.error).toMatchObject({ message: expect.stringMatching(NOBODY), retryable: true });
    });
  });

  it('does not take a page for an answer', async () => {
    const { model, emulator } = await start();
    emulator.refuseNext({ status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Hello</h1>' });
    expect((await finished(readReply(model))).error).toMatchObject({ retryable: false });
  });
});

describeHttpModel<EmulatedReply>('ChatCompletions', {
  start,
  styles: [
    ['single bytes', { pieceBytes: 1 }],
    ['three bytes and both line ends', { pieceBytes: 3, lineEnd: '\r\n' }],
    ['carriage returns', { lineEnd: '\r' }],
    ['comments between', { noise: ': keep-alive\n\n' }],
    ['no last line', { withoutDone: true }],
  ],
  brokenOff: [
    [
      'an error in the stream',
      { text: 'a b c', errorAfter: 2 },
      /^OpenAI broke off its answer \(server_error\)\.$/,
    ],
    [
      'a cut connection',
      { text: 'a b c', cutAfter: 2, tokenMs: 1 },
      /^OpenAI could not be reached \(127\.0\.0\.1:\d+, ECONNRESET\)\.$/,
    ],
    [
      'a stream that just ended',
      { text: 'a', finishReason: null, withoutDone: true },
      /^OpenAI broke off its answer before its end\.$/,
    ],
  ],
  wordless: [
    ['an error in the stream', { errorAfter: 0 }],
    ['a cut connection', { cutAfter: 0 }],
    ['an empty stream', { finishReason: null, withoutDone: true, usagePlacement: 'none' }],
    ['a stream with nothing but [DONE]', { finishReason: null, usagePlacement: 'none' }],
    ['thoughts that took all the tokens', { finishReason: 'length' }],
  ],
  passing: [408, 409, 429, 500, 503],
  lasting: [
    [400, '{}'],
    [401, '{}'],
    [404, '{}'],
    [429, '{"error":{"code":"insufficient_quota"}}'],
  ],
  hanging: [
    ['the first word', { hangAfter: 0 }, 6000, ''],
    ['the next word', { text: 'a b c', hangAfter: 3 }, 4000, 'a b'],
  ],
});
