// A phone server of a few lines that steers carrier B's calls: what the simulator calls in its own tests.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { closedAfterTest } from '../../support/closed-after-test.js';
import { FakeClock } from '../../support/fake-clock.js';
import { untilQuiet } from '../../support/virtual/quiet.js';
import type { CarrierBSimulatorOptions } from '../../../src/testing/carrier-b/options.js';
import { startCarrierBSimulator, type CarrierBSimulator } from '../../../src/testing/carrier-b/simulator.js';

/** An event as the phone server reads it. */
export interface ReceivedEvent {
  path: string;
  headers: IncomingHttpHeaders;
  rawBody: string;
  /** Of the second version's envelope; undefined for the flat one. */
  id: string | undefined;
  type: string;
  payload: Record<string, unknown>;
  meta: { attempt: number; delivered_to: string } | undefined;
}

/** A message of the media stream as the phone server reads it. */
export interface WireMessage {
  event: string;
  stream_id?: string;
  sequence_number?: string;
  start?: Record<string, unknown>;
  media?: Record<string, string>;
  dtmf?: { digit: string };
  mark?: { name: string };
  payload?: { code: number };
  spokenText?: Record<string, unknown>;
}

export interface PhoneStream {
  path: string;
  headers: IncomingHttpHeaders;
  socket: WebSocket;
  messages: WireMessage[];
  send(message: object): void;
  /** Sends bytes in messages of `frameBytes`. */
  play(bytes: Uint8Array, frameBytes: number): void;
}

export interface PhoneOptions {
  /** HTTP status of the answer to a webhook; 0 gives none. @default 200 */
  statusFor?(event: ReceivedEvent): number;
  onEvent?(event: ReceivedEvent, phone: FakePhone): void;
  onStart?(stream: PhoneStream): void;
  /** HTTP status with which upgrades are refused. */
  refuseUpgrade?: number;
}

export interface CommandAnswer {
  status: number;
  headers: Headers;
  body: { data?: Record<string, unknown>; errors?: { code: string }[] };
}

export interface FakePhone {
  readonly url: string;
  readonly events: ReceivedEvent[];
  readonly streams: PhoneStream[];
  readonly simulator: CarrierBSimulator;
  eventTypes(): string[];
  find(type: string): ReceivedEvent | undefined;
  request(method: string, path: string, body?: object): Promise<CommandAnswer>;
  /** A command with a `command_id` of its own, unless one is given. */
  command(callControlId: unknown, name: string, fields?: Record<string, unknown>): Promise<CommandAnswer>;
  close(): Promise<void>;
}

export const API_KEY = 'KEY-of-a-test';
export const CONNECTION_ID = '1700000000000000001';
export const HOST = 'voice.example';

export const STREAM_FIELDS = {
  stream_url: `wss://${HOST}/ws/stream/abc?caller=%2B15005550020&token=t`,
  stream_track: 'inbound_track',
  stream_codec: 'L16',
  stream_bidirectional_mode: 'rtp',
  stream_bidirectional_codec: 'L16',
  stream_bidirectional_sampling_rate: 16_000,
  stream_bidirectional_target_legs: 'self',
};

let commandCount = 0;
export function nextCommandId(): string {
  commandCount += 1;
  return `command-${commandCount}`;
}

/** Answers an inbound call and opens its stream, as the real one does. */
export function answerCalls(event: ReceivedEvent, phone: FakePhone): void {
  const { call_control_id: id, direction } = event.payload;
  if (event.type === 'call.initiated' && direction === 'incoming') void phone.command(id, 'answer');
  if (event.type === 'call.answered') void phone.command(id, 'streaming_start', STREAM_FIELDS);
}

function readEvent(rawBody: string): Pick<ReceivedEvent, 'id' | 'type' | 'payload' | 'meta'> {
  const body = JSON.parse(rawBody);
  const source = body.data ?? body;
  return { id: body.data?.id, type: source.event_type, payload: source.payload, meta: body.meta };
}

/** A phone server and the simulator that calls it. */
async function startPhone(
  phoneOptions: PhoneOptions = {},
  options: Partial<CarrierBSimulatorOptions> = {},
): Promise<FakePhone> {
  const events: ReceivedEvent[] = [];
  const streams: PhoneStream[] = [];
  const server = createServer((request, response) => {
    let rawBody = '';
    request.on('data', (chunk) => {
      rawBody += chunk;
    });
    request.on('end', () => {
      const event = { path: request.url ?? '', headers: request.headers, rawBody, ...readEvent(rawBody) };
      events.push(event);
      const status = phoneOptions.statusFor?.(event) ?? 200;
      if (status === 0) return;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end('{}');
      if (status === 200) phoneOptions.onEvent?.(event, phone);
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    if (phoneOptions.refuseUpgrade !== undefined) {
      const { refuseUpgrade: status } = phoneOptions;
      socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      const stream: PhoneStream = {
        path: request.url ?? '',
        headers: request.headers,
        socket: client,
        messages: [],
        send: (message) => client.send(JSON.stringify(message)),
        play(bytes, frameBytes) {
          for (let at = 0; at < bytes.length; at += frameBytes) {
            const payload = Buffer.from(bytes.subarray(at, at + frameBytes)).toString('base64');
            stream.send({ event: 'media', media: { payload } });
          }
        },
      };
      streams.push(stream);
      client.on('message', (data) => {
        const message = JSON.parse(data.toString()) as WireMessage;
        stream.messages.push(message);
        if (message.event === 'start') phoneOptions.onStart?.(stream);
      });
      client.on('error', () => {});
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const simulator = await startCarrierBSimulator({
    url,
    webhookHost: HOST,
    apiKey: API_KEY,
    connectionId: CONNECTION_ID,
    ...options,
  });
  const phone: FakePhone = {
    url,
    events,
    streams,
    simulator,
    eventTypes: () => events.map(({ type }) => type),
    find: (type) => events.find((event) => event.type === type),
    async request(method, path, body) {
      const answer = await fetch(`${simulator.url}/v2${path}`, {
        method,
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return {
        status: answer.status,
        headers: answer.headers,
        body: (await answer.json()) as CommandAnswer['body'],
      };
    },
    command: (id, name, fields = {}) =>
      phone.request('POST', `/calls/${encodeURIComponent(String(id))}/actions/${name}`, {
        command_id: nextCommandId(),
        ...fields,
      }),
    async close() {
      await simulator.close();
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return phone;
}

/** The same on a clock that stands still, until the test is over. */
export async function startScene(
  phoneOptions: PhoneOptions = {},
  options: Partial<CarrierBSimulatorOptions> = {},
) {
  const clock = new FakeClock();
  const phone = closedAfterTest(await startPhone(phoneOptions, { clock, ...options }));
  return { clock, phone, simulator: phone.simulator };
}

/** Moves the clock, 20 ms at a time, and lets sockets do their work in between, until something is true. */
export async function moveUntil(clock: FakeClock, isDone: () => boolean, limitMs = 120_000): Promise<void> {
  const endMs = clock.now() + limitMs;
  while (!isDone()) {
    if (clock.now() > endMs) throw new Error('it did not happen in the time of the clock');
    await clock.advanceAsync(20);
    await untilQuiet();
  }
}

/** Moves the clock by a time. */
export async function moveBy(clock: FakeClock, durationMs: number): Promise<void> {
  const endMs = clock.now() + durationMs;
  await moveUntil(clock, () => clock.now() >= endMs);
}

/** Moves the clock until a promise settles. */
export async function moveWhile<Value>(clock: FakeClock, promise: Promise<Value>): Promise<Value> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  await moveUntil(clock, () => isSettled);
  return promise;
}
