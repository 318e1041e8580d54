import { afterEach, describe, expect, it } from 'vitest';
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
