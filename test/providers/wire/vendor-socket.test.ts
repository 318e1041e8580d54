import { createHash } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { WireFailure } from '../../../src/providers/wire/failure.js';
import { openVendorSocket } from '../../../src/providers/wire/vendor-socket.js';
import { FakeClock } from '../../support/fake-clock.js';
import { untilQuiet } from '../../support/virtual/quiet.js';
import { soon } from '../../support/soon.js';
import { closedAfterTest } from '../../support/closed-after-test.js';

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closedAfterTest(server);
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A vendor that keeps what it gets. */
async function startVendor(onConnect: (ws: WebSocket) => void = () => {}) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: true });
  await new Promise((resolve) => server.once('listening', resolve));
  const peers: WebSocket[] = [];
  const got: string[] = [];
  server.on('connection', (ws) => {
    peers.push(ws);
    ws.on('message', (data, isBinary) => got.push(`${isBinary ? 'binary' : 'text'} ${String(data)}`));
    ws.on('close', (code) => got.push(`closed ${code}`));
    onConnect(ws);
  });
  onTestFinished(() => {
    for (const peer of peers) peer.terminate();
    server.close();
  });
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, peers, got };
}

/** Opens a socket that is told of binary frames apart. */
async function hearBinary(url: string): Promise<string[]> {
  const told: string[] = [];
  const socket = openVendorSocket({
    target: { url: new URL(url), headers: {} },
    clock: new FakeClock(),
    events: {
      opened: () => void told.push('opened'),
      text: (text) => void told.push(`text ${text}`),
      binary: (bytes) => void told.push(`binary ${[...bytes].join()}`),
      ended: () => void told.push('ended'),
    },
  });
  closedAfterTest(socket);
  await soon(() => expect(told).toHaveLength(3));
  return told;
}

function open(url: string, onText: (text: string) => void = () => {}, { pingMs }: { pingMs?: number } = {}) {
  const clock = new FakeClock();
  const told: string[] = [];
  const failures: WireFailure[] = [];
  const pongs = { count: 0 };
  const socket = openVendorSocket({
    target: { url: new URL(url), headers: { 'x-key': 'k' } },
    clock,
    pingMs,
    events: {
      opened: () => void told.push('opened'),
      text: (text) => {
        told.push(text.slice(0, 20));
        onText(text);
      },
      ended: (failure) => {
        told.push(`ended: ${failure.reason}`);
        failures.push(failure);
      },
      pong: () => {
        pongs.count += 1;
      },
    },
  });
  closedAfterTest(socket);
  return { clock, told, failures, socket, pongs };
}

