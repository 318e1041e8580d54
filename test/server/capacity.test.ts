import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { SharedLimits, SharedPlaces } from '../../src/calls/shared-places.js';
import { CarrierA } from '../../src/carriers/carrier-a/index.js';
import { Capacity } from '../../src/server/capacity.js';
import { openStream, send, startServer, stopServers } from './harness.js';
import { RecordingDesk } from './recording-desk.js';

afterEach(stopServers);

const VOICE = '/webhooks/carrier-a/voice';

/** An unsigned webhook of a call that rings. */
async function ring(port: number, CallSid: string): Promise<string> {
  const body = String(
    new URLSearchParams({ CallSid, From: '+15005550020', To: '+15005550010', CallStatus: 'ringing' }),
  );
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  return (await send(port, { method: 'POST', path: VOICE, headers, body })).body;
}

describe('a stream that no webhook announced', () => {
  it('is refused over maxCalls, and taken when there is room again', async () => {
    const { port, desk } = await startServer({ maxCalls: 2 });
    desk.liveCount = 2;
    await expect(openStream(port, '/ws/stream/anybody')).rejects.toThrow('429');
    desk.liveCount = 1;
    await expect(openStream(port, '/ws/stream/anybody')).resolves.toBeDefined();
  });

  it.each(['isOverBudget', 'isOverloaded'] as const)('is refused while %s', async (state) => {
    const { port, desk } = await startServer();
    desk[state] = true;
    await expect(openStream(port, '/ws/stream/anybody')).rejects.toThrow('429');
    expect(await send(port, { path: '/ready' })).toMatchObject({ status: 503 });
    expect(await ring(port, 'CA1')).toContain('<Reject reason="busy"/>');
    desk[state] = false;
    await expect(openStream(port, '/ws/stream/anybody')).resolves.toBeDefined();
    expect(await send(port, { path: '/ready' })).toMatchObject({ status: 200 });
    expect(await ring(port, 'CA2')).toContain('<Stream ');
  });

  it('of a call that is up is taken, however full it is', async () => {
    const { port, desk } = await startServer({ maxCalls: 1 });
    desk.live.add('mine');
    desk.expecting.add('mine');
    desk.liveCount = 1;
    desk.isOverBudget = true;
    await expect(openStream(port, '/ws/stream/mine')).resolves.toBeDefined();
  });
});

