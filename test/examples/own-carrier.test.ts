import { once } from 'node:events';
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'ws';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createExampleTelecom } from '../../examples/own-carrier/example-telecom.js';
import { Offhook } from '../../src/client.js';
import type { ServeOptions } from '../../src/options/serve.js';
import { toneVoice } from '../support/client-bench.js';
import { freePort } from '../support/free-port.js';
import { RecordedLogger } from '../support/recorded-logger.js';

const SECRET = 'a secret of the example';
const HOST = 'voice.example.com';
const ID = 'example-telecom';

let api: Server;
let port: number;
let logger: RecordedLogger;
let phone: Offhook;
/** What the carrier's REST API was asked. */
let asked: { method: string; path: string; body: Record<string, string> }[];

beforeEach(async () => {
  asked = [];
  api = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const body = JSON.parse(Buffer.concat(chunks).toString());
    asked.push({ method: request.method ?? '', path: request.url ?? '', body });
    response.end(JSON.stringify({ call: 'placed-1' }));
  });
  api.listen(0, '127.0.0.1');
  await once(api, 'listening');
  port = await freePort();
  logger = new RecordedLogger();
  const carrier = createExampleTelecom({
    secret: SECRET,
    api: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
  });
  phone = new Offhook({ carrier, phoneNumber: '+15005550010', webhookUrl: HOST });
});
afterEach(async () => {
  await phone.disconnect();
  api.closeAllConnections();
  api.close();
});

function serve(options: Partial<ServeOptions> = {}) {
  const agent = phone.agent({ tts: toneVoice, firstMessage: 'Hello 440.' });
  return phone.serve({ agent, port, host: '127.0.0.1', logger, dataDir: false, ...options });
}

function webhook(route: string, body: object, signature?: string) {
  const text = JSON.stringify(body);
  const right = createHmac('sha256', SECRET).update(text).digest('hex');
  const headers = { 'x-example-signature': signature ?? right };
  return fetch(`http://127.0.0.1:${port}/webhooks/${ID}/${route}`, { method: 'POST', headers, body: text });
}

/** Opens the stream that the answer names, and resolves when the greeting was played. */
async function talk(call: string, ours?: string) {
  const answer = await webhook('voice', { call, ours, from: '+15550111', to: '+15005550010' });
  const { stream } = (await answer.json()) as { stream: string };
  const { host, pathname, search } = new URL(stream);
  expect(host).toBe(HOST);
  const socket = new WebSocket(`ws://127.0.0.1:${port}${pathname}${search}`);
  const closed = once(socket, 'close');
  let heard = 0;
  const greeted = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.type === 'audio') heard += Buffer.from(message.data, 'base64').length;
      if (message.type !== 'mark') return;
      socket.send(JSON.stringify(message));
      resolve();
    });
  });
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'start', call, stream: 's1' }));
  const silence = JSON.stringify({ type: 'audio', data: Buffer.alloc(160, 0xff).toString('base64') });
  const line = setInterval(() => socket.send(silence), 20);
  await greeted;
  return {
    heardMs: () => heard / 8,
    async hangUp() {
      clearInterval(line);
      if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ type: 'stop' }));
      await webhook('status', { call, ours });
      await closed;
    },
  };
}

describe('a carrier of the application', () => {
  it('plays a whole inbound call, with its own prices, in records, API, filter and metrics', async () => {
    const { url, calls } = await serve();
    const call = await talk('c1');
    expect(call.heardMs()).toBeGreaterThan(0);
    expect(await calls.active()).toMatchObject([{ carrier: ID, caller: '+15550111', direction: 'inbound' }]);
    await call.hangUp();
    const read = async (path: string) => (await fetch(`${url}${path}`)).text();
    const { calls: found } = JSON.parse(await read(`/api/dashboard/calls?carrier=${ID}&status=completed`));
    expect(found).toMatchObject([{ carrier: ID, carrierCallId: 'c1', cost: { telephony: 0.006 } }]);
    expect(JSON.parse(await read('/api/dashboard/calls?carrier=other')).calls).toEqual([]);
    expect(await read('/api/dashboard/export/calls?format=csv')).toContain(`,${ID},inbound,`);
    expect(JSON.parse(await read('/api/openapi.json')).openapi).toMatch(/^3\.1/);
    expect((await fetch(`${url}/dashboard`)).status).toBe(200);
    expect((await webhook('voice', { call: 'c2' }, 'ff')).status).toBe(403);
    expect(await read('/metrics')).toContain(`carrier="${ID}"`);
  });

  it('places an outbound call, and ends it', async () => {
    await serve();
    const placed = await phone.call({ to: '+15550123' });
    expect(asked).toMatchObject([
      {
        method: 'POST',
        path: '/calls',
        body: { to: '+15550123', webhooks: `https://${HOST}/webhooks/${ID}` },
      },
    ]);
    const call = await talk('placed-1', placed.callId);
    expect(await phone.hangUp(placed.callId)).toBe('done');
    await call.hangUp().catch(() => {});
    const record = await placed.ended;
    expect(record).toMatchObject({ carrier: ID, direction: 'outbound', outcome: 'answered' });
    expect(asked.at(-1)).toMatchObject({ method: 'DELETE', path: '/calls/placed-1' });
  });

  it('takes prices under its id, and a budget that they use up', async () => {
    const { url } = await serve({
      pricing: { [ID]: { inbound: { perMinute: 50 } } },
      budget: { perHour: 1 },
    });
    await (await talk('c1')).hangUp();
    expect((await fetch(`${url}/ready`)).status).toBe(503);
    expect(
      await (await webhook('voice', { call: 'c2', from: '+15550111', to: '+15005550010' })).json(),
    ).toEqual({
      end: 'busy',
    });
  });

  it('is refused what it cannot do, and prices that it has none for', async () => {
    await expect(serve({ recording: true })).rejects.toMatchObject({
      message: 'This carrier cannot record calls: remove recording, or use a carrier that can.',
    });
    await expect(serve({ pricing: { [ID]: { night: { perMinute: 1 } } } as never })).rejects.toMatchObject({
      message: `pricing["${ID}"].night is not known. It takes: inbound, outbound, stream.`,
    });
  });

  it('leaves the doors of the other carriers as they are', async () => {
    const { url } = await serve();
    const stray = await fetch(`${url}/webhooks/carrier-a/voice`, { method: 'POST' });
    // Read, and found to be without a call.
    expect(stray.status).toBe(400);
  });

  it.each([
    [
      'My Carrier',
      'The id of the carrier must be in kebab-case, like my-carrier, with at most 40 characters.',
    ],
    [
      'a'.repeat(41),
      'The id of the carrier must be in kebab-case, like my-carrier, with at most 40 characters.',
    ],
  ])('is refused with the id %s', (id, message) => {
    const carrier = { ...createExampleTelecom({ secret: SECRET, api: '' }), id };
    expect(() => new Offhook({ carrier, phoneNumber: '+15005550010' })).toThrow(message);
  });

  it('is refused without a part', () => {
    const carrier = { ...createExampleTelecom({ secret: SECRET, api: '' }), rest: undefined } as never;
    expect(() => new Offhook({ carrier, phoneNumber: '+15005550010' })).toThrow(
      'The carrier example-telecom has no rest.',
    );
  });
});
