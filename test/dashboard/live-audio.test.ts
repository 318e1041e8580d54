import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RequestError } from '../../src/base/errors.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { LiveSound, SoundSink } from '../../src/contract/live-sound.js';
import { type AudioReader, LiveAudio } from '../../src/dashboard/live-audio.js';
import { OPENAPI } from '../../src/dashboard/openapi.js';
import { reduceCall } from '../../src/events/reduce.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { ended, stamp, started } from '../support/call-facts.js';
import { type DashboardServer, errorCodeOf, send, startDashboard } from '../support/dashboard-server.js';
import { FakeClock } from '../support/fake-clock.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { soon } from '../support/soon.js';

/** Calls whose sound a test makes. */
class FakeSound implements LiveSound {
  readonly sinks: SoundSink[] = [];
  left = 0;
  listen(callId: string, sink: SoundSink) {
    if (callId === 'silent') throw new RequestError('REQUEST_CONFLICT', 'The call has no sound.');
    if (callId === 'elsewhere') return undefined;
    this.sinks.push(sink);
    let isThere = true;
    const leave = () => {
      if (isThere) this.left += 1;
      isThere = false;
    };
    return { delayMs: 300, leave };
  }
  write(bytes: Uint8Array): void {
    for (const sink of this.sinks) sink.write(bytes);
  }
}

class Reader implements AudioReader {
  writableLength = 0;
  destroyed = false;
  isStuck = false;
  text = '';
  isEnded = false;
  write(bytes: Uint8Array): void {
    this.text += Buffer.from(bytes).toString();
    if (this.isStuck) this.writableLength += bytes.length;
  }
  end(): void {
    this.isEnded = true;
  }
  destroy(): void {
    this.destroyed = true;
  }
}

const record = (callId: string) =>
  stamp([started()], { callId }).reduce<CallRecord | undefined>(reduceCall, undefined) as CallRecord;

let sound: FakeSound;
beforeEach(() => {
  sound = new FakeSound();
});

describe('listeners', () => {
  let live: LiveAudio;
  let logger: RecordedLogger;
  const clock = new FakeClock();
  const open = async (callId = 'call') => {
    const reader = new Reader();
    return { reader, ...(await live.open(record(callId), reader)) };
  };
  beforeEach(() => {
    logger = new RecordedLogger();
    live = new LiveAudio({
      sound,
      store: new MemoryStore(),
      clock,
      logger,
      maxListeners: 4,
      maxListenersPerCall: 2,
      maxBacklogBytes: 100,
    });
  });

  it('get what is given, and leave', async () => {
    const [one, other] = [await open(), await open()];
    sound.write(Buffer.from('abc'));
    one.leave();
    one.leave();
    sound.write(Buffer.from('def'));
    expect([one.reader.text, other.reader.text]).toEqual(['abc', 'abcdef']);
    expect(sound.left).toBe(1);
  });

  it('are few, on each call and in all, and make room as they leave', async () => {
    const [first] = [await open(), await open()];
    await expect(open()).rejects.toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }));
    for (const callId of ['second', 'third']) await open(callId);
    await expect(open('fourth')).rejects.toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }));
    first?.leave();
    await open('fourth');
    expect(sound.sinks).toHaveLength(5);
  });

  it('take no room that were refused', async () => {
    for (let index = 0; index < 10; index += 1) {
      await expect(open('silent')).rejects.toThrow('no sound');
      await expect(open('elsewhere')).rejects.toThrow('Another process has this call');
    }
    await open();
    expect(logger.lines).toHaveLength(1);
  });

  it('are cut off when they do not keep up, and nobody else is', async () => {
    const [slow, quick] = [await open(), await open()];
    slow.reader.isStuck = true;
    for (let index = 0; index < 100; index += 1) sound.write(Buffer.alloc(10));
    expect(slow.reader.destroyed).toBe(true);
    expect(slow.reader.writableLength).toBe(110);
    expect(quick.reader.text).toHaveLength(1000);
    expect(logger.lines.at(-1)?.fields).toMatchObject({ reason: 'too-slow' });
  });

  it('are let go that are gone and have not said so', async () => {
    const { reader } = await open();
    reader.destroyed = true;
    sound.write(Buffer.from('abc'));
    expect(reader.text).toBe('');
    expect(sound.left).toBe(1);
  });

  it('hear the call to its end, and are cut off at the end of the server', async () => {
    const [over, stopped, stuck] = [await open(), await open('other'), await open('third')];
    over.reader.writableLength = 50;
    stuck.reader.writableLength = 50;
    sound.sinks[0]?.end('call-ended');
    live.close();
    live.close();
    expect([over.reader.isEnded, over.reader.destroyed]).toEqual([true, false]);
    expect([stopped.reader.isEnded, stopped.reader.destroyed]).toEqual([true, false]);
    expect(stuck.reader.destroyed).toBe(true);
    clock.advance(9999);
    expect(over.reader.destroyed).toBe(false);
    clock.advance(1);
    expect([over.reader.destroyed, stopped.reader.destroyed]).toEqual([true, false]);
    await expect(open()).rejects.toThrow('shutting down');
    expect(sound.left).toBe(3);
  });

  it('are in the log, each with its beginning and its end, and no number in full', async () => {
    const { leave } = await open();
    clock.advance(1500);
    leave();
    expect(logger.lines.map(({ level, sentence, fields }) => [level, sentence, fields])).toEqual([
      ['info', 'somebody listens in to a call', { callId: 'call', caller: '…0111', callee: '…0100' }],
      [
        'info',
        'somebody has stopped listening in to a call',
        { callId: 'call', durationMs: 1500, reason: 'left' },
      ],
    ]);
  });
});