describe('a webhook that nobody signed', () => {
  it('holds no place for a stream that never comes', async () => {
    const { port } = await startServer({ maxCalls: 1 });
    for (let call = 0; call < 50; call += 1) expect(await ring(port, `CA${call}`)).toContain('<Stream ');
    expect(await send(port, { path: '/ready' })).toMatchObject({ status: 200 });
  });

  it('does where it is signed, and its stream is taken though all places are', () => {
    const desk = new RecordingDesk();
    const isDraining = () => false;
    const carrier = new CarrierA({ accountSid: 'AC1', authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0' });
    const capacity = new Capacity({ carrier, desk, maxCalls: 1, isDraining });
    desk.expected.add('a');
    expect(capacity.isFull('b')).toBe(true);
    expect(capacity.isFull()).toBe(true);
    expect(capacity.takesStream('a')).toBe(true);
    expect(capacity.isFull('a')).toBe(false);
    desk.isOverBudget = true;
    expect(capacity.isFull('a')).toBe(true);
    expect(capacity.takesStream('a')).toBe(true);
  });
});

describe('a drain', () => {
  it('takes the stream of a call that was told to open one', () => {
    const desk = new RecordingDesk();
    const carrier = new CarrierA({ accountSid: 'AC1', authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0' });
    const capacity = new Capacity({ carrier, desk, maxCalls: undefined, isDraining: () => false });
    desk.drain();
    expect(capacity.isFull('b')).toBe(true);
    expect(capacity.takesStream('a')).toBe(true);
  });

  it('waits for the stream of a call that was told to open one', async () => {
    const { server, desk, clock } = await startServer();
    desk.expected.add('a');
    const drained = server.drain(60_000);
    await clock.advanceAsync(1000);
    expect(await Promise.race([drained, 'waiting'])).toBe('waiting');
    desk.expected.clear();
    await clock.advanceAsync(50);
    expect(await drained).toBe(0);
  });

  it('ends when the last call has, when its time is over, or when the server is closed', async () => {
    const { server, desk, clock } = await startServer();
    desk.liveCount = 2;
    const [first, short, last] = [server.drain(60_000), server.drain(1000), server.drain(60_000)];
    await clock.advanceAsync(1000);
    expect(await short).toBe(2);
    desk.liveCount = 0;
    await clock.advanceAsync(50);
    expect(await first).toBe(0);
    expect(await last).toBe(0);
    desk.liveCount = 1;
    const cut = server.drain(60_000);
    await server.close();
    expect(await cut).toBe(1);
  });
});

/** Limits that others have a part of: says what a test tells it to, as soon as it is told to. */
class OtherProcesses implements SharedLimits {
  isFull = false;
  readonly asked: string[] = [];
  readonly open = new Set<string>();
  /** What is asked waits for it. */
  answer: Promise<boolean> = Promise.resolve(true);
  readonly calls: SharedPlaces;
  readonly streams: SharedLimits['streams'];

  constructor() {
    const full = () => this.isFull;
    this.calls = {
      get isFull() {
        return full();
      },
      take: (id) => {
        this.asked.push(id);
        return this.answer;
      },
    };
    this.streams = {
      acquire: async (address, callId) => {
        if (!(await this.answer)) return undefined;
        const stream = `${address} ${callId}`;
        this.open.add(stream);
        return () => void this.open.delete(stream);
      },
    };
  }
}

const SIGNED = new CarrierA({ accountSid: 'AC1', authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0' });

describe('places that other processes have a part of', () => {
  const capacityOf = (desk: RecordingDesk, others: OtherProcesses, carrier = SIGNED) =>
    new Capacity({ carrier, desk, maxCalls: 2, isDraining: () => false, shared: () => others.calls });

  it('are asked for by a call that rings, where this process has room', async () => {
    const [desk, others] = [new RecordingDesk(), new OtherProcesses()];
    const capacity = capacityOf(desk, others);
    expect(await capacity.takesCall('a')).toBe(true);
    others.answer = Promise.resolve(false);
    expect(await capacity.takesCall('b')).toBe(false);
    desk.liveCount = 2;
    expect(capacity.takesCall('c')).toBe(false);
    expect(others.asked).toEqual(['a', 'b']);
  });

  it('are of no use to a call for which there is no room any more once they are given', async () => {
    const [desk, others] = [new RecordingDesk(), new OtherProcesses()];
    const isTaken = capacityOf(desk, others).takesCall('a');
    desk.isDraining = true;
    expect(await isTaken).toBe(false);
  });

  it('are none for a webhook that nobody signed, and one for its stream', async () => {
    const [desk, others] = [new RecordingDesk(), new OtherProcesses()];
    const capacity = capacityOf(desk, others, new CarrierA({ accountSid: 'AC1' }));
    expect(capacity.takesCall('a')).toBe(true);
    others.isFull = true;
    expect(capacity.takesCall('b')).toBe(false);
    expect(others.asked).toEqual([]);
    expect(await capacity.takesStream('a')).toBe(true);
    expect(others.asked).toEqual(['a']);
  });

  it('are not asked for by a stream whose call has one', () => {
    const [desk, others] = [new RecordingDesk(), new OtherProcesses()];
    desk.expected.add('a');
    expect(capacityOf(desk, others).takesStream('a')).toBe(true);
    expect(others.asked).toEqual([]);
  });

  it('are asked for by nobody where this process is alone', () => {
    const desk = new RecordingDesk();
    const capacity = new Capacity({ carrier: SIGNED, desk, maxCalls: 2, isDraining: () => false });
    expect(capacity.takesCall('a')).toBe(true);
    expect(capacity.takesStream('a')).toBe(true);
  });

  it('have a caller hear that all are busy', async () => {
    const others = new OtherProcesses();
    const { port, desk } = await startServer({ maxCalls: 2, sharedLimits: () => others });
    others.isFull = true;
    expect(await ring(port, 'CA1')).toContain('<Reject reason="busy"/>');
    expect(desk.refused).toHaveLength(1);
    expect(await send(port, { path: '/ready' })).toMatchObject({ status: 503 });
    others.isFull = false;
    expect(await ring(port, 'CA2')).toContain('<Stream ');
    expect(await send(port, { path: '/ready' })).toMatchObject({ status: 200 });
  });

  it('are waited for by a stream, and given back with it', async () => {
    const others = new OtherProcesses();
    const { port, lines } = await startServer({ sharedLimits: () => others });
    const stream = await openStream(port, '/ws/stream/a');
    expect([...others.open]).toEqual(['127.0.0.1 a']);
    stream.terminate();
    await expect.poll(() => others.open.size).toBe(0);
    others.answer = Promise.resolve(false);
    await expect(openStream(port, '/ws/stream/b')).rejects.toThrow('429');
    // As where the limit is this process's own: all callers may have the address of a proxy.
    const warnings = lines.filter((line) => line.level === 'warn').map((line) => line.sentence);
    expect(warnings).toEqual([expect.stringMatching(/trustProxy.*maxStreamsPerIp/)]);
  });

  it('are left alone by a stream that is gone before the answer', async () => {
    const others = new OtherProcesses();
    let answer: (hasRoom: boolean) => void = () => {};
    others.answer = new Promise((resolve) => {
      answer = resolve;
    });
    const { port, desk } = await startServer({ sharedLimits: () => others });
    const client = connect(port, '127.0.0.1');
    const headers = ['Host: a', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    client.write(['GET /ws/stream/a HTTP/1.1', ...headers, key, '', ''].join('\r\n'));
    await expect.poll(() => others.asked).toEqual(['a']);
    client.destroy();
    // The server has heard of that by then.
    for (let times = 0; times < 3; times += 1) await send(port, { path: '/health' });
    answer(true);
    await expect.poll(() => others.open.size).toBe(0);
    expect(desk.streams).toEqual([]);
  });
});

it.each([
  ['overloaded', { isOverloaded: true }],
  ['budget', { isOverBudget: true }],
  ['full', { liveCount: 1 }],
])('/ready says that a server is %s', async (reason, state) => {
  const { port, desk } = await startServer({ maxCalls: 1 });
  Object.assign(desk, state);
  const { status, body } = await send(port, { path: '/ready' });
  expect([status, JSON.parse(body)]).toEqual([503, { status: 'unavailable', reason }]);
});

it('/ready says that a server is draining, whatever else it is', async () => {
  const { port, desk } = await startServer({ isBrokerThere: () => false });
  desk.isOverloaded = true;
  desk.drain();
  const { status, body } = await send(port, { path: '/ready' });
  expect([status, JSON.parse(body)]).toEqual([503, { status: 'draining', broker: 'away' }]);
});

it.each([true, false])('/ready of a node is ready, whether its broker is there: %s', async (isThere) => {
  const { port } = await startServer({ isBrokerThere: () => isThere });
  const { status, body } = await send(port, { path: '/ready' });
  expect([status, JSON.parse(body)]).toEqual([200, { status: 'ready', broker: isThere ? 'there' : 'away' }]);
});
