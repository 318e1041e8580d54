import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import type { Response } from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { ConfigError } from '../../src/base/errors.js';
import { pause } from '../../src/base/pause.js';
import type { Neighbor } from '../../src/server/neighbor.js';
import type { DashboardMount } from '../../src/server/page-app.js';
import type { TrustProxy } from '../../src/server/proxy-trust.js';
import {
  closeOf,
  createServer,
  exchange,
  HOST,
  openStream,
  send,
  startServer,
  stopServers,
  upgrade,
} from './harness.js';

afterEach(stopServers);

/** A dashboard with one page, one error, and an event stream. */
function createDashboard(onClose: () => void = () => {}): DashboardMount {
  const streams = new Set<Response>();
  return {
    handler(request, response, next) {
      if (request.path === '/') response.send('page');
      else if (request.path === '/api/broken') throw new Error('secret detail');
      else if (request.path === '/api/events') {
        streams.add(response.writeHead(200, { 'Content-Type': 'text/event-stream' }));
        response.write('event: snapshot\n\n');
      } else next();
    },
    close() {
      onClose();
      for (const response of streams) response.end();
    },
  };
}

/** Opens an event stream on a connection that is kept alive. Resolves once its first bytes are here. */
async function openEvents(port: number, agent: Agent): Promise<{ ended: Promise<void> }> {
  const outgoing = httpRequest({ host: '127.0.0.1', port, path: '/api/events', agent }).end();
  const [response] = (await once(outgoing, 'response')) as [NodeJS.ReadableStream];
  const ended = new Promise<void>((resolve) => {
    response.on('error', () => {});
    response.on('close', resolve);
  });
  await once(response, 'data');
  response.resume();
  return { ended };
}

describe('the routes', () => {
  it('say that the process lives, and whether it takes calls', async () => {
    const { port, desk } = await startServer({ maxCalls: 1 });
    const health = await send(port, { path: '/health' });
    expect(health.status).toBe(200);
    expect(JSON.parse(health.body)).toEqual({ status: 'ok', mode: 'local' });
    expect(await send(port, { path: '/ready' })).toMatchObject({ status: 200 });
    desk.liveCount = 1;
    expect(await send(port, { path: '/ready' })).toMatchObject({ status: 503 });
  });

  it('tell a proxy to go elsewhere once another process has taken over, and for no other reason', async () => {
    let takesNew = false;
    const neighbor = () => ({ takesNew }) as Neighbor;
    const { port, desk } = await startServer({ maxCalls: 1, neighbor });
    const health = async () => {
      const { status, body } = await send(port, { path: '/health' });
      return [status, JSON.parse(body).status];
    };
    desk.liveCount = 1;
    desk.isDraining = true;
    expect(await health()).toEqual([200, 'ok']);
    takesNew = true;
    expect(await health()).toEqual([200, 'handing-over']);
  });

  it('belong to the dashboard where the server has none', async () => {
    const { port } = await startServer({ dashboard: createDashboard() });
    expect(await send(port, { path: '/' })).toMatchObject({ status: 200, body: 'page' });
    expect(await send(port, { path: '/health' })).toMatchObject({ status: 200 });
    expect(await send(port, { path: '/other' })).toMatchObject({ status: 404 });
  });

  it('answer errors in code, without a trace of what happened inside', async () => {
    const { port, lines } = await startServer({ dashboard: createDashboard() });
    const broken = await send(port, { path: '/api/broken' });
    expect(broken.status).toBe(500);
    expect(JSON.parse(broken.body)).toEqual({
      error: { code: 'INTERNAL', message: 'An unexpected error inside offhook.' },
    });
    expect(lines.at(-1)).toMatchObject({ level: 'error', fields: { method: 'GET', error: 'Error' } });
    const missing = await send(port, { path: '/api/nothing' });
    expect(missing.status).toBe(404);
    expect(JSON.parse(missing.body)).toMatchObject({ error: { code: 'NOT_FOUND' } });
    expect(missing.headers).toMatchObject({ 'x-content-type-options': 'nosniff' });
    expect(missing.headers).not.toHaveProperty('x-powered-by');
  });

  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['a header without an end', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
  ])('answer %s, and close', async (_, text, status) => {
    const { port } = await startServer();
    expect(await exchange(port, text)).toMatchObject({ status });
    expect(await send(port, { path: '/health' })).toMatchObject({ status: 200 });
  });
});