describe('GET /api/dashboard/calls/{callId}/listen', () => {
  let server: DashboardServer;
  const opened: IncomingMessage[] = [];
  const call = (callId: string) => stamp([started({ carrierCallId: `CA-${callId}` })], { callId });
  const pathOf = (callId: string) => `/api/dashboard/calls/${callId}/listen`;

  async function start(options: Parameters<typeof startDashboard>[0] = {}): Promise<void> {
    await server?.close();
    server = await startDashboard({ liveSound: sound, ...options });
    server.publish(...call('up'), ...call('silent'), ...call('elsewhere'));
    server.publish(...stamp([started(), ended()], { callId: 'over' }));
    await server.bus.settled();
  }
  beforeEach(() => start());
  afterEach(async () => {
    for (const response of opened.splice(0)) response.destroy();
    await server.close();
  });

  async function open(callId: string, headers = {}): Promise<IncomingMessage> {
    const outgoing = request(server.url + pathOf(callId), { headers });
    outgoing.end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    response.on('error', () => {});
    opened.push(response);
    return response;
  }

  it.each(['up', 'CA-up'])('streams the sound of a call as it comes: %s', async (callId) => {
    const response = await open(callId);
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': 'audio/wav',
      'cache-control': 'no-store, no-transform',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'x-offhook-delay-ms': '300',
      'x-accel-buffering': 'no',
      connection: 'close',
    });
    expect(response.headers).not.toHaveProperty('content-length');
    for (const piece of ['RIFF', 'more']) {
      sound.write(Buffer.from(piece));
      const [chunk] = (await once(response, 'data')) as [Buffer];
      expect(chunk.toString()).toBe(piece);
    }
    sound.sinks[0]?.end('call-ended');
    await once(response, 'end');
  });

  it('lets go who closes the connection', async () => {
    const response = await open('up');
    response.destroy();
    await soon(() => expect(sound.left).toBe(1));
  });

  it('ends every stream as the dashboard closes', async () => {
    const response = await open('up');
    response.resume();
    server.closeStreams();
    await once(response, 'end');
    expect(sound.left).toBe(1);
  });

  it.each([
    ['none', 404, 'NOT_FOUND'],
    ['over', 409, 'REQUEST_CONFLICT'],
    ['silent', 409, 'REQUEST_CONFLICT'],
    ['elsewhere', 409, 'REQUEST_CONFLICT'],
  ])('%s: is refused with %d %s', async (callId, status, code) => {
    const answer = await send(server.url + pathOf(callId));
    expect(answer.status).toBe(status);
    expect(errorCodeOf(answer)).toBe(code);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(sound.sinks).toEqual([]);
  });

  it('is refused with 429 to more than three on a call', async () => {
    for (let index = 0; index < 3; index += 1) await open('up');
    const answer = await send(server.url + pathOf('up'));
    expect(answer.status).toBe(429);
    expect(errorCodeOf(answer)).toBe('LIMIT_EXCEEDED');
  });

  it('is refused where it is not offered, in words that name the option', async () => {
    await start({ liveSound: null });
    const answer = await send(server.url + pathOf('up'));
    expect(answer.status).toBe(409);
    expect(answer.text).toContain('listenIn');
  });

  it('is behind the token, in every way that reads are', async () => {
    const token = 'a-token-of-sixteen';
    await start({ token });
    expect((await send(server.url + pathOf('up'))).status).toBe(401);
    const wrong = { authorization: 'Bearer a-token-that-is-wrong' };
    expect((await send(server.url + pathOf('up'), { headers: wrong })).status).toBe(401);
    expect(sound.sinks).toEqual([]);
    expect((await open('up', { authorization: `Bearer ${token}` })).statusCode).toBe(200);
  });

  it('is described without a body to HEAD, and nobody listens', async () => {
    const answer = await send(server.url + pathOf('up'), { method: 'HEAD' });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ 'content-type': 'audio/wav', 'x-offhook-delay-ms': '300' });
    expect(answer.text).toBe('');
    expect(sound.left).toBe(sound.sinks.length);
    // Nobody has taken a place.
    for (let index = 0; index < 3; index += 1) expect((await open('up')).statusCode).toBe(200);
  });

  it.each(['none', 'over', 'silent', 'elsewhere', 'up'])('answers HEAD as GET would: %s', async (callId) => {
    for (let index = 0; index < 3; index += 1) await open('up');
    const { status } = await send(server.url + pathOf(callId));
    expect(status).not.toBe(200);
    const head = await send(server.url + pathOf(callId), { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([status, '']);
  });

  it('takes no other method, and no foreign host without a token', async () => {
    expect((await send(server.url + pathOf('up'), { method: 'POST' })).status).toBe(405);
    const headers = { host: 'rebound.example' };
    expect((await send(server.url + pathOf('up'), { headers })).status).toBe(403);
    expect(sound.sinks).toEqual([]);
  });

  it('is in the OpenAPI document', () => {
    const paths = OPENAPI.paths as unknown as Record<string, { get?: { responses: object } }>;
    const { responses = {} } = paths['/api/dashboard/calls/{callId}/listen']?.get ?? {};
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '401', '404', '409', '429']));
  });
});
