import { describe, expect, it } from 'vitest';
import type { EmulatedReply } from '../../../../src/testing/index.js';
import { finished, listen, start, textOf, TOOL } from './scene.js';
import { passUntil } from '../../../support/pass-until.js';
import { soon } from '../../../support/soon.js';

/** The host and the code, and never the path. */
const NOBODY = /^OpenAI could not be reached \(127\.0\.0\.1:\d+, ECONNREFUSED\)\.$/;

describe('the trouble of ChatCompletions', () => {
  it.each<[string, EmulatedReply]>([
    ['a finish reason alone', { withoutDone: true }],
    ['[DONE] alone', { finishReason: null }],
  ])('takes %s for the end of an answer', async (_, reply) => {
    const { model } = await start({ replies: [{ text: 'Two words.', ...reply }] });
    const reading = await finished(listen(model));
    expect([textOf(reading), reading.error]).toEqual(['Two words.', undefined]);
    expect(reading.events.at(-1)).toEqual({ type: 'end', reason: 'complete' });
  });

  it('makes the calls of an answer that has nothing but [DONE] at its end', async () => {
    const toolCalls = [{ name: 'find_slot', arguments: '{"day":"Friday"}' }];
    const { model } = await start({ replies: [{ toolCalls, finishReason: null }] });
    const { events } = await finished(listen(model, { tools: [TOOL] }));
    expect(events.map(({ type }) => type)).toContain('tool-call');
    expect(events.at(-1)).toEqual({ type: 'end', reason: 'tool-calls' });
  });

  it.each<[string, EmulatedReply, RegExp]>([
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
  ])('fails after %s in the middle, and does not say anything twice', async (_, reply, message) => {
    const { clock, model, emulator } = await start({ replies: [reply] });
    const reading = listen(model);
    await passUntil(clock, 1, () => {
      expect(reading.over).toBe(true);
    });
    expect(textOf(reading)).toBe('a');
    expect(reading.error).toMatchObject({ message: expect.stringMatching(message), retryable: true });
    expect(emulator.requests).toHaveLength(1);
  });

  it('fails when its limit cuts a call off, and there is nothing else to be heard', async () => {
    const toolCalls = [{ name: 'find_slot', arguments: '{"day":"Fri' }];
    const { model, emulator } = await start({ replies: [{ toolCalls, finishReason: 'length' }] });
    const { events, error } = await finished(listen(model, { tools: [TOOL] }));
    const silent = ['working', 'usage'];
    expect(events.every(({ type }) => silent.includes(type))).toBe(true);
    const message = 'OpenAI gave no answer within its limit of tokens.';
    expect(error).toMatchObject({ message, retryable: true });
    expect(emulator.requests).toHaveLength(1);
  });

  it.each<[string, EmulatedReply]>([
    ['an error in the stream', { errorAfter: 0 }],
    ['a cut connection', { cutAfter: 0 }],
    ['an empty stream', { finishReason: null, withoutDone: true, usagePlacement: 'none' }],
    ['a stream with nothing but [DONE]', { finishReason: null, usagePlacement: 'none' }],
    ['thoughts that took all the tokens', { finishReason: 'length' }],
  ])('tries once more after %s before the first word', async (_, reply) => {
    const { clock, model } = await start({ replies: [reply, { text: 'Here.' }] });
    const reading = listen(model);
    await passUntil(clock, 20, () => {
      expect(reading.over).toBe(true);
    });
    expect([textOf(reading), reading.error]).toEqual(['Here.', undefined]);
  });

  it.each<[string, EmulatedReply[], number]>([
    ['one that broke off', [{ text: 'a b c', finishReason: 'error' }], 1],
    ['one that failed in the middle', [{ text: 'a b c', errorAfter: 2 }], 1],
    ['thoughts alone, and of what came instead', [{ text: '', finishReason: 'length' }, { text: 'b' }], 2],
    ['the answer alone, where the first try said only that it failed', [{ errorAfter: 0 }, { text: 'b' }], 1],
  ])('tells the usage of %s', async (_, replies, count) => {
    const { clock, model } = await start({ replies });
    const reading = listen(model);
    await passUntil(clock, 20, () => {
      expect(reading.over).toBe(true);
    });
    expect(reading.events.filter(({ type }) => type === 'usage')).toHaveLength(count);
  });

  it.each([408, 409, 429, 500, 503])('tries once more after %i', async (status) => {
    const { clock, model, emulator } = await start();
    emulator.refuseNext({ status });
    const reading = listen(model);
    await passUntil(clock, 20, () => {
      expect(reading.over).toBe(true);
    });
    expect(textOf(reading)).toBe('You said: Hello');
    expect(reading.events[0]).toMatchObject({ type: 'recovered', gapMs: expect.any(Number) });
    expect(emulator.requests).toHaveLength(2);
  });

  it('waits as long as the server wants, unless that is too long for a caller', async () => {
    const { clock, model, emulator } = await start();
    emulator.refuseNext({ status: 429, headers: { 'retry-after': '1.5' } });
    const patient = listen(model);
    await passUntil(clock, 20, () => {
      expect(emulator.requests).toHaveLength(2);
    });
    expect(clock.now()).toBeGreaterThanOrEqual(1500);
    expect(textOf(await finished(patient))).toBe('You said: Hello');
    emulator.refuseNext({ status: 429, headers: { 'retry-after': '2' } });
    expect((await finished(listen(model))).error).toMatchObject({ status: 429, retryable: true });
    expect(emulator.requests).toHaveLength(3);
  });

  it.each([
    [400, {}, false],
    [401, {}, false],
    [404, {}, false],
    [429, { error: { code: 'insufficient_quota' } }, false],
  ])('does not try again after %i %j', async (status, body, retryable) => {
    const { model, emulator } = await start();
    emulator.refuseNext({ status, body: JSON.stringify(body), times: 2 });
    const { error } = await finished(listen(model));
    expect(error).toMatchObject({ code: 'PROVIDER_FAILED', status, retryable });
    expect(String(error)).not.toContain('test-key');
    expect(emulator.requests).toHaveLength(1);
  });

  it('gives up after the second failure', async () => {
    const { clock, model, emulator } = await start();
    emulator.refuseNext({ status: 503, times: 5 });
    const reading = listen(model);
    await passUntil(clock, 20, () => {
      expect(reading.error).toMatchObject({ status: 503, retryable: true });
    });
    expect(emulator.requests).toHaveLength(2);
  });

  it.each<[string, EmulatedReply, number, string]>([
    ['the first word', { hangAfter: 0 }, 6000, ''],
    ['the next word', { text: 'a b c', hangAfter: 3 }, 4000, 'a b'],
  ])('does not wait for ever for %s', async (_, reply, waitMs, text) => {
    const { clock, model, emulator } = await start({ replies: [reply, reply] });
    const reading = listen(model);
    await soon(() => expect(emulator.exchanges).toHaveLength(1));
    await soon(() => expect(textOf(reading)).toBe(text));
    await passUntil(clock, 20, () => {
      expect(reading.error).toMatchObject({
        message: expect.stringMatching(/did not (answer|go on) in time/),
      });
    });
    expect(clock.now()).toBeGreaterThanOrEqual(waitMs);
    expect(textOf(reading)).toBe(text);
    expect(emulator.requests).toHaveLength(1);
  });

  it('asks again at once when a kept connection was closed by the other side', async () => {
    const { model, emulator } = await start();
    await finished(listen(model));
    emulator.resetNext();
    const reading = await finished(listen(model));
    expect([textOf(reading), reading.error]).toEqual(['You said: Hello', undefined]);
    expect(emulator.connectionCount).toBe(2);
  });

  it('fails when nobody answers', async () => {
    const { clock, model, emulator } = await start();
    await emulator.close();
    const reading = listen(model);
    await passUntil(clock, 20, () => {
      expect(reading.error).toMatchObject({ message: expect.stringMatching(NOBODY), retryable: true });
    });
  });

  it('does not take a page for an answer', async () => {
    const { model, emulator } = await start();
    emulator.refuseNext({ status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Hello</h1>' });
    expect((await finished(listen(model))).error).toMatchObject({ retryable: false });
  });
});
