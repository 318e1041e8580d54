import { describe, expect, it, vi } from 'vitest';
import { ProviderError } from '../../../src/base/errors.js';
import { type Logger, silentLogger } from '../../../src/base/log.js';
import { createResponder, type OnMessage } from '../../../src/engines/responder/responder.js';
import { RecordedLogger } from '../../support/recorded-logger.js';
import { FakeClock } from '../../support/fake-clock.js';
import { A_CALL } from '../a-call.js';

const MESSAGES = [
  { role: 'system', content: 'secret prompt' },
  { role: 'user', content: 'Hello' },
  { role: 'assistant', content: 'Hi' },
  { role: 'user', content: 'How are you?' },
] as const;

function ask(onMessage: OnMessage, clock = new FakeClock(), logger: Logger = silentLogger) {
  const abort = new AbortController();
  const responder = createResponder({ onMessage, call: A_CALL, clock, logger });
  const answer = (async () => {
    let text = '';
    for await (const event of responder.respond({ callId: 'c', messages: MESSAGES, signal: abort.signal }))
      if (event.type === 'text') text += event.delta;
    return text;
  })();
  answer.catch(() => {});
  return { answer, abort, clock };
}

async function* words(...all: unknown[]): AsyncGenerator<string> {
  for (const word of all) yield word as string;
}

describe('a responder', () => {
  it('gives onMessage the text and the history without the prompt', async () => {
    const onMessage = vi.fn<OnMessage>(() => 'Fine.');
    await expect(ask(onMessage).answer).resolves.toBe('Fine.');
    expect(onMessage.mock.calls[0]?.[0]).toMatchObject({
      ...A_CALL,
      text: 'How are you?',
      history: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hi' },
      ],
    });
  });

  it.each<[string, OnMessage, string]>([
    ['a promise', async () => 'Fine.', 'Fine.'],
    ['a stream', () => words('Fi', 'ne.'), 'Fine.'],
    ['the promise of a stream', async () => words('Fi', 'ne.'), 'Fine.'],
    ['nothing to say', () => '', ''],
  ])('takes %s', async (_, onMessage, text) => {
    await expect(ask(onMessage).answer).resolves.toBe(text);
  });

  it.each<[string, OnMessage]>([
    [
      'throws',
      () => {
        throw new Error('mine');
      },
    ],
    ['rejects', () => Promise.reject(new Error('mine'))],
    ['returns a number', () => 42 as unknown as string],
    ['returns nothing', () => undefined as unknown as string],
    ['streams a number', () => words('one', 2)],
    [
      'streams and breaks',
      async function* () {
        yield 'one';
        throw new Error('mine');
      },
    ],
  ])('makes a ProviderError of an onMessage that %s', async (_, onMessage) => {
    await expect(ask(onMessage).answer).rejects.toBeInstanceOf(ProviderError);
  });

  it('logs where an onMessage threw, and at level debug the whole error', async () => {
    const logger = new RecordedLogger();
    const broken = () => {
      throw new Error('no such customer');
    };
    await expect(ask(broken, undefined, logger).answer).rejects.toThrow('onMessage failed');
    const at = expect.arrayContaining([expect.stringContaining('responder.test.ts')]);
    expect(logger.lines).toMatchObject([
      { level: 'warn', fields: { callId: 'c', error: 'Error', at }, sentence: 'onMessage failed' },
      { level: 'debug', fields: { callId: 'c', thrown: expect.stringContaining('no such customer') } },
    ]);
    expect(JSON.stringify(logger.lines[0])).not.toContain('customer');
  });

  it.each<[string, OnMessage, boolean]>([
    ['nothing', () => '', true],
    ['blanks', () => words(' ', ' '), true],
    ['no piece', () => words(), true],
    ['a text', () => words('', 'Fine.'), false],
  ])('logs an answer of %s where it has no words', async (_, onMessage, isSilent) => {
    const logger = new RecordedLogger();
    await ask(onMessage, undefined, logger).answer;
    const line = { level: 'info', fields: { callId: 'c' }, sentence: 'onMessage gave no answer' };
    expect(logger.lines).toEqual(isSilent ? [line] : []);
  });

  it('gives up after 30 s, also between two pieces', async () => {
    for (const onMessage of [
      () => new Promise<string>(() => {}),
      async function* () {
        yield 'one';
        await new Promise(() => {});
      } as OnMessage,
    ]) {
      const { answer, clock } = ask(onMessage);
      const outcome = vi.fn();
      answer.catch(outcome);
      await clock.advanceAsync(29_900);
      expect(outcome).not.toHaveBeenCalled();
      await clock.advanceAsync(200);
      expect(outcome.mock.calls[0]?.[0]).toBeInstanceOf(ProviderError);
      expect(clock.pending).toBe(0);
    }
  });

  it('ends at once when it is aborted, and swallows what comes late', async () => {
    let reject: (error: Error) => void = () => {};
    const { answer, abort, clock } = ask(
      () =>
        new Promise<string>((_, fail) => {
          reject = fail;
        }),
    );
    await clock.advanceAsync(10);
    abort.abort();
    await expect(answer).resolves.toBe('');
    reject(new Error('late'));
    await clock.advanceAsync(10);
    expect(clock.pending).toBe(0);
  });
});
