import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../src/base/log.js';
import { ProviderError } from '../../../src/base/errors.js';
import { openMessageRoute } from '../../../src/engines/responder/message-route.js';
import { createResponder } from '../../../src/engines/responder/responder.js';
import { FakeClock } from '../../support/fake-clock.js';
import { answers, OperatorServer } from '../operator-server.js';
import { soon } from '../../support/soon.js';
import { A_CALL } from '../a-call.js';

const MESSAGES = [
  { role: 'system', content: 'secret prompt' },
  { role: 'user', content: 'Hello' },
  { role: 'assistant', content: 'Hi' },
  { role: 'user', content: 'How are you?' },
] as const;

function ask(url: string, clock = new FakeClock()) {
  const abort = new AbortController();
  const route = openMessageRoute(new URL(url), { clock });
  const responder = createResponder({ ...route, call: A_CALL, clock, logger: silentLogger });
  const pieces: string[] = [];
  const done = (async () => {
    for await (const event of responder.respond({ callId: 'c', messages: MESSAGES, signal: abort.signal }))
      if (event.type === 'text') pieces.push(event.delta);
    return pieces.join('');
  })();
  done.catch(() => {});
  return { done, pieces, abort, clock };
}

const until = (condition: () => boolean) => soon(() => expect(condition()).toBe(true));

describe('onMessage as an http address', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('posts the fields of onMessage as JSON, unsigned without a secret', async () => {
    await using operator = await OperatorServer.start(answers('application/json', '{"text":"Fine."}'));
    await expect(ask(operator.url).done).resolves.toBe('Fine.');
    const [{ body = '', headers, method, path } = {}] = operator.received;
    expect({ method, path, type: headers?.['content-type'] }).toEqual({
      method: 'POST',
      path: '/agent',
      type: 'application/json',
    });
    expect(JSON.parse(body)).toEqual({
      ...A_CALL,
      text: 'How are you?',
      history: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hi' },
      ],
    });
    expect(headers).not.toHaveProperty('x-offhook-signature');
  });

  it('signs the raw body with OFFHOOK_WEBHOOK_SECRET', async () => {
    vi.stubEnv('OFFHOOK_WEBHOOK_SECRET', 'a secret');
    await using operator = await OperatorServer.start(answers('text/plain', 'Fine.'));
    await ask(operator.url).done;
    const [{ body = '', headers } = {}] = operator.received;
    const mac = createHmac('sha256', 'a secret').update(body).digest('hex');
    expect(headers?.['x-offhook-signature']).toBe(`sha256=${mac}`);
  });

  it('keeps its connection for the next turn, and replaces one that died', async () => {
    await using operator = await OperatorServer.start(answers('text/plain', 'Fine.'));
    await ask(operator.url).done;
    await ask(operator.url).done;
    expect(operator.received[1]?.port).toBe(operator.received[0]?.port);
    operator.server.closeAllConnections();
    await expect(ask(operator.url).done).resolves.toBe('Fine.');
  });

  it.each<[string, string, string, string]>([
    ['JSON', 'application/json; charset=utf-8', '{"text":"Grüß Gott."}', 'Grüß Gott.'],
    ['plain text', 'text/plain', 'Fine.', 'Fine.'],
    [
      'an event stream',
      'text/event-stream',
      'data: {"delta":"Fi"}\n\ndata: {"delta":"ne."}\n\ndata: [DONE]\n\n',
      'Fine.',
    ],
    ['an event stream without its last line', 'text/event-stream', 'data: {"delta":"Fine."}', 'Fine.'],
    ['nothing', '', '', ''],
    ['an empty text', 'application/json', '{"text":""}', ''],
  ])('takes %s', async (_, type, body, text) => {
    await using operator = await OperatorServer.start(answers(type, body));
    await expect(ask(operator.url).done).resolves.toBe(text);
  });

  it.each<[string, string, string, number]>([
    ['HTML', 'text/html', '<p>Hello</p>', 200],
    ['a body of no type', '', 'Hello', 200],
    ['JSON that is broken', 'application/json', '{"text":', 200],
    ['JSON without a text', 'application/json', '{"answer":"Hello"}', 200],
    ['a text that is a number', 'application/json', '{"text":7}', 200],
    ['an event that is not JSON', 'text/event-stream', 'data: Hello\n\n', 200],
    ['an error', 'application/json', '{"text":"secret"}', 500],
    ['too much', 'application/json', JSON.stringify({ text: 'a'.repeat(300_000) }), 200],
    ['a stream that is too long', 'text/plain', 'a'.repeat(1_100_000), 200],
  ])('makes a ProviderError of %s', async (_, type, body, status) => {
    await using operator = await OperatorServer.start(answers(type, body, status));
    const error: unknown = await ask(operator.url).done.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProviderError);
    expect(String(error)).toMatch(/onMessage/);
    expect(String(error)).not.toMatch(/secret|Hello/);
  });

  it('does not follow redirects', async () => {
    await using other = await OperatorServer.start(answers('text/plain', 'Stolen.'));
    await using operator = await OperatorServer.start((response) => {
      response.writeHead(307, { location: other.url });
      response.end();
    });
    await expect(ask(operator.url).done).rejects.toThrow(/redirect/);
    expect(other.received).toEqual([]);
  });

  it('is a ProviderError when nobody is there', async () => {
    const operator = await OperatorServer.start();
    await operator[Symbol.asyncDispose]();
    await expect(ask(operator.url).done).rejects.toMatchObject({
      code: 'PROVIDER_FAILED',
      message: expect.stringContaining(`onMessage at ${new URL(operator.url).host} `),
    });
  });

  it('hands pieces on as they come, and characters whole', async () => {
    let response: ServerResponse | undefined;
    await using operator = await OperatorServer.start((open) => {
      response = open;
      open.writeHead(200, { 'content-type': 'text/plain' });
      open.write(Buffer.from('Grü').subarray(0, 3));
    });
    const { done, pieces } = ask(operator.url);
    await until(() => pieces.length === 1);
    expect(pieces).toEqual(['Gr']);
    response?.end(Buffer.from('ü.').subarray(1));
    await expect(done).resolves.toBe('Grü.');
  });

  it.each(['before its head', 'in the middle'])(
    'gives up after 30 s of silence %s, and closes',
    async (when) => {
      await using operator = await OperatorServer.start((response) => {
        if (when === 'before its head') return;
        response.writeHead(200, { 'content-type': 'text/plain' });
        response.write('one');
      });
      const { done, pieces, clock } = ask(operator.url);
      await until(() => (when === 'in the middle' ? pieces.length === 1 : operator.received.length === 1));
      const outcome = done.catch((error: unknown) => error);
      await clock.advanceAsync(30_100);
      expect(await outcome).toBeInstanceOf(ProviderError);
      await until(() => operator.cutOff === 1);
      expect(clock.pending).toBe(0);
    },
  );

  it('closes at once when the caller goes on, and drops what comes late', async () => {
    await using operator = await OperatorServer.start((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"delta":"one"}\n\n');
    });
    const { done, pieces, abort, clock } = ask(operator.url);
    await until(() => pieces.length === 1);
    abort.abort();
    await expect(done).resolves.toBe('one');
    await until(() => operator.cutOff === 1);
    expect(clock.pending).toBe(0);
  });
});
