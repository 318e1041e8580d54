import { createServer, get } from 'node:http';
import net, { type AddressInfo, connect } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { installNetwork } from './network.js';

installNetwork();

const http = createServer((request, response) => {
  if (request.url === '/cut') return void request.socket.destroy();
  request.pipe(response);
});
const sockets = new WebSocketServer({ server: http });
let port = 0;
beforeAll(async () => {
  sockets.on('connection', (socket) =>
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
  );
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  ({ port } = http.address() as AddressInfo);
});
afterAll(
  () =>
    new Promise<void>((resolve) => {
      sockets.close();
      http.closeAllConnections();
      http.close(() => resolve());
    }),
);

describe('a network without a kernel', () => {
  it('carries requests of fetch', async () => {
    const body = 'x'.repeat(1_000_000);
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body });
    expect(await answer.text()).toBe(body);
    await expect(fetch(`http://127.0.0.1:${port}/cut`)).rejects.toThrow('fetch failed');
  });

  it('carries requests of http', async () => {
    const [answer] = await once(get({ host: '127.0.0.1', port, path: '/' }), 'response');
    expect(answer.statusCode).toBe(200);
    answer.resume();
  });

  it('carries WebSockets, and their ends', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
    await once(socket, 'open');
    socket.send('hello');
    const [echoed] = await once(socket, 'message');
    expect(String(echoed)).toBe('hello');
    socket.close(4001, 'over');
    const [code] = await once(socket, 'close');
    expect(code).toBe(4001);
  });

  it('refuses where nobody listens, and takes no port twice', async () => {
    await expect(once(connect(1, '127.0.0.1'), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(once(net.createServer().listen(port), 'listening')).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });

  it('ends, resets and closes as TCP does', async () => {
    const seen: string[] = [];
    const server = net.createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', (error: NodeJS.ErrnoException) => seen.push(error.code ?? ''));
      socket.on('data', (data) => socket.write(data));
      socket.on('end', () => socket.end('bye'));
    });
    await new Promise<void>((resolve) => void server.listen(0, resolve));
    const goal = (server.address() as AddressInfo).port;
    const half = connect(goal);
    half.end('hello');
    const words: string[] = [];
    half.on('data', (data) => words.push(String(data)));
    await once(half, 'close');
    expect(words.join('')).toBe('hellobye');
    const cut = connect(goal);
    await once(cut, 'connect');
    cut.resetAndDestroy();
    await expect.poll(() => seen).toEqual(['ECONNRESET']);
    await new Promise<void>((resolve) => void server.close(() => resolve()));
    expect(server.listening).toBe(false);
  });
});
