// Whatever a peer sends, and however it is cut on its way: with the reader in front of it, the library and the reader together tell what the library
// tells alone.
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type Duplex, PassThrough, type Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as ws from 'ws';
import { takeTextFrames, toMaskedFrame } from '../../src/base/text-frames.js';
import { runs } from '../support/depth.js';

interface Frame {
  readonly first: number;
  readonly payload: Buffer;
  readonly mask: Buffer | undefined;
}

function encode({ first, payload, mask }: Frame): Buffer {
  const { length } = payload;
  const flag = mask === undefined ? 0 : 0x80;
  const head = Buffer.alloc(length < 126 ? 2 : length <= 0xffff ? 4 : 10);
  head[0] = first;
  head[1] = flag | (length < 126 ? length : length <= 0xffff ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  if (mask === undefined) return Buffer.concat([head, payload]);
  const masked = Buffer.from(payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0)));
  return Buffer.concat([head, mask, masked]);
}

/** The library's types leave it out. */
const { Receiver } = ws as unknown as {
  readonly Receiver: new (options: { isServer: boolean; maxPayload: number }) => Writable;
};

/** What a library tells of a connection, in order. */
function library(isServer: boolean) {
  const told: string[] = [];
  const receiver = new Receiver({ isServer, maxPayload: 100_000 });
  receiver.on('message', (data: Buffer, isBinary: boolean) =>
    told.push(isBinary ? `binary ${data.toString('hex')}` : `text ${data.toString('utf8')}`),
  );
  for (const name of ['ping', 'pong'] as const)
    receiver.on(name, (data: Buffer) => told.push(`${name} ${data.toString('hex')}`));
  receiver.on('conclude', (code: number) => told.push(`closed ${code}`));
  receiver.on('error', (error: Error & { code?: string }) => told.push(`error ${error.code}`));
  return { told, write: (bytes: Buffer) => void receiver.write(bytes) };
}

/** Lets the library's streams run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

const payloads = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }).map((text) => Buffer.from(text)),
  fc.constantFrom(130, 4000, 5000, 70_000).map((length) => Buffer.alloc(length, 'audio')),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
  fc.constant(Buffer.from('{"replacement":"\ufffd"}')),
);

/** Mostly what peers send. */
const firsts = fc.oneof(
  { weight: 8, arbitrary: fc.constant(0x81) },
  { weight: 3, arbitrary: fc.constantFrom(0x82, 0x01, 0x00, 0x80, 0x89, 0x8a) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 255 }) },
);

