// No door reads what it has no use for: whoever sends, signed or not, with a token or without.
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CarrierA } from '../../src/carriers/carrier-a/index.js';
import { openDashboard, socketFolder, type TestDashboard, TOKEN } from '../support/ingest-dashboard.js';
import { AUTH_TOKEN, startServer, stopServers } from './harness.js';

/** More than fits into the buffers of both ends of a connection. */
const FLOOD_BYTES = 64 * 1024 * 1024;
const BEARER = `Authorization: Bearer ${TOKEN}`;
const JSON_TYPE = 'Content-Type: application/json';

let dashboard: TestDashboard;
let ports: { phone: number; secured: number; page: number };
const { folder, remove } = socketFolder();

beforeAll(async () => {
  dashboard = await openDashboard({ folder });
  const secured = new CarrierA({ accountSid: 'AC1', authToken: AUTH_TOKEN });
  ports = {
    phone: (await startServer()).port,
    secured: (await startServer({ carrier: secured })).port,
    page: dashboard.port,
  };
});

afterAll(async () => {
  await stopServers();
  await dashboard.close();
  remove();
});

/** Chunks without end, until the door is shut: what was answered, and how much it took. */
async function flood(client: Socket, head: string): Promise<{ status: number; bytes: number }> {
  let answer = '';
  client.on('error', () => {});
  client.on('data', (data) => (answer += data.toString()));
  const isOver = new Promise((resolve) => client.once('close', resolve));
  client.write(head);
  const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`;
  while (!client.destroyed && client.bytesWritten < FLOOD_BYTES) {
    if (!client.write(chunk))
      await Promise.race([new Promise((resolve) => client.once('drain', resolve)), isOver]);
  }
  client.destroySoon();
  await isOver;
  return { status: Number(answer.slice(9, 12)), bytes: client.bytesWritten - client.writableLength };
}

describe.concurrent('a body without end', () => {
  it.each<[keyof typeof ports | 'socket', string, number, string[]?]>([
    ['phone', 'POST /webhooks/carrier-a/voice', 413],
    ['phone', 'POST /webhooks/carrier-a/status', 413],
    ['secured', 'POST /webhooks/carrier-a/voice', 413],
    ['phone', 'POST /webhooks/carrier-b/voice', 413],
    ['phone', 'GET /webhooks/carrier-a/voice', 400],
    ['phone', 'GET /health', 200],
    ['phone', 'GET /ready', 200],
    ['phone', 'PUT /nowhere', 404],
    ['page', 'POST /api/dashboard/ingest', 413, [BEARER, JSON_TYPE]],
    ['page', 'POST /api/dashboard/ingest', 415, [BEARER]],
    ['page', 'POST /api/dashboard/ingest', 401, [JSON_TYPE]],
    ['page', 'POST /api/dashboard/calls/x/hangup', 413, [BEARER, JSON_TYPE]],
    ['page', 'POST /api/dashboard/calls/x/transfer', 413, [BEARER, JSON_TYPE]],
    ['page', 'POST /api/dashboard/calls/x/hangup', 401, [JSON_TYPE]],
    ['page', 'GET /api/dashboard/calls', 200, [BEARER]],
    ['page', 'GET /metrics', 401],
    ['page', 'GET /health', 200],
    ['page', 'DELETE /', 405],
    ['socket', 'POST /api/dashboard/ingest', 413, [JSON_TYPE]],
    ['socket', 'GET /health', 200],
    ['socket', 'POST /nowhere', 404],
  ])('to %s, %s, is answered %i and not read', async (door, request, status, headers = []) => {
    const client = door === 'socket' ? connect(dashboard.socket.path) : connect(ports[door], '127.0.0.1');
    const head = [`${request} HTTP/1.1`, 'Host: localhost', 'Transfer-Encoding: chunked', ...headers, '', ''];
    const answer = await flood(client, head.join('\r\n'));
    expect(answer.status).toBe(status);
    expect(answer.bytes).toBeLessThan(FLOOD_BYTES / 2);
  });
});
