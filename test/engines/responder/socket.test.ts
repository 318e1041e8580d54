import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { silentLogger } from '../../../src/base/log.js';
import { ProviderError } from '../../../src/base/errors.js';
import { openMessageRoute } from '../../../src/engines/responder/message-route.js';
import { createResponder } from '../../../src/engines/responder/responder.js';
import { FakeClock } from '../../support/fake-clock.js';
import { soon } from '../../support/soon.js';
import { A_CALL } from '../a-call.js';

interface Received {
  type: string;
  id: string;
  [field: string]: unknown;
}

const until = (condition: () => boolean) => soon(() => expect(condition()).toBe(true));

describe('onMessage as a ws address', () => {
  let server: WebSocketServer;
  let url: URL;
  let sockets: WebSocket[];
  let received: Received[];
  let onMessage: (message: Received, socket: WebSocket) => void;
  let clock: FakeClock;
  const closers: (() => void)[] = [];

  beforeEach(async () => {
    sockets = [];
    received = [];
    onMessage = () => {};
    clock = new FakeClock();
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await new Promise<void>((resolve) => server.once('listening', resolve));
    url = new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/agent`);
    server.on('connection', (socket) => {
      sockets.push(socket);
      socket.on('message', (data) => {
        const message = JSON.parse(String(data)) as Received;
        received.push(message);
        if (message.type === 'message') onMessage(message, socket);
      });
    });
  });
  afterEach(async () => {
    for (const close of closers.splice(0)) close();
    for (const socket of server.clients) socket.terminate();
    await new Promise((resolve) => server.close(resolve));
  });

  const say = (socket: WebSocket | undefined, message: object) => socket?.send(JSON.stringify(message));

  /** One call's responder, and how it is asked. */
  function open() {
    const route = openMessageRoute(url, { clock });
    closers.push(() => route.close?.());
    const responder = createResponder({ ...route, call: A_CALL, clock, logger: silentLogger });
    const ask = (text: string) => {
      const abort = new AbortController();
      const pieces: string[] = [];
      const messages = [
        { role: 'system', content: 'secret prompt' },
        { role: 'user', content: text },
      ] as const;
      const done = (async () => {
        for await (const event of responder.respond({ callId: 'c', messages, signal: abort.signal }))
          if (event.type === 'text') pieces.push(event.delta);
        return pieces.join('');
      })();
      done.catch(() => {});
      return { done, pieces, abort };
    };
    return { ask, close: () => route.close?.(), warmUp: () => responder.warmUp?.() };
  }

  it('has one socket per call, connected ahead, and gives the pieces of each answer', async () => {
    onMessage = ({ id, text }, socket) => {
      say(socket, { type: 'delta', id, text: `${text}: ` });
      say(socket, { type: 'delta', id, text: 'fine.' });
      say(socket, { type: 'done', id });
    };
    const call = open();
    call.warmUp();
    await until(() => sockets.length === 1);
    await expect(call.ask('one').done).resolves.toBe('one: fine.');
    await expect(call.ask('two').done).resolves.toBe('two: fine.');
    expect(sockets).toHaveLength(1);
    expect(received).toEqual([
      { type: 'message', id: '1', ...A_CALL, text: 'one', history: [] },
      { type: 'message', id: '2', ...A_CALL, text: 'two', history: [] },
    ]);
    await expect(open().ask('three').done).resolves.toBe('three: fine.');
    expect(sockets).toHaveLength(2);
  });

  it('takes a whole answer with `done`, but not twice', async () => {
    onMessage = ({ id, text }, socket) => {
      if (text === 'pieces') say(socket, { type: 'delta', id, text: 'Fine.' });
      say(socket, { type: 'done', id, text: 'Fine.' });
    };
    const call = open();
    await expect(call.ask('whole').done).resolves.toBe('Fine.');
    await expect(call.ask('pieces').done).resolves.toBe('Fine.');
  });

  it('cancels what the caller does not wait for, and drops what comes late for it', async () => {
    const call = open();
    onMessage = ({ id }, socket) => say(socket, { type: 'delta', id, text: 'one ' });
    const first = call.ask('one');
    await until(() => first.pieces.length === 1);
    first.abort.abort();
    await expect(first.done).resolves.toBe('one ');
    onMessage = ({ id }, socket) => {
      say(socket, { type: 'delta', id: '1', text: 'late' });
      say(socket, { type: 'done', id: '1' });
      say(socket, { type: 'delta', id, text: 'two' });
      say(socket, { type: 'done', id });
    };
    await expect(call.ask('two').done).resolves.toBe('two');
    expect(received.map(({ type, id }) => `${type} ${id}`)).toEqual(['message 1', 'cancel 1', 'message 2']);
  });

  it('leaves aside what it cannot read', async () => {
    onMessage = ({ id }, socket) => {
      socket.send('no JSON');
      socket.send('null');
      socket.send(Buffer.from([1, 2, 3]), { binary: true });
      say(socket, { type: 'delta', id, text: 7 });
      say(socket, { type: 'surprise', id });
      say(socket, { type: 'delta', text: 'for nobody' });
      say(socket, { type: 'delta', id, text: 'Fine.' });
      say(socket, { type: 'done', id });
      say(socket, { type: 'delta', id, text: 'after the end' });
    };
    await expect(open().ask('one').done).resolves.toBe('Fine.');
  });

  it.each<[string, (id: string, socket: WebSocket) => void]>([
    ['says that it failed', (id, socket) => say(socket, { type: 'error', id, text: 'secret' })],
    ['breaks its connection', (_, socket) => socket.terminate()],
    [
      'sends a message that is too long',
      (id, socket) => say(socket, { type: 'delta', id, text: 'a'.repeat(70_000) }),
    ],
  ])('makes a ProviderError of one that %s, and connects again where it must', async (_, trouble) => {
    const call = open();
    onMessage = ({ id }, socket) => trouble(id, socket);
    const error: unknown = await call.ask('one').done.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProviderError);
    expect(String(error)).not.toContain('secret');
    onMessage = ({ id }, socket) => say(socket, { type: 'done', id, text: 'Fine.' });
    await expect(call.ask('two').done).resolves.toBe('Fine.');
  });

  it('gives up after 30 s of silence, and says so', async () => {
    const call = open();
    const { done } = call.ask('one');
    await until(() => received.length === 1);
    const outcome = done.catch((error: unknown) => error);
    await clock.advanceAsync(30_100);
    expect(await outcome).toBeInstanceOf(ProviderError);
    await until(() => received.some(({ type }) => type === 'cancel'));
    expect(clock.pending).toBe(0);
  });

  it('is a ProviderError when nobody is there, or who is there is no such server', async () => {
    server.close();
    await expect(open().ask('one').done).rejects.toMatchObject({
      code: 'PROVIDER_FAILED',
      message: expect.stringMatching(/^onMessage at 127\.0\.0\.1:\d+ could not be reached$/),
    });
  });

  it('closes its socket with the call, also one that is still coming up', async () => {
    const call = open();
    call.warmUp();
    call.close();
    await until(() => server.clients.size === 0);
    const other = open();
    onMessage = ({ id }, socket) => say(socket, { type: 'done', id, text: 'Fine.' });
    await other.ask('one').done;
    other.close();
    other.close();
    await until(() => server.clients.size === 0);
    await expect(other.ask('two').done).rejects.toBeInstanceOf(ProviderError);
  });
});
