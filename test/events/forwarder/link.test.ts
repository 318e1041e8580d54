import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { linkToSocket, linkToUrl } from '../../../src/events/forwarder/link.js';
import { FakeClock } from '../../support/fake-clock.js';
import { socketFolder } from '../../support/ingest-dashboard.js';

const ANSWER = JSON.stringify({ dashboardId: 'd', accepted: 0, duplicates: 0, refused: [], calls: [] });

let room: ReturnType<typeof socketFolder>;
const servers: Server[] = [];

beforeEach(() => {
  room = socketFolder();
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
  room.remove();
});

async function listen(where: string | number, listener: RequestListener): Promise<Server> {
  const server = createServer(listener).listen(where as number);
  servers.push(server);
  await once(server, 'listening');
  return server;
}

describe('the way to a dashboard', () => {
  it('says where it is without secrets', () => {
    expect(
      linkToUrl(new URL('https://me:secret@calls.example.com/a?b=secret'), 'secret', systemClock).address,
    ).toBe('https://calls.example.com/a/');
    expect(linkToSocket('/run/dashboard.sock', async () => true, systemClock).address).toBe(
      '/run/dashboard.sock',
    );
  });

  it('leads to the path below the address that was given, with the token', async () => {
    const seen: unknown[] = [];
    const server = await listen(0, (request, response) => {
      seen.push([request.method, request.url, request.headers.authorization]);
      response.end(ANSWER);
    });
    const { port } = server.address() as AddressInfo;
    for (const path of ['', '/', '/offhook', '/offhook/']) {
      const link = linkToUrl(new URL(`http://127.0.0.1:${port}${path}`), 'secret', systemClock);
      expect(await link.send('{}')).toMatchObject({ dashboardId: 'd' });
      link.close();
    }
    const request = (path: string) => ['POST', path, 'Bearer secret'];
    const plain = request('/api/dashboard/ingest');
    const below = request('/offhook/api/dashboard/ingest');
    expect(seen).toEqual([plain, plain, below, below]);
  });

  it('is not taken to a socket that cannot be trusted, and says when nobody is there', async () => {
    const path = join(room.folder, 's');
    await expect(linkToSocket(path, async () => true, systemClock).send('{}')).rejects.toMatchObject({
      kind: 'absent',
    });
    let asked = 0;
    await listen(path, (_request, response) => {
      asked += 1;
      response.end(ANSWER);
    });
    await expect(linkToSocket(path, async () => false, systemClock).send('{}')).rejects.toMatchObject({
      kind: 'absent',
    });
    expect(asked).toBe(0);
  });

  it.each([
    ['a status', 401, 'no', 'refused'],
    ['too many at once', 429, '{}', 'unreachable'],
    ['a store that fails', 503, '{}', 'unreachable'],
    ['a redirect', 302, '', 'refused'],
    ['a page of something else', 200, '<html>', 'refused'],
    ['JSON of something else', 200, '{"dashboardId":"d","refused":[{}],"calls":[]}', 'refused'],
    ['too much', 200, 'x'.repeat(5 * 1024 * 1024), 'unreachable'],
  ])('tells an answer that is none: %s', async (_what, status, body, kind) => {
    const path = join(room.folder, 's');
    await listen(path, (_request, response) => {
      response.writeHead(status, { Location: 'http://127.0.0.1:1/' });
      response.end(body);
    });
    const link = linkToSocket(path, async () => true, systemClock);
    await expect(link.send('{}')).rejects.toMatchObject({ kind });
    link.close();
  });

  it('gives up who takes a batch and does not answer, after ten seconds', async () => {
    const [path, clock] = [join(room.folder, 's'), new FakeClock()];
    const server = await listen(path, () => {});
    const asked = once(server, 'request');
    const link = linkToSocket(path, async () => true, clock);
    let outcome: unknown = 'none';
    const sent = link.send('{}').catch((error: unknown) => {
      outcome = error;
    });
    await asked;
    clock.advance(9999);
    await nextTurn();
    expect(outcome).toBe('none');
    clock.advance(1);
    await sent;
    expect(outcome).toMatchObject({ kind: 'unreachable' });
    link.close();
  });

  it('survives a dashboard that is gone as soon as it has answered a long batch', async () => {
    const path = join(room.folder, 's');
    const errors: unknown[] = [];
    const note = (error: unknown) => errors.push(error);
    const server = await listen(path, (request, response) => {
      request.resume().on('end', () => response.end(ANSWER));
    });
    process.on('uncaughtException', note);
    const link = linkToSocket(path, async () => true, systemClock);
    await link.send(JSON.stringify('x'.repeat(900_000)));
    server.close().closeAllConnections();
    await new Promise((resolve) => setTimeout(resolve, 50));
    process.off('uncaughtException', note);
    link.close();
    expect(errors).toEqual([]);
  });
});
