import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { CarrierA } from '../../src/carriers/carrier-a/index.js';
import { issueStreamToken } from '../../src/calls/streams/stream-token.js';
import type { Neighbor } from '../../src/server/neighbor.js';
import { AUTH_TOKEN, closeOf, HOST, openStream, startServer, stopServers, upgrade } from './harness.js';

const HOUR_MS = 3_600_000;

afterEach(stopServers);

const carrier = new CarrierA({ authToken: AUTH_TOKEN });
const facts = {
  callId: 'call-1',
  carrierCallId: 'CA1',
  caller: '+15005550020',
  callee: '+15005550010',
  direction: 'inbound',
  number: 1,
} as const;

function tokenAt(nowMs: number, key = carrier.streamTokenKey, number = 1): string {
  return issueStreamToken(key ?? new Uint8Array(), { ...facts, number }, nowMs);
}

/** Waits until `condition` holds; what it waits for happens on the other side of a socket. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

describe('a stream without a secret', () => {
  it('is accepted on any path under /ws/stream/, with the query as all that is known', async () => {
    const { port, desk } = await startServer();
    await openStream(port, '/ws/stream/CA1?caller=%2B15005550020&callee=+15005550010');
    await openStream(port, '/ws/stream/CA2/some/more/path/');
    expect(desk.streams.map((stream) => stream.admission)).toEqual([
      {
        callId: 'CA1',
        carrierCallId: null,
        caller: '+15005550020',
        callee: '+15005550010',
        direction: null,
      },
      { callId: 'CA2', carrierCallId: null, caller: null, callee: null, direction: null },
    ]);
  });

  it('carries text both ways, and ends with the code of the other side', async () => {
    const { port, desk } = await startServer();
    const client = await openStream(port, '/ws/stream/CA1');
    const stream = desk.streams[0];
    client.send('{"event":"connected","text":"é"}');
    await until(() => stream?.texts.length === 1);
    expect(stream?.texts).toEqual(['{"event":"connected","text":"é"}']);
    const answer = once(client, 'message');
    stream?.socket.send('{"event":"clear"}');
    expect(String((await answer)[0])).toBe('{"event":"clear"}');
    client.close(1000);
    expect(await stream?.closed).toBe(1000);
    expect(() => stream?.socket.send('too late')).not.toThrow();
  });

  it('sends text of every length and script as it is, in order', async () => {
    const { port, desk } = await startServer();
    const client = await openStream(port, '/ws/stream/CA1');
    const texts = [0, 1, 125, 126, 127, 65_535, 65_536].flatMap((length) => ['x'.repeat(length), 'é☎']);
    const received: string[] = [];
    client.on('message', (data: Buffer) => received.push(data.toString('utf8')));
    for (const text of texts) desk.streams[0]?.socket.send(text);
    await until(() => received.length === texts.length);
    expect(received).toEqual(texts);
  });

  it('is closed by the desk with its code and a reason that fits', async () => {
    const { port, desk } = await startServer();
    const client = await openStream(port, '/ws/stream/CA1');
    desk.streams[0]?.socket.close(4000, 'é'.repeat(100));
    expect(await closeOf(client)).toEqual({ code: 4000, reason: 'é'.repeat(61) });
  });

  it('gives its place back soon after it was closed, whether or not the other side answers', async () => {
    const { port, desk, clock } = await startServer({ maxStreamsPerIp: 1 });
    const dead = connect(port, '127.0.0.1');
    dead.write(
      `GET /ws/stream/CA1 HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    await once(dead, 'data');
    desk.streams[0]?.socket.close(1000, 'Stream ended');
    expect((await upgrade(port, '/ws/stream/CA2')).status).toBe(429);
    clock.advance(2000);
    expect(await desk.streams[0]?.closed).toBe(1006);
    dead.destroy();
    const client = await openStream(port, '/ws/stream/CA2');
    desk.streams[1]?.socket.close(1000, 'Stream ended');
    expect(await closeOf(client)).toEqual({ code: 1000, reason: 'Stream ended' });
    await desk.streams[1]?.closed;
    expect(clock.pending).toBe(0);
  });

  it('may be opened again under the id of a call that is over', async () => {
    const { port, desk } = await startServer();
    desk.ended.add('CA1');
    await expect(openStream(port, '/ws/stream/CA1')).resolves.toBeDefined();
  });
});

describe('a page in a browser', () => {
  const path = '/ws/stream/CA1';

  it.each([
    'https://evil.example',
    'http://127.0.0.1:1',
    'null',
    '',
    'https://voice.example.evil.example',
    'https://voice.example@evil.example',
    'file://',
  ])('of %j opens no stream while there is no secret', async (Origin) => {
    const { port, desk } = await startServer();
    const answer = await upgrade(port, path, { Origin });
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'AUTH_FORBIDDEN' } });
    expect(desk.streams).toEqual([]);
  });

  it('cannot lend itself our address by rebinding a name', async () => {
    const { port } = await startServer({ publicHost: () => undefined });
    const headers = { Host: 'evil.example:8000', Origin: 'http://evil.example:8000' };
    expect(await upgrade(port, path, headers)).toMatchObject({ status: 403 });
  });

  it('of this server itself may', async () => {
    const { port, desk } = await startServer();
    await openStream(port, '/ws/stream/CA1', { Origin: `https://${HOST}` });
    await openStream(port, '/ws/stream/CA2', { Origin: `http://127.0.0.1:${port}` });
    expect(desk.streams).toHaveLength(2);
  });

  it('is no matter where a token is needed', async () => {
    const { port, clock } = await startServer({ carrier });
    const secured = `/ws/stream/call-1/${tokenAt(clock.wallNow())}`;
    await expect(openStream(port, secured, { Origin: 'https://evil.example' })).resolves.toBeDefined();
  });
});

describe('a stream with a secret', () => {
  it("is opened by its token, whose facts outrank the query's", async () => {
    const { port, desk, clock } = await startServer({ carrier });
    await openStream(port, `/ws/stream/call-1/${tokenAt(clock.wallNow())}?caller=%2B666&callee=%2B667`);
    expect(desk.streams[0]?.admission).toEqual(facts);
  });

  it("is found by the carrier's id too", async () => {
    const { port, desk, clock } = await startServer({ carrier });
    await openStream(port, `/ws/stream/CA1/${tokenAt(clock.wallNow())}`);
    expect(desk.streams[0]?.admission).toEqual(facts);
  });

  it('is opened by a right signature of the upgrade', async () => {
    const { port, desk, clock } = await startServer({ carrier });
    const path = `/ws/stream/call-1/${tokenAt(clock.wallNow())}`;
    const signature = createHmac('sha1', AUTH_TOKEN).update(`wss://${HOST}${path}`).digest('base64');
    await openStream(port, path, { 'X-Twilio-Signature': signature });
    expect(desk.streams).toHaveLength(1);
  });

  it.each([
    ['no token', () => '/ws/stream/call-1', 401],
    ['garbage for a token', () => '/ws/stream/call-1/a.b', 401],
    ['the token of another call', (now: number) => `/ws/stream/call-2/${tokenAt(now)}`, 401],
    [
      'the token of another installation',
      (now: number) => `/ws/stream/call-1/${tokenAt(now, new Uint8Array(32))}`,
      401,
    ],
    ['a token that is a minute old', (now: number) => `/ws/stream/call-1/${tokenAt(now - 60_000)}`, 401],
    ['more behind the token', (now: number) => `/ws/stream/call-1/${tokenAt(now)}/x`, 401],
  ])('is refused with %s', async (_, target, status) => {
    const { port, desk, clock } = await startServer({ carrier });
    const answer = await upgrade(port, target(clock.wallNow()));
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'AUTH_REQUIRED' } });
    expect(desk.streams).toEqual([]);
  });

  it.each([HOUR_MS, -HOUR_MS])(
    'is opened by a token of the time that processes share, %i ms from the clock, and of that before its step',
    async (aheadMs) => {
      let stepMs = 0;
      const { port, desk, clock } = await startServer({
        carrier,
        sharedTime: () => ({
          now: () => clock.wallNow() + aheadMs + stepMs,
          formerNow: () => (stepMs === 0 ? undefined : clock.wallNow() + aheadMs),
        }),
      });
      const before = clock.wallNow() + aheadMs;
      await openStream(port, `/ws/stream/call-1/${tokenAt(before)}`);
      expect(await upgrade(port, `/ws/stream/call-1/${tokenAt(before - 60_000)}`)).toMatchObject({
        status: 401,
      });
      stepMs = HOUR_MS;
      desk.expecting.add('call-1');
      await openStream(port, `/ws/stream/call-1/${tokenAt(before)}`);
      await openStream(port, `/ws/stream/call-1/${tokenAt(before + stepMs)}`);
      expect(await upgrade(port, `/ws/stream/call-1/${tokenAt(before - 60_000)}`)).toMatchObject({
        status: 401,
      });
      expect(desk.streams).toHaveLength(3);
    },
  );

  it('is refused with a wrong signature of the upgrade', async () => {
    const { port, clock } = await startServer({ carrier });
    const signature = createHmac('sha1', AUTH_TOKEN).update('wss://other.example/').digest('base64');
    const path = `/ws/stream/call-1/${tokenAt(clock.wallNow())}`;
    const answer = await upgrade(port, path, { 'X-CarrierA-Signature': signature });
    expect(answer).toMatchObject({ status: 403 });
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'SIGNATURE_MISMATCH' } });
  });

  it('is taken for a live call that is about to lose the one it has', async () => {
    const { port, desk, clock } = await startServer({ carrier });
    const path = `/ws/stream/call-1/${tokenAt(clock.wallNow())}`;
    await openStream(port, path);
    desk.expecting.add('call-1');
    await openStream(port, path);
    expect(desk.streams).toHaveLength(2);
  });

  it('is refused for a call that is live or over', async () => {
    const { port, desk, clock } = await startServer({ carrier });
    const path = `/ws/stream/call-1/${tokenAt(clock.wallNow())}`;
    const client = await openStream(port, path);
    expect(await upgrade(port, path)).toMatchObject({ status: 409 });
    expect(client.readyState).toBe(client.OPEN);
    desk.live.clear();
    desk.ended.add('call-1');
    expect(await upgrade(port, path)).toMatchObject({ status: 409 });
    expect(desk.streams).toHaveLength(1);
  });
});

describe('a stream that is said to be at another process, which is not reached', () => {
  const neighbor = (takesNew: boolean) => () =>
    ({ takesNew, place: async () => 'there', passUpgrade: async () => false }) as unknown as Neighbor;

  it.each([true, false])('is taken for a new call, which takes new ones: %s', async (takesNew) => {
    const { port, desk, clock } = await startServer({ carrier, neighbor: neighbor(takesNew) });
    await openStream(port, `/ws/stream/call-1/${tokenAt(clock.wallNow())}`);
    expect(desk.streams).toHaveLength(1);
  });

  it.each([true, false])(
    'does not begin anew what goes on there, which takes new ones: %s',
    async (takesNew) => {
      const { port, desk, clock } = await startServer({ carrier, neighbor: neighbor(takesNew) });
      const path = `/ws/stream/call-1/${tokenAt(clock.wallNow(), undefined, 2)}`;
      expect(await upgrade(port, path)).toMatchObject({ status: 409 });
      expect(desk.streams).toEqual([]);
      desk.live.add('call-1');
      desk.expecting.add('call-1');
      await openStream(port, path);
      expect(desk.streams).toHaveLength(1);
    },
  );
});

describe('an upgrade that makes no sense', () => {
  it.each([
    ['//', 400],
    ['//ws/stream/CA1', 400],
    ['/ws//stream/CA1', 400],
    ['/%', 400],
    ['/ws/stream/%', 400],
    ['/ws/stream/%E0%A4', 400],
    ['/ws/stream/', 400],
    ['/ws/stream/..', 400],
    ['/ws/stream/a%2Fb', 400],
    ['/ws/stream/a b', 400],
    [`/ws/stream/${'a'.repeat(129)}`, 400],
    [`/ws/stream/CA1?caller=${'1'.repeat(5000)}`, 400],
    ['http://voice.example/ws/stream/CA1', 400],
    ['*', 400],
    ['/', 404],
    ['/ws/stream', 404],
    ['/ws/streams/CA1', 404],
    ['/api/dashboard/events', 404],
  ])('gets a whole answer: %s', async (target, status) => {
    const { port, desk } = await startServer();
    const answer = await upgrade(port, target);
    expect(answer.status).toBe(status);
    expect(answer.headers.connection).toBe('close');
    expect(Number(answer.headers['content-length'])).toBe(answer.body.length);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: expect.any(String) } });
    expect(desk.streams).toEqual([]);
  });

  it('is refused for another method and for a broken handshake', async () => {
    const { port, desk } = await startServer();
    expect(await upgrade(port, '/ws/stream/CA1', {}, 'POST')).toMatchObject({ status: 400 });
    expect(await upgrade(port, '/ws/stream/CA1', { 'Sec-WebSocket-Key': 'x' })).toMatchObject({
      status: 400,
    });
    expect(await upgrade(port, '/ws/stream/CA1', { Upgrade: 'h2c' })).toMatchObject({ status: 400 });
    expect(desk.streams).toEqual([]);
  });

  it('is refused without a public host and with a Host header that is none', async () => {
    const { port } = await startServer({ publicHost: () => undefined });
    expect(await upgrade(port, '/ws/stream/CA1', { Host: 'a/b' })).toMatchObject({ status: 400 });
  });
});

describe('the limit per address', () => {
  it('refuses the eleventh stream before anything else is looked at, and takes one when one has gone', async () => {
    const { port, lines } = await startServer();
    const clients = [];
    for (let index = 0; index < 10; index += 1) clients.push(await openStream(port, `/ws/stream/CA${index}`));
    for (const target of ['/ws/stream/CA10', '//', '/other']) {
      const answer = await upgrade(port, target);
      expect(answer.status).toBe(429);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'LIMIT_EXCEEDED' } });
    }
    const warnings = lines.filter((line) => line.level === 'warn').map((line) => line.sentence);
    expect(warnings).toEqual([expect.stringMatching(/trustProxy.*maxStreamsPerIp/)]);
    const first = clients[0];
    first?.close();
    if (first !== undefined) await closeOf(first);
    await expect(openStream(port, '/ws/stream/CA10')).resolves.toBeDefined();
  });

  it('gives the place of every refused upgrade back', async () => {
    const { port } = await startServer({ carrier, maxStreamsPerIp: 1 });
    for (const target of ['//', '/other', '/ws/stream/a', '/ws/stream/b']) {
      expect((await upgrade(port, target)).status).not.toBe(429);
    }
    expect((await upgrade(port, '/ws/stream/a', { 'Sec-WebSocket-Key': 'x' })).status).toBe(401);
  });

  it('counts by the address that a trusted proxy names', async () => {
    const { port } = await startServer({ maxStreamsPerIp: 1, trustProxy: 'loopback' });
    await openStream(port, '/ws/stream/a', { 'X-Forwarded-For': '203.0.113.1' });
    await openStream(port, '/ws/stream/b', { 'X-Forwarded-For': '203.0.113.2' });
    const spoofed = { 'X-Forwarded-For': '198.51.100.7, ::ffff:203.0.113.1' };
    expect(await upgrade(port, '/ws/stream/c', spoofed)).toMatchObject({ status: 429 });
  });

  it('does not believe a proxy that nobody trusts', async () => {
    const { port } = await startServer({ maxStreamsPerIp: 1 });
    await openStream(port, '/ws/stream/a', { 'X-Forwarded-For': '203.0.113.1' });
    const other = { 'X-Forwarded-For': '203.0.113.2' };
    expect(await upgrade(port, '/ws/stream/b', other)).toMatchObject({ status: 429 });
  });
});

describe('a stream that breaks the protocol', () => {
  it('has its binary frames counted, and goes on', async () => {
    const { port, desk } = await startServer();
    const client = await openStream(port, '/ws/stream/CA1');
    client.send(Buffer.from([1, 2, 3]));
    client.send('after');
    await until(() => desk.streams[0]?.texts.length === 1);
    expect(desk.streams[0]?.unexpected).toEqual(['binary message']);
  });

  it.each([
    ['a message over 1 MiB', Buffer.alloc(1024 * 1024 + 1, 'a'), 1009, 'message too big'],
    ['invalid UTF-8', Buffer.from([0x61, 0xff]), 1007, 'message is not UTF-8'],
  ])('is closed for %s, and no other feels it', async (_, data, code, reason) => {
    const { port, desk } = await startServer();
    const client = await openStream(port, '/ws/stream/CA1');
    const other = await openStream(port, '/ws/stream/CA2');
    client.send(data, { binary: false });
    expect((await closeOf(client)).code).toBe(code);
    await desk.streams[0]?.closed;
    expect(desk.streams[0]?.unexpected).toEqual([reason]);
    other.send('still here');
    await until(() => desk.streams[1]?.texts.length === 1);
  });

  it('is closed for a broken frame', async () => {
    const { port, desk } = await startServer();
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `GET /ws/stream/CA1 HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    await once(socket, 'data');
    socket.end(Buffer.from([0xf1, 0x80, 0, 0, 0, 0]));
    await desk.streams[0]?.closed;
    expect(desk.streams[0]?.unexpected).toEqual(['malformed WebSocket frame']);
  });

  it('is over when its socket dies', async () => {
    const { port, desk } = await startServer();
    const client = await openStream(port, '/ws/stream/CA1');
    client.terminate();
    expect(await desk.streams[0]?.closed).toBe(1006);
  });
});

describe('a desk that fails', () => {
  it('costs only its own stream', async () => {
    const { port, desk, lines } = await startServer();
    desk.admitError = new Error('secret detail');
    expect((await closeOf(await openStream(port, '/ws/stream/CA1'))).code).toBe(1011);
    desk.admitError = undefined;
    const fail = () => {
      throw new Error('secret detail');
    };
    desk.receiver = { receiveText: fail, receiveUnexpected: fail, socketClosed: fail };
    const client = await openStream(port, '/ws/stream/CA2');
    client.send('x');
    expect((await closeOf(client)).code).toBe(1011);
    desk.receiver = undefined;
    await expect(openStream(port, '/ws/stream/CA3')).resolves.toBeDefined();
    expect(lines.some((line) => line.level === 'error')).toBe(true);
    expect(JSON.stringify(lines)).not.toContain('secret detail');
  });
});
