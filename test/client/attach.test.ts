import { once } from 'node:events';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer, request as httpRequest, type Server } from 'node:http';
import {
  createServer as createHttpsServer,
  request as httpsRequest,
  type RequestOptions,
  type Server as HttpsServer,
} from 'node:https';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { selfSignedCertificate } from '../../src/testing/emulators/self-signed-certificate.js';
import type { AttachOptions } from '../../src/options/serve.js';
import { ClientBench, toneVoice, until } from '../support/client-bench.js';
import { describeNeeding } from '../support/describe-needing.js';
import { hasOpenssl } from '../support/openssl.js';
import { HandDialedCall } from '../support/hand-dialed-call.js';

let bench: ClientBench;
let server: Server;
let url: string;
/** What the application's own listener was asked. */
let asked: string[];

beforeEach(async () => {
  bench = await ClientBench.open();
  asked = [];
  server = createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const body = await text(request);
    response.statusCode = request.url === '/mine' ? 200 : 404;
    response.end(`application ${body}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  await bench.phone.disconnect();
  server.closeAllConnections();
  server.close();
});

function attach(options: Partial<AttachOptions> = {}, http: Server | HttpsServer = server) {
  const { phone, logger } = bench;
  return phone.attach(http, {
    agent: phone.agent({ tts: toneVoice, firstMessage: 'Hello 440.' }),
    logger,
    dataDir: false,
    ...options,
  });
}

function dial() {
  return HandDialedCall.dial({
    ...bench.dialOptions('+15550111'),
    port: (server.address() as AddressInfo).port,
  });
}

const get = async (path: string, init?: RequestInit) => {
  const response = await fetch(url + path, init);
  return { status: response.status, body: await response.text(), headers: response.headers };
};

/** Everything that the server says to these bytes until it falls silent behind `ending`. */
async function raw(bytes: string, ending: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let said = '';
  socket.setEncoding('latin1');
  socket.write(bytes, 'latin1');
  await new Promise<void>((resolve) => {
    socket.on('data', (piece) => {
      said += String(piece);
      if (said.includes(ending)) resolve();
    });
    socket.on('close', () => resolve());
  });
  socket.destroy();
  return said;
}

describe('attach', () => {
  it('answers its own paths, and leaves every other one to the application, the page at / included', async () => {
    await attach();
    expect((await get('/health')).body).toBe('{"status":"ok","mode":"local"}');
    expect((await get('/ready')).status).toBe(200);
    expect((await get('/dashboard', { headers: { accept: 'text/html' } })).body).toContain('<!doctype html>');
    expect((await get('/api/dashboard/calls')).status).toBe(200);
    expect((await get('/api/dashboard/none')).body).toContain('NOT_FOUND');
    expect((await get('/api/openapi.json')).status).toBe(200);
    expect((await get('/metrics')).status).toBe(200);
    expect(asked).toEqual([]);
    for (const path of ['/', '/api/other', '/dashboardx', '/webhooks/none/voice', '/ws/stream', '/healthz'])
      expect(await get(path)).toMatchObject({ status: 404, body: 'application ' });
    expect((await get('/health', { method: 'POST' })).body).toBe('application ');
    const { headers } = await get('/mine', { method: 'POST', body: 'x' });
    expect([headers.get('referrer-policy'), headers.get('x-content-type-options')]).toEqual([null, null]);
    expect(asked).toHaveLength(8);
  });

  it('leaves the page to the application where dashboard is false', async () => {
    await attach({ dashboard: false });
    expect((await get('/dashboard')).body).toBe('application ');
    expect((await get('/api/dashboard/active')).status).toBe(200);
  });

  it('comes before listeners that are added later, and gives them the rest', async () => {
    await attach();
    const late: string[] = [];
    server.on('request', (request) => late.push(request.url ?? ''));
    await get('/health');
    await get('/mine');
    expect(late).toEqual(['/mine']);
  });

  it('plays a call: webhook, stream, records and events in process', async () => {
    const { calls, events } = await attach();
    const types: string[] = [];
    const end = events.subscribe((event) => types.push(event.type));
    const call = await dial();
    await until(async () => (await calls.active())[0]?.caller === '+15550111');
    await call.hangUp();
    await until(async () => (await calls.list({ status: 'completed' })).total === 1);
    await until(async () => types.includes('call.ended'));
    const seen = types.length;
    end();
    end();
    await (await dial()).hangUp();
    await until(async () => (await calls.list({ status: 'completed' })).total === 2);
    expect(types).toHaveLength(seen);
    expect(types).toContain('call.started');
    expect((await calls.aggregates()).completedCalls).toBe(2);
    expect(await calls.get((await calls.list()).calls[0]?.callId ?? '')).toMatchObject({
      status: 'completed',
    });
    expect(() => events.subscribe('no' as never)).toThrow('subscribe() takes a function');
  });

  it("leaves the application's WebSockets alone, whether their listener was there before or comes after", async () => {
    const before = new WebSocketServer({ server, path: '/chat' });
    before.on('connection', (socket) => socket.send('chat'));
    await attach();
    server.on('upgrade', (request) => asked.push(`upgrade ${request.url}`));
    const client = new WebSocket(`${url.replace('http', 'ws')}/chat`);
    expect(String((await once(client, 'message'))[0])).toBe('chat');
    client.terminate();
    const call = await dial();
    await call.hangUp();
    expect(asked).toEqual(['upgrade /chat']);
    before.close();
  });

  it('takes an upgrade that nobody wants for a plain request, with its body and what comes behind it', async () => {
    await attach();
    const offer = 'Host: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n';
    const said = await raw(
      `POST /mine HTTP/1.1\r\n${offer}Content-Length: 5\r\n\r\nhelloGET /other HTTP/1.1\r\nHost: a\r\n\r\n`,
      '404 Not Found',
    );
    expect(said).toContain('200 OK');
    expect(said).toContain('application hello');
    expect(asked).toEqual(['POST /mine', 'GET /other']);
    const ours = await raw(`GET /health HTTP/1.1\r\n${offer}\r\n`, '"local"}');
    expect(ours).toContain('200 OK');
  });

  it('takes a body in pieces behind an upgrade that nobody wants', async () => {
    await attach();
    const sent = httpRequest(`${url}/mine`, {
      method: 'POST',
      headers: { connection: 'Upgrade', upgrade: 'h2c', 'transfer-encoding': 'chunked' },
    });
    sent.write('one ');
    sent.end('two');
    const [answer] = await once(sent, 'response');
    expect(await text(answer)).toBe('application one two');
  });

  it('asks for the body of a request of its own that waits for 100 Continue', async () => {
    await attach();
    const expects = 'Host: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n';
    const toPhone = () =>
      raw(`POST /webhooks/carrier-a/voice HTTP/1.1\r\n${expects}\r\n`, 'HTTP/1.1 100 Continue');
    expect(await toPhone()).toContain('100 Continue');
    // An application that decides by itself what it lets continue decides for its own paths alone.
    server.on('checkContinue', (_request, response) => response.writeHead(417).end());
    expect(await toPhone()).toContain('100 Continue');
    const toApplication = await raw(`POST /mine HTTP/1.1\r\n${expects}\r\n`, '417');
    expect(toApplication).toContain('417 Expectation Failed');
    expect(toApplication).not.toContain('100 Continue');
  });

  it('answers calls after the application has removed its listeners, and gives later ones the rest', async () => {
    const chat = new WebSocketServer({ server, path: '/chat' });
    await attach();
    server.on('upgrade', () => asked.push('an upgrade'));
    server.removeAllListeners('upgrade');
    server.removeAllListeners('request');
    server.on('request', (_request, response) => response.end('another application'));
    await (await dial()).hangUp();
    expect((await get('/mine')).body).toBe('another application');
    expect(
      await raw(
        'GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
        'application',
      ),
    ).toContain('200 OK');
    expect(asked).toEqual([]);
    chat.close();
  });

  it('leaves a listener that wants one request to the first request of the application', async () => {
    server.removeAllListeners('request');
    server.once('request', (_request, response) => response.end('the first one'));
    await attach();
    expect((await get('/health')).status).toBe(200);
    expect((await get('/mine')).body).toBe('the first one');
    expect(server.listenerCount('request')).toBe(0);
  });

  it('takes another phone when one has gone, and may be closed before that one goes', async () => {
    await attach();
    const call = await dial();
    await bench.phone.disconnect();
    await call.closed;
    const other = bench.create();
    await other.attach(server, { agent: other.agent({}), logger: bench.logger, dataDir: false });
    expect((await get('/health')).status).toBe(200);
    server.close();
    server.closeAllConnections();
    await other.disconnect();
    expect(Object.hasOwn(server, 'emit')).toBe(false);
  });

  it('gives the server back as it was, and serves on it again', async () => {
    const listeners = () =>
      ['request', 'upgrade', 'error', 'connection', 'checkContinue', 'removeListener'].map((name) =>
        server.listenerCount(name),
      );
    const before = listeners();
    await attach();
    const call = await dial();
    await bench.phone.disconnect();
    expect((await call.closed).code).toBe(1001);
    expect([listeners(), Object.hasOwn(server, 'emit'), server.listening]).toEqual([before, false, true]);
    expect(await get('/health')).toMatchObject({ status: 404, body: 'application ' });
    await attach();
    expect((await get('/health')).status).toBe(200);
  });

  it('lets everything through behind a wrapper that was put around it', async () => {
    await attach();
    const inner = server.emit.bind(server) as (event: string, ...rest: unknown[]) => boolean;
    Object.defineProperty(server, 'emit', { value: inner, configurable: true, writable: true });
    await bench.phone.disconnect();
    expect((await get('/health')).body).toBe('application ');
  });

  it('does not wait for connections of the application, and cuts none of them', async () => {
    await attach();
    const waiting = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(waiting, 'connect');
    await bench.phone.disconnect();
    waiting.write('GET /mine HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(String((await once(waiting, 'data'))[0])).toContain('200 OK');
    waiting.destroy();
  });

  it('ends its own event streams when it goes', async () => {
    await attach();
    const stream = await fetch(`${url}/api/dashboard/events`);
    const read = stream.text();
    await bench.phone.disconnect();
    expect(await read).toContain('event: snapshot');
  });

  it('answers a request of its own that has begun when it goes', async () => {
    await attach();
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const head = 'Host: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n';
    socket.write(`POST /webhooks/carrier-a/voice HTTP/1.1\r\n${head}\r\n`);
    expect(String((await once(socket, 'data'))[0])).toContain('100 Continue');
    const gone = bench.phone.disconnect();
    // Whoever does not wait for it has gone by then.
    await setTimeout(200);
    let said = '';
    socket.on('data', (piece) => (said += String(piece)));
    const answered = once(socket, 'close');
    socket.end('abcde');
    await answered;
    expect(said).toMatch(/^HTTP\/1\.1 [45]/);
    await gone;
  });

  it('can be attached before the server listens', async () => {
    const idle = createServer();
    await attach({}, idle);
    idle.listen(0, '127.0.0.1');
    await once(idle, 'listening');
    const { port } = idle.address() as AddressInfo;
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
    await bench.phone.disconnect();
    idle.closeAllConnections();
    idle.close();
  });

  it('refuses a server that has a phone, one that is none, and where to listen', async () => {
    await attach();
    const other = bench.create();
    const agent = other.agent({});
    await expect(other.attach(server, { agent, dataDir: false })).rejects.toMatchObject({
      code: 'CONFIG_CONFLICT',
      message: 'A phone is attached to this server already: disconnect it first.',
    });
    await expect(other.attach((() => {}) as never, { agent })).rejects.toThrow(
      'Give what createServer(app) or app.listen() returns.',
    );
    await expect(other.attach(createHttp2Server() as never, { agent })).rejects.toThrow(
      'attach() takes a server of node:http or node:https, and options.',
    );
    await expect(other.attach(createServer(), { agent, port: 1 } as never)).rejects.toThrow(
      'attach() has no option "port".',
    );
    await expect(attach()).rejects.toThrow('This client is already serving: call disconnect() first.');
    expect((await get('/health')).status).toBe(200);
  });

  it('warns of open doors without a token', async () => {
    await attach();
    expect(bench.warnings()).toContain(
      'dashboard and API are open to anyone who can reach these addresses: set dashboardToken',
    );
  });
});

describeNeeding('openssl', hasOpenssl)('attach', () => {
  it('serves on a server of node:https, upgrades that nobody wants included', async () => {
    const { key, cert } = await selfSignedCertificate();
    const https = createHttpsServer({ key, cert }, (request, response) => {
      response.end(`application ${request.url}`);
    });
    https.listen(0, '127.0.0.1');
    await once(https, 'listening');
    await attach({}, https);
    const { port } = https.address() as AddressInfo;
    const ask = async (path: string, headers: Record<string, string> = {}) => {
      const options = { port, host: '127.0.0.1', path, headers, rejectUnauthorized: false, agent: false };
      const [answer] = await once(httpsRequest(options as RequestOptions).end(), 'response');
      return text(answer);
    };
    const offer = { connection: 'Upgrade', upgrade: 'h2c' };
    expect(await ask('/health')).toContain('"status":"ok"');
    expect(await ask('/health', offer)).toContain('"status":"ok"');
    expect(await ask('/mine')).toBe('application /mine');
    expect(await ask('/mine', offer)).toBe('application /mine');
    await bench.phone.disconnect();
    expect(await ask('/health')).toBe('application /health');
    https.closeAllConnections();
    https.close();
  });
});
