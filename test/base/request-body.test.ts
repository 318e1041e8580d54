import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { OffhookError } from '../../src/base/errors.js';
import { answerEarly, readBody } from '../../src/base/request-body.js';
import { untilQuiet } from '../support/virtual/quiet.js';

const LIMIT = 1000;
/** What a connection may have read when it reads no further: a buffer or two beside the limit. */
const FEW_BYTES = 512 * 1024;
const FLOOD_BYTES = 64 * 1024 * 1024;

let server: Server | undefined;
const sockets: Socket[] = [];

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  sockets.length = 0;
});

/** `/read` reads a body, `/begun` has begun its answer before, and nothing else looks at one. */
const listener: RequestListener = (request, response) => {
  if (request.url === '/begun') {
    response.writeHead(200, { 'Content-Length': 2 });
    setTimeout(() => response.end('ok'), 20);
  } else if (request.url !== '/read') response.writeHead(404).end('nothing here');
  else {
    readBody(request, response, LIMIT).then(
      (body) => response.end(`${body.length} bytes`),
      (error: unknown) => {
        response.statusCode =
          OffhookError.isInstance(error) && error.code === 'REQUEST_TOO_LARGE' ? 413 : 400;
        response.end();
      },
    );
  }
};

/** A connection, and what it was answered so far. */
async function open(): Promise<{
  client: Socket;
  text: () => string;
  until: (part: string) => Promise<void>;
}> {
  if (server?.listening !== true) {
    const answer = answerEarly(listener);
    server = createServer(answer).on('checkContinue', answer);
    server.on('connection', (socket) => sockets.push(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  let text = '';
  client.on('data', (data) => (text += data.toString()));
  return {
    client,
    text: () => text,
    async until(part) {
      while (!text.includes(part)) await once(client, 'data');
    },
  };
}

const head = (path: string, ...headers: string[]) =>
  [`POST ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');

/** Whether it ended well or in an error. */
const closed = (client: Socket) => new Promise((resolve) => client.once('close', resolve));

/** Sends chunks without end, as fast as they are taken, until it is hung up on. */
async function flood(client: Socket): Promise<void> {
  const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`;
  const isOver = closed(client);
  for (let sent = 0; sent < FLOOD_BYTES && !client.destroyed; sent += chunk.length) {
    if (!client.write(chunk))
      await Promise.race([new Promise((resolve) => client.once('drain', resolve)), isOver]);
  }
  await isOver;
}

describe('a body over the limit', () => {
  it('is refused by its length, before any of it has come', async () => {
    const { client, until } = await open();
    client.write(head('/read', 'Content-Length: 500000000'));
    await until('HTTP/1.1 413');
    await until('Connection: close');
  });

  it('is refused as soon as its chunks exceed it, and read no further', async () => {
    const { client, text } = await open();
    client.write(head('/read', 'Transfer-Encoding: chunked'));
    await flood(client);
    expect(text()).toMatch(/^HTTP\/1\.1 413/);
    expect(sockets[0]?.bytesRead).toBeLessThan(FEW_BYTES);
  });

  it.each(['/other', '/begun'])('is not read where nobody asks for one (%s)', async (path) => {
    const { client, text } = await open();
    client.write(head(path, 'Transfer-Encoding: chunked'));
    await flood(client);
    expect(text()).toContain(path === '/begun' ? 'ok' : 'nothing here');
    expect(sockets[0]?.bytesRead).toBeLessThan(FEW_BYTES);
  });

  it('reaches a client that only reads once it has sent', async () => {
    const { client, text } = await open();
    client.pause();
    client.write(head('/read', 'Content-Length: 500000000'));
    client.write('a'.repeat(100_000));
    await untilQuiet();
    client.resume();
    await once(client, 'end');
    expect(text()).toMatch(/^HTTP\/1\.1 413/);
  });
});

describe('a client that asks whether its body may come', () => {
  const ask = 'Expect: 100-continue';

  it('is told to go on by who reads it', async () => {
    const { client, text, until } = await open();
    client.write(head('/read', ask, 'Content-Length: 3'));
    await until('100 Continue');
    client.write('abc');
    await until('3 bytes');
    expect(text()).toContain('HTTP/1.1 200');
  });

  it.each([
    ['/read', 'Content-Length: 1001', '413'],
    ['/read', 'Content-Encoding: gzip', '400'],
    ['/other', 'Content-Length: 3', '404'],
  ])('is refused without the body (%s, %s)', async (path, header, status) => {
    const { client, text } = await open();
    client.write(head(path, ask, header));
    await closed(client);
    expect(text()).toContain(`HTTP/1.1 ${status}`);
    expect(text()).not.toContain('100 Continue');
  });
});

describe('a body within the limit', () => {
  it.each([
    ['/read', '1000 bytes'],
    ['/other', 'nothing here'],
  ])('keeps its connection, whether it is read or not (%s)', async (path, answer) => {
    const { client, until } = await open();
    client.write(head(path, `Content-Length: ${LIMIT}`) + 'a'.repeat(LIMIT));
    await until(answer);
    client.write(`${head('/read', 'Transfer-Encoding: chunked')}3\r\nabc\r\n0\r\n\r\n`);
    await until('3 bytes');
    expect(sockets).toHaveLength(1);
  });

  it('is refused when it is compressed', async () => {
    const { client, until } = await open();
    client.write(`${head('/read', 'Content-Encoding: gzip', 'Content-Length: 3')}abc`);
    await until('HTTP/1.1 400');
  });
});
