import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../src/testing/loopback.js';
import { type DemoProxy, startProxy } from '../../../src/testing/demo/demo-proxy.js';
import { soon } from '../../support/soon.js';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Says its name to requests and streams. */
async function startServer(name: string): Promise<{ port: number; kill(): void; left(): number }> {
  let left = 0;
  const server = createServer(async (request, response) => {
    response.on('close', () => {
      left += response.writableFinished ? 0 : 1;
    });
    const body = (await request.toArray()).join('');
    if (request.url === '/endless') response.write(name);
    else response.writeHead(201, { 'x-method': request.method }).end(`${name} ${body}`);
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, request: IncomingMessage) => {
    socket.on('message', (data) => socket.send(`${name} ${request.url} ${data}`));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const kill = () => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
    server.closeAllConnections();
  };
  closing.push(kill);
  return { port: (server.address() as AddressInfo).port, kill, left: () => left };
}

async function start(ports: () => readonly number[]): Promise<{ proxy: DemoProxy; host: string }> {
  const port = await freePort();
  const proxy = await startProxy({ port, host: '127.0.0.1', ports });
  closing.push(() => proxy.close());
  return { proxy, host: `127.0.0.1:${port}` };
}

async function post(host: string, body: string): Promise<string> {
  const response = await fetch(`http://${host}/path`, { method: 'POST', body });
  return `${response.status} ${response.headers.get('x-method')} ${await response.text()}`;
}

async function open(host: string, path: string): Promise<WebSocket> {
  const socket = new WebSocket(`ws://${host}${path}`);
  closing.push(() => socket.terminate());
  await once(socket, 'open');
  return socket;
}

async function ask(socket: WebSocket, text: string): Promise<string> {
  socket.send(text);
  return String((await once(socket, 'message'))[0]);
}

describe('the load balancer of a demo', () => {
  it('gives requests to one server after the other, and passes over who is gone', async () => {
    const [one, two] = [await startServer('one'), await startServer('two')];
    const ports = [one.port, two.port];
    const { host } = await start(() => ports);
    expect(await post(host, 'a')).toBe('201 POST one a');
    expect(await post(host, 'b')).toBe('201 POST two b');
    one.kill();
    expect(await post(host, 'c')).toBe('201 POST two c');
    expect(await post(host, 'd')).toBe('201 POST two d');
    ports.length = 0;
    expect((await fetch(`http://${host}/`)).status).toBe(502);
  });

  it('does the same with streams, and knows whose each is', async () => {
    const [one, two] = [await startServer('one'), await startServer('two')];
    const { host, proxy } = await start(() => [one.port, two.port]);
    const first = await open(host, '/ws/a');
    await post(host, 'between');
    const second = await open(host, '/ws/b');
    expect(await ask(first, 'hello')).toBe('one /ws/a hello');
    expect(await ask(second, 'hello')).toBe('two /ws/b hello');
    expect([proxy.portOf('/ws/a'), proxy.portOf('/ws/b')]).toEqual([one.port, two.port]);
    one.kill();
    await once(first, 'close');
    expect(proxy.portOf('/ws/a')).toBeUndefined();
    expect(await ask(await open(host, '/ws/c'), 'again')).toBe('two /ws/c again');
    expect(await ask(second, 'still')).toBe('two /ws/b still');
  });

  it('lets go of an answer that nobody reads any more', async () => {
    const one = await startServer('one');
    const { host } = await start(() => [one.port]);
    const reading = new AbortController();
    await fetch(`http://${host}/endless`, { signal: reading.signal });
    expect(one.left()).toBe(0);
    reading.abort();
    await soon(() => expect(one.left()).toBe(1));
  });

  it('ends an answer with its server', async () => {
    const one = await startServer('one');
    const { host } = await start(() => [one.port]);
    const endless = await fetch(`http://${host}/endless`);
    const reader = endless.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('one');
    one.kill();
    await expect(reader?.read()).rejects.toThrow();
  });

  it('says that its port is in use', async () => {
    const { port } = await startServer('one');
    await expect(startProxy({ port, host: '127.0.0.1', ports: () => [] })).rejects.toMatchObject({
      code: 'CONFIG_PORT_IN_USE',
    });
  });
});
