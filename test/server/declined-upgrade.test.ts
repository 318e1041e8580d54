import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { RequestHandler } from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { startServer, stopServers, upgrade } from './harness.js';
import { soon } from '../support/soon.js';

afterEach(stopServers);

const OFFER = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAMAAABkAAQAAP__' };

describe('an offer of another protocol than WebSocket', () => {
  it('is ignored, and the request answered', async () => {
    const { port } = await startServer();
    const answer = await upgrade(port, '/health', OFFER);
    expect(answer).toMatchObject({ status: 200, body: '{"status":"ok","mode":"local"}' });
    expect(answer.headers.connection).toBe('close');
  });

  it('does not keep a long answer from coming whole', async () => {
    const size = 2_000_000;
    const handler: RequestHandler = (_request, response) => {
      if (response.write('x'.repeat(size))) response.end('!');
      else response.once('drain', () => response.end('!'));
    };
    const { port } = await startServer({ dashboard: { handler, close() {} } });
    const { body } = await upgrade(port, '/', OFFER);
    expect(body.replace(/[^x]/g, '')).toHaveLength(size);
    expect(body).toContain('!');
  });

  it('does not wait for a peer that keeps its half of the connection open', async () => {
    const accepted: Socket[] = [];
    const handler: RequestHandler = (request, response) => {
      accepted.push(request.socket);
      response.end();
    };
    const { port } = await startServer({ dashboard: { handler, close() {} } });
    const peer = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const lines = Object.entries({ Host: 'x', ...OFFER }).map(([name, value]) => `${name}: ${value}\r\n`);
    peer.write(`GET / HTTP/1.1\r\n${lines.join('')}\r\n`);
    peer.resume();
    await once(peer, 'end');
    await soon(() => expect(accepted.map((socket) => socket.destroyed)).toEqual([true]));
    peer.destroy();
  });

  it("is refused on a stream's path and with a body", async () => {
    const { port, desk } = await startServer();
    expect(await upgrade(port, '/ws/stream/CA1', OFFER)).toMatchObject({ status: 400 });
    const withBody = await upgrade(
      port,
      '/webhooks/carrier-a/voice',
      { ...OFFER, 'Content-Length': '5' },
      'POST',
    );
    expect(withBody.status).toBe(404);
    expect(desk.streams).toEqual([]);
  });
});
