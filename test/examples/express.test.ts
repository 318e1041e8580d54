import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { start } from '../../examples/dashboard/server.js';
import { startApplication } from '../../examples/express/server.js';
import { silentLogger } from '../../src/base/log.js';
import { AUTH_TOKEN, PUBLIC_HOST, until } from '../support/client-bench.js';
import { freePort } from '../support/free-port.js';
import { HandDialedCall } from '../support/hand-dialed-call.js';

const quiet = { logger: silentLogger, dataDir: false } as const;

it('a phone in an Express app: calls are answered, and pages, chat and 404 stay the app’s', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  const port = await freePort();
  const { close } = await startApplication({ port, authToken: AUTH_TOKEN, ...quiet });
  const read = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  const call = await HandDialedCall.dial({
    port,
    caller: '+15550111',
    publicHost: PUBLIC_HOST,
    authToken: AUTH_TOKEN,
  });
  await until(async () => (await read('/busy')) === '{"calls":1}');
  expect(await read('/')).toBe('The home page of the application.');
  expect(await read('/nowhere')).toContain('Cannot GET /nowhere');
  const chat = new WebSocket(`ws://127.0.0.1:${port}/chat`);
  expect(String((await once(chat, 'message'))[0])).toBe('Welcome to the chat.');
  chat.terminate();
  await call.hangUp();
  await until(async () => log.mock.calls.length === 1);
  expect(log.mock.calls[0]?.[0]).toMatch(/^Call \S+ is over: caller-hangup\.$/);
  await close();
});

describe('a dashboard in an Express app', () => {
  it('shows the calls of the phone and what happens in them, hangs up, and lets nobody else in', async () => {
    const [port, pagePort] = [await freePort(), await freePort()];
    let isOpen = true;
    const { close } = await start({
      port,
      pagePort,
      host: '127.0.0.1',
      authToken: AUTH_TOKEN,
      isAllowed: (_request, response, next) => (isOpen ? next() : void response.sendStatus(401)),
      manageWebhook: false,
      ...quiet,
      onMessage: () => '',
    });
    const url = `http://127.0.0.1:${pagePort}/calls`;
    const events = await fetch(`${url}/api/dashboard/events`);
    const told = events.text();
    const call = await HandDialedCall.dial({
      port,
      caller: '+15550111',
      publicHost: `127.0.0.1:${port}`,
      authToken: AUTH_TOKEN,
    });
    const active = async () =>
      (await (await fetch(`${url}/api/dashboard/active`)).json()) as { calls: { callId: string }[] };
    await until(async () => (await active()).calls.length === 1);
    expect((await fetch(`${url}/dashboard`)).status).toBe(200);
    const callId = (await active()).calls[0]?.callId;
    const headers = { 'content-type': 'application/json' };
    const hungUp = await fetch(`${url}/api/dashboard/calls/${callId}/hangup`, {
      method: 'POST',
      headers,
      body: '{}',
    });
    expect(hungUp.status).toBe(202);
    await call.closed;
    isOpen = false;
    expect((await fetch(`${url}/api/dashboard/calls`)).status).toBe(401);
    await close();
    expect(await told).toContain('event: call.started');
  });
});
