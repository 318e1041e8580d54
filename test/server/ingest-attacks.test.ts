import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stamp, started } from '../support/call-facts.js';
import { openDashboard, socketFolder, type TestDashboard, TOKEN } from '../support/ingest-dashboard.js';

const PATH = '/api/dashboard/ingest';
const LIVE = { nodeId: 'node-1', calls: [], events: stamp([started()]) };

let room: ReturnType<typeof socketFolder>;
let dashboard: TestDashboard;
const sockets: Socket[] = [];

beforeEach(async () => {
  room = socketFolder();
  dashboard = await openDashboard({ folder: room.folder });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await dashboard.close();
  room.remove();
});

/** Connections to the two doors, one after the other. */
const DOORS = [
  ['the socket of the user', () => connect(dashboard.socket.path)],
  ['the port', () => connect(dashboard.port, '127.0.0.1')],
] as const;

async function open(door: () => Socket): Promise<{ socket: Socket; heard: () => string }> {
  const socket = door().on('error', () => {});
  sockets.push(socket);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(socket, 'connect');
  return { socket, heard: () => text };
}

function request(body: string, headers: Record<string, string | number> = {}): string {
  const all = {
    Host: 'localhost',
    Authorization: `Bearer ${TOKEN}`,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${PATH} HTTP/1.1`, ...lines, '', body].join('\r\n');
}

const statuses = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
const until = (isSo: () => boolean) => expect.poll(isSo).toBe(true);

describe.each(DOORS)('%s', (_name, door) => {
  it('has room again when senders are gone in the middle of a batch', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { socket } = await open(door);
      socket.write(request('{"nodeId":', { 'Content-Length': 5000 }));
    }
    const { socket, heard } = await open(door);
    await expect
      .poll(async () => {
        socket.write(request(JSON.stringify({ nodeId: 'x', calls: [], events: [] })));
        await once(socket, 'data');
        return statuses(heard()).at(-1);
      })
      .toBe(429);
    for (const gone of sockets.slice(0, 20)) gone.destroy();
    await expect
      .poll(async () => {
        socket.write(request(JSON.stringify(LIVE)));
        await once(socket, 'data');
        return statuses(heard()).at(-1);
      })
      .toBe(200);
    expect([...(await dashboard.records()).keys()]).toEqual(['call-1']);
  });

  it('answers batches that come in one piece, in their order, each once', async () => {
    const { socket, heard } = await open(door);
    const batch = request(JSON.stringify(LIVE));
    socket.write(batch + batch + request('[]') + batch);
    await until(() => statuses(heard()).length === 4);
    expect(statuses(heard())).toEqual([200, 200, 400, 200]);
    expect([...heard().matchAll(/"accepted":(\d)/g)].map(([, count]) => count)).toEqual(['1', '0', '0']);
  });

  it.each([
    ['a length beside chunks', { 'Transfer-Encoding': 'chunked' }],
    ['chunks of another kind', { 'Transfer-Encoding': 'xchunked', 'Content-Length': '' }],
    ['a length that is none', { 'Content-Length': '+5' }],
  ])('takes nothing behind %s', async (_what, headers) => {
    const { socket, heard } = await open(door);
    const hidden = request(JSON.stringify(LIVE));
    socket.write(request(`0\r\n\r\n${hidden}`, headers));
    await once(socket, 'close');
    expect(statuses(heard())).toEqual([400]);
    expect((await dashboard.records()).size).toBe(0);
  });

  it('changes no object of ours by names that objects have', async () => {
    const { socket, heard } = await open(door);
    const [fact] = LIVE.events;
    const forged = [
      { ...fact, callId: '__proto__', nodeId: 'constructor' },
      { ...fact, type: '__proto__' },
      { ...fact, type: 'constructor' },
    ].map((each) =>
      JSON.stringify(each).replace(
        '{',
        '{"__proto__":{"isOver":true},"constructor":{"prototype":{"isOver":true}},',
      ),
    );
    socket.write(
      request(`{"__proto__":{"isOver":true},"nodeId":"toString","calls":[],"events":[${forged.join()}]}`),
    );
    await until(() => statuses(heard()).length === 1);
    expect(heard()).toContain('"accepted":1');
    expect(heard().match(/unknown-type/g)).toHaveLength(2);
    expect(({} as Record<string, unknown>).isOver).toBeUndefined();
    expect([...(await dashboard.records()).keys()]).toEqual(['__proto__']);
  });
});