describe('text messages that are taken past the library', () => {
  it.each([true, false])(
    'are what the library tells, in its order (masked: %s)',
    async (isMasked) => {
      const frames = fc.record({
        first: firsts,
        payload: payloads,
        mask: fc
          .uint8Array({ minLength: 4, maxLength: 4 })
          .map((bytes) => (isMasked ? Buffer.from(bytes) : undefined)),
      });
      const cuts = fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(
          fc.array(frames, { maxLength: 8 }),
          cuts,
          fc.boolean(),
          async (sent, sizes, isWhole) => {
            const bytes = Buffer.concat(sent.map(encode));
            const [alone, behind] = [library(isMasked), library(isMasked)];
            const network = new PassThrough();
            network.on('data', behind.write);
            takeTextFrames(network, { isMasked, take: (text) => behind.told.push(`text ${text}`) });
            for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
              const size = isWhole ? bytes.length : (sizes[turn % sizes.length] ?? 1);
              const piece = bytes.subarray(at, at + size);
              alone.write(Buffer.from(piece));
              network.emit('data', Buffer.from(piece));
              await settled();
              at += size;
            }
            await settled();
            expect(behind.told).toEqual(alone.told);
          },
        ),
        { numRuns: runs(300, 10_000) },
      );
    },
    120_000,
  );

  it.each([true, false])(
    'are taken one and all, however they are cut (masked: %s)',
    async (isMasked) => {
      const mask = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => Buffer.from(bytes));
      const text = fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 200 }).filter((each) => !each.includes('\ufffd')),
        fc.constant('a'.repeat(60_000)),
      );
      const sizes = fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 40 });
      await fc.assert(
        fc.property(fc.array(fc.tuple(text, mask), { maxLength: 8 }), sizes, (sent, cuts) => {
          const frames = sent.map(([each, own]) =>
            encode({ first: 0x81, payload: Buffer.from(each), mask: isMasked ? own : undefined }),
          );
          const bytes = Buffer.concat(frames);
          const network = new PassThrough();
          const taken: string[] = [];
          network.on('data', () => expect.unreachable());
          takeTextFrames(network, { isMasked, take: (each) => taken.push(each) });
          for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
            const size = cuts[turn % cuts.length] ?? 1;
            network.emit('data', Buffer.from(bytes.subarray(at, at + size)));
            at += size;
          }
          expect(taken).toEqual(sent.map(([each]) => each));
        }),
        { numRuns: runs(200, 5000) },
      );
    },
    120_000,
  );

  it('are read while the library still gets its pings', () => {
    const network = new PassThrough();
    const passed: string[] = [];
    const taken: string[] = [];
    network.on('data', (chunk: Buffer) => passed.push(chunk.toString('hex')));
    takeTextFrames(network, { isMasked: false, take: (text) => taken.push(text) });
    network.emit('data', Buffer.from('810568656c6c6f8900', 'hex'));
    expect([taken, passed]).toEqual([['hello'], ['8900']]);
  });

  it('are all left to the library where somebody else reads the socket, too', () => {
    const network = new PassThrough();
    const passed: string[] = [];
    const taken: string[] = [];
    for (const name of ['library', 'other'])
      network.on('data', (chunk: Buffer) => passed.push(`${name} ${chunk.toString('hex')}`));
    takeTextFrames(network, { isMasked: false, take: (text) => taken.push(text) });
    network.emit('data', Buffer.from('810568656c6c6f', 'hex'));
    expect([taken, passed]).toEqual([[], ['library 810568656c6c6f', 'other 810568656c6c6f']]);
  });

  it('take what their bytes take, one by one as well', () => {
    const network = new PassThrough();
    const taken: string[] = [];
    network.on('data', () => expect.unreachable());
    takeTextFrames(network, { isMasked: false, take: (text) => taken.push(text) });
    const text = 'a'.repeat(60_000);
    for (const byte of encode({ first: 0x81, payload: Buffer.from(text), mask: undefined }))
      network.emit('data', Buffer.from([byte]));
    expect(taken).toEqual([text]);
  });
});

describe('a connection whose text messages are taken past the library', () => {
  it.each([
    ['breaks the protocol', 0x83],
    ['closes', 0x88],
  ])('ends at once where the peer %s, says more, and goes', async (_, first) => {
    const server = new ws.WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const taken: string[] = [];
    const ending = new Promise<void>((resolve) => {
      server.on('connection', (socket, { socket: network }: { socket: Duplex }) => {
        takeTextFrames(network, { isMasked: true, take: (text) => taken.push(text) });
        socket.on('error', () => {});
        socket.on('close', () => resolve());
      });
    });
    const peer = await shakeHands(port);
    const mask = Buffer.alloc(4);
    const text = encode({ first: 0x81, payload: Buffer.from('audio'), mask });
    peer.write(Buffer.concat([text, encode({ first, payload: Buffer.alloc(0), mask })]));
    await once(peer, 'data');
    for (let more = 0; more < 5; more += 1) {
      peer.write(text);
      await settled();
    }
    peer.end();
    await ending;
    expect(taken).toEqual(['audio']);
    peer.destroy();
    server.close();
  });
});

/** A client without a library, once it is let in. */
async function shakeHands(port: number): Promise<Socket> {
  const peer = connect(port, '127.0.0.1');
  const head = ['GET / HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket'];
  const keys = ['Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`];
  peer.write(`${[...head, ...keys].join('\r\n')}\r\n\r\n`);
  await once(peer, 'data');
  return peer;
}

describe('a masked frame', () => {
  it.each(['', 'short', '{"audio":"…"}', 'x'.repeat(125), 'x'.repeat(126), 'é'.repeat(32_000)])(
    'is the text that a server reads (%#)',
    async (text) => {
      const { told, write } = library(true);
      write(toMaskedFrame(text) ?? expect.unreachable());
      await settled();
      expect(told).toEqual([`text ${text}`]);
    },
  );

  it('has another mask each time', () => {
    const masks = Array.from({ length: 5000 }, () => toMaskedFrame('a')?.subarray(2, 6).toString('hex'));
    expect(new Set(masks).size).toBeGreaterThan(4990);
  });

  it('is none for a text that needs another head', () => {
    expect(toMaskedFrame('x'.repeat(0xffff))).toHaveLength(0xffff + 8);
    expect(toMaskedFrame('x'.repeat(0x10000))).toBeUndefined();
  });
});
