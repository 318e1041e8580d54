// A phone server on a free loopback port, and the clients that knock at it.
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { type Logger, silentLogger } from '../../src/base/log.js';
import { silentMeters } from '../../src/base/meters.js';
import { CarrierA } from '../../src/carriers/carrier-a/index.js';
import { createOtherDoors } from '../../src/carriers/index.js';
import { createPhoneServer, type PhoneServer, type PhoneServerOptions } from '../../src/server/server.js';
import { FakeClock } from '../support/fake-clock.js';
import { RecordingDesk } from './recording-desk.js';

export const AUTH_TOKEN = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';
export const HOST = 'voice.example';

export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  fields: Record<string, unknown>;
  sentence: string;
}

/** A logger that keeps its lines. */
export function createLineLogger(lines: LogLine[]): Logger {
  const write = (level: LogLine['level']) => (fields: Record<string, unknown>, sentence: string) =>
    void lines.push({ level, fields, sentence });
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

export interface Harness {
  port: number;
  server: PhoneServer;
  desk: RecordingDesk;
  clock: FakeClock;
  lines: LogLine[];
}

const running = new Set<PhoneServer>();

/** Carrier A without a secret, no dashboard, ten streams per address: unless told otherwise. It does not listen yet. */
export function createServer(options: Partial<PhoneServerOptions> = {}): PhoneServer {
  const server = createPhoneServer({
    carrier: new CarrierA({ accountSid: 'AC1' }),
    otherDoors: createOtherDoors('carrier-a'),
    desk: new RecordingDesk(),
    publicHost: () => HOST,
    trustProxy: false,
    maxStreamsPerIp: 10,
    maxCalls: undefined,
    drainSeconds: 10,
    logger: silentLogger,
    meters: silentMeters,
    clock: new FakeClock(),
    ...options,
  });
  running.add(server);
  return server;
}

/** The same, listening, with what it works with. */
export async function startServer(options: Partial<PhoneServerOptions> = {}): Promise<Harness> {
  const desk = new RecordingDesk();
  const clock = new FakeClock();
  const lines: LogLine[] = [];
  desk.now = () => clock.wallNow();
  desk.tokenKey = options.carrier?.streamTokenKey;
  const server = createServer({ desk, clock, logger: createLineLogger(lines), ...options });
  const port = await server.listen(0, '127.0.0.1');
  return { port, server, desk, clock, lines };
}

const clients = new Set<WebSocket>();

/** For `afterEach`: cuts every client, so that the servers have nothing to wait for. */
export async function stopServers(): Promise<void> {
  for (const client of clients) client.terminate();
  clients.clear();
  await Promise.all([...running].map((server) => server.close()));
  running.clear();
}

/** Opens a stream; rejects when it is refused. */
export async function openStream(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  options: { autoPong?: boolean } = {},
): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers, ...options });
  clients.add(socket);
  await once(socket, 'open');
  socket.on('error', () => {});
  return socket;
}

/** The code and reason with which a stream is closed. */
export async function closeOf(socket: WebSocket): Promise<{ code: number; reason: string }> {
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
  return { code, reason: reason.toString() };
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Writes bytes to the port and reads until the other side closes. */
export async function exchange(port: number, text: string): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text, 'latin1');
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
  });
  await once(socket, 'close');
  const [head = '', body = ''] = received.split('\r\n\r\n', 2);
  const [first = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  return { status: Number(first.split(' ')[1]), headers, body };
}

/** Asks for an upgrade with exactly this target, which a well-behaved client would not send. */
export function upgrade(
  port: number,
  target: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<RawAnswer> {
  const all = {
    Host: HOST,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return exchange(port, `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

/** A plain HTTP request, with any Host header. */
export function send(
  port: number,
  request: { method?: string; path: string; headers?: Record<string, string>; body?: string | Uint8Array },
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', path, headers = {}, body } = request;
    const outgoing = httpRequest(
      { host: '127.0.0.1', port, method, path, headers, agent: false },
      async (response) => {
        let text = '';
        for await (const chunk of response) text += String(chunk);
        const flat = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
        resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(flat), body: text });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