describe('openVendorSocket', () => {
  it('speaks text and binary as it is told, without compression', async () => {
    const vendor = await startVendor();
    const { told, socket } = open(vendor.url);
    socket.send('too early');
    await soon(() => expect(told).toEqual(['opened']));
    socket.send('text');
    socket.send(new Uint8Array([65, 66]));
    await soon(() => expect(vendor.got).toEqual(['text text', 'binary AB']));
    expect(vendor.peers[0]?.extensions).toBe('');
  });

  it('reads JSON in binary frames, too', async () => {
    const vendor = await startVendor((ws) => ws.send(Buffer.from('{"type":"x"}')));
    const { told } = open(vendor.url);
    await soon(() => expect(told).toEqual(['opened', '{"type":"x"}']));
  });

  it('ends with 1000 after its last message, and says nothing more', async () => {
    const vendor = await startVendor();
    const { clock, told, socket } = open(vendor.url);
    await soon(() => expect(told).toEqual(['opened']));
    socket.close('bye');
    socket.close('bye');
    vendor.peers[0]?.send('late');
    await soon(() => expect(vendor.got).toEqual(['text bye', 'closed 1000']));
    await soon(() => expect(clock.pending).toBe(0));
    expect(told).toEqual(['opened']);
  });

  it('cuts a connection whose other side does not answer the close, also when the clock of the call has stopped', async () => {
    const server = createHttpServer();
    const url = await listen(server);
    let isCut = false;
    server.on('upgrade', (request, socket) => {
      const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash('sha1').update(key).digest('base64');
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
      );
      socket.on('data', () => {});
      socket.on('end', () => {
        isCut = true;
        socket.destroy();
      });
    });
    const { clock, told, socket } = open(url);
    await soon(() => expect(told).toEqual(['opened']));
    socket.close();
    expect(clock.pending).toBe(0);
    await soon(() => expect(isCut).toBe(true));
  });

  it('leaves a peer that is gone without a word, once', async () => {
    const vendor = await startVendor();
    const { clock, told, socket } = open(vendor.url);
    await soon(() => expect(told).toEqual(['opened']));
    socket.terminate();
    socket.terminate();
    await soon(() => expect(vendor.got).toEqual(['closed 1006']));
    expect([told, clock.pending]).toEqual([['opened'], 0]);
  });

  it('gives up a handshake after five seconds', async () => {
    const url = await listen(createServer(() => {}));
    const { clock, told } = open(url);
    clock.advance(4999);
    expect(told).toEqual([]);
    clock.advance(1);
    expect(told).toEqual(['ended: did not answer in time']);
    expect(clock.pending).toBe(0);
  });

  it('can be closed before there is a connection', async () => {
    const vendor = await startVendor();
    const { clock, told, socket } = open(vendor.url);
    socket.close();
    clock.advance(10_000);
    await untilQuiet();
    expect(told).toEqual([]);
  });

  it('ends when nobody is there', async () => {
    const { told } = open('ws://127.0.0.1:1');
    await soon(() => expect(told).toEqual(['ended: could not be reached (127.0.0.1:1, ECONNREFUSED)']));
  });

  it('does not follow where it is sent with its key', async () => {
    const url = await listen(
      createServer((socket) => {
        socket.once('data', () =>
          socket.end('HTTP/1.1 302 Found\r\nlocation: ws://elsewhere\r\ncontent-length: 0\r\n\r\n'),
        );
      }),
    );
    const { told } = open(url);
    await soon(() => expect(told).toEqual(['ended: refused the request (HTTP 302)']));
  });

  it('ends on a message over 16 MiB', async () => {
    const vendor = await startVendor((ws) => ws.send('x'.repeat(16 * 1024 * 1024 + 1)));
    const { told, failures } = open(vendor.url);
    await soon(() => expect(failures).toHaveLength(1));
    expect(told[0]).toBe('opened');
    expect(told).toHaveLength(2);
  });

  it('ends, and nothing else does, when a listener throws', async () => {
    const vendor = await startVendor((ws) => ws.send('boom'));
    const { told, failures } = open(vendor.url, () => {
      throw new Error('a mistake of ours');
    });
    await soon(() => expect(vendor.got.at(-1)).toMatch(/^closed/));
    expect(told).toEqual(['opened', 'boom', 'ended: said something that could not be handled']);
    expect(failures[0]?.kind).toBe('fatal');
  });

  it('gives a peer up that leaves two pings unanswered, and none that answers', async () => {
    const vendor = await startVendor();
    const { clock, told, failures } = open(vendor.url);
    await soon(() => expect(told).toEqual(['opened']));
    let pings = 0;
    vendor.peers[0]?.on('ping', () => {
      pings += 1;
    });
    for (let round = 1; round <= 6; round += 1) {
      clock.advance(1000);
      await soon(() => expect(pings).toBe(round));
      await untilQuiet();
    }
    expect(told).toEqual(['opened']);
    vendor.peers[0]?.pause();
    clock.advance(2999);
    expect(told).toEqual(['opened']);
    clock.advance(1);
    expect(told).toEqual(['opened', 'ended: has gone silent']);
    expect(failures).toMatchObject([{ kind: 'transient', lastedMs: 3000 }]);
  });

  it('gives a peer up sooner where that is asked for', async () => {
    const vendor = await startVendor();
    const { clock, told } = open(vendor.url, undefined, { pingMs: 500 });
    await soon(() => expect(told).toEqual(['opened']));
    vendor.peers[0]?.pause();
    clock.advance(1499);
    expect(told).toEqual(['opened']);
    clock.advance(1);
    expect(told).toEqual(['opened', 'ended: has gone silent']);
  });

  it('tells that a ping was answered, of which more may be asked for without consequences', async () => {
    const vendor = await startVendor();
    const { clock, told, socket, pongs } = open(vendor.url);
    await soon(() => expect(told).toEqual(['opened']));
    socket.ping();
    await soon(() => expect(pongs.count).toBe(1));
    vendor.peers[0]?.pause();
    for (let pings = 0; pings < 5; pings += 1) socket.ping();
    clock.advance(2999);
    expect(told).toEqual(['opened']);
    clock.advance(1);
    expect(told).toEqual(['opened', 'ended: has gone silent']);
  });

  it('tells binary frames apart where somebody wants to know', async () => {
    const vendor = await startVendor((ws) => {
      ws.send(Buffer.from([1, 2]));
      ws.send('[1]');
    });
    expect(await hearBinary(vendor.url)).toEqual(['opened', 'binary 1,2', 'text [1]']);
  });
});