describe('listen', () => {
  it('says in one sentence that a port is in use', async () => {
    const { port } = await startServer();
    const second = createServer();
    const error: unknown = await second.listen(port, '127.0.0.1').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({
      code: 'CONFIG_PORT_IN_USE',
      message: `Port ${port} is in use: stop the program that listens there, or choose another port (the option port; on a command line --port).`,
    });
    await expect(second.close()).resolves.toBeUndefined();
  });

  it('does not stay open when the server is closed while it starts', async () => {
    const { port, server } = await startServer();
    await server.close();
    const second = createServer();
    const refusal = expect(second.listen(port, '127.0.0.1')).rejects.toBeInstanceOf(ConfigError);
    await second.close();
    await refusal;
    await expect(send(port, { path: '/health' })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('refuses a trustProxy that makes no sense', async () => {
    for (const trustProxy of ['nonsense', ['300.1.1.1']] satisfies TrustProxy[]) {
      await expect(startServer({ trustProxy })).rejects.toBeInstanceOf(ConfigError);
    }
  });
});

describe('close', () => {
  it('follows the order, with a dashboard and idle connections open', async () => {
    const order: string[] = [];
    const dashboard = createDashboard(() => order.push('dashboard closed'));
    const { port, server, desk } = await startServer({ dashboard, clock: systemClock });
    const agent = new Agent({ keepAlive: true });
    const events = await openEvents(port, agent);
    const client = await openStream(port, '/ws/stream/CA1');
    const idle = connect(port, '127.0.0.1');
    await once(idle, 'connect');

    let hungUp: () => void = () => {};
    desk.shutDownTask = () => {
      order.push('hanging up');
      return new Promise((resolve) => {
        hungUp = resolve;
      });
    };
    const closed = closeOf(client).then((close) => {
      order.push('stream closed');
      return close;
    });
    const done = server.close().then(() => order.push('server closed'));

    // Nothing new is let in, and nothing that is open is cut, while the calls are being hung up.
    await expect(send(port, { path: '/health' })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(client.readyState).toBe(client.OPEN);
    expect(order).toEqual(['hanging up']);
    hungUp();
    expect(await closed).toEqual({ code: 1001, reason: 'Server shutting down' });
    await events.ended;
    idle.destroy();
    await done;
    expect(order).toEqual(['hanging up', 'dashboard closed', 'stream closed', 'server closed']);
    expect(await desk.streams[0]?.closed).toBe(1001);
    agent.destroy();
  });

  it('is bounded, whoever does not let go', async () => {
    const { port, server, desk } = await startServer({
      dashboard: { ...createDashboard(), close() {} },
      clock: systemClock,
      drainSeconds: 0.2,
    });
    desk.shutDownTask = () => new Promise(() => {});
    const agent = new Agent({ keepAlive: true });
    const events = await openEvents(port, agent);
    // A stream whose other side never answers the closing handshake.
    const deaf = connect(port, '127.0.0.1');
    deaf.write(
      `GET /ws/stream/CA1 HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    await once(deaf, 'data');
    const cut = once(deaf, 'close');
    deaf.on('error', () => {}).resume();
    await server.close();
    await cut;
    await events.ended;
    expect(await desk.streams[0]?.closed).toBe(1006);
    agent.destroy();
  });

  it('waits in a drain for a call that is on its way to another process', async () => {
    let isMoving = true;
    const { server } = await startServer({ isMoving: () => isMoving, clock: systemClock });
    let isDrained = false;
    const drained = server.drain(60_000).then(() => {
      isDrained = true;
    });
    await pause(systemClock, 200);
    expect(isDrained).toBe(false);
    isMoving = false;
    await drained;
  });

  it('survives steps that fail, and runs once', async () => {
    const dashboard: DashboardMount = {
      handler: (_request, _response, next) => next(),
      close() {
        throw new Error('dashboard');
      },
    };
    const { port, server, desk, lines } = await startServer({ dashboard });
    desk.shutDownTask = () => Promise.reject(new Error('desk'));
    const client = await openStream(port, '/ws/stream/CA1');
    const closed = closeOf(client);
    await Promise.all([server.close(), server.close()]);
    expect((await closed).code).toBe(1001);
    expect(desk.steps.filter((step) => step === 'calls hung up')).toHaveLength(1);
    expect(lines.filter((line) => line.level === 'error')).toHaveLength(2);
  });

  it('takes no call and no stream any more, on connections that are open still', async () => {
    const { port, server, desk } = await startServer({ clock: systemClock });
    let hungUp: () => void = () => {};
    desk.shutDownTask = () =>
      new Promise((resolve) => {
        hungUp = resolve;
      });
    // Connections whose requests have begun are not idle, so they outlive the first step.
    const begin = (line: string) => {
      const socket = connect(port, '127.0.0.1');
      socket.setEncoding('latin1').write(`${line} HTTP/1.1\r\nHost: ${HOST}\r\n`);
      return socket;
    };
    const call = begin('GET /webhooks/carrier-a/voice?CallSid=CA1');
    const ready = begin('GET /ready');
    const stream = begin('GET /ws/stream/CA1');
    await upgrade(port, '//');
    const done = server.close();
    call.write('\r\n');
    ready.write('\r\n');
    stream.write('Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    const texts = await Promise.all(
      [call, ready, stream].map(async (socket) => String(await once(socket, 'data'))),
    );
    expect(texts[0]).toContain('<Reject reason="busy"/>');
    expect(texts[1]).toContain('503 Service Unavailable');
    expect(texts[2]).toContain('409 Conflict');
    hungUp();
    await done;
  });
});
