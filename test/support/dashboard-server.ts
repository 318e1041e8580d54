// A dashboard on a real Express server with a free port, fed by a bus and a memory store.
import { once } from 'node:events';
import { createServer, request, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { CallControls } from '../../src/contract/call-command.js';
import type { CallEvent } from '../../src/contract/call-event.js';
import type { LiveSound } from '../../src/contract/live-sound.js';
import type { RecordingSource } from '../../src/dashboard/call-audio.js';
import { createDashboard, type DashboardOptions } from '../../src/dashboard/index.js';
import { EventBus } from '../../src/events/bus.js';
import type { CallStore } from '../../src/stores/call-store.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { RecordedLogger } from './recorded-logger.js';

export interface DashboardServer {
  url: string;
  port: number;
  bus: EventBus;
  store: CallStore;
  logger: RecordedLogger;
  /** What was asked of the calls. */
  commands: string[];
  publish(...events: CallEvent[]): void;
  closeStreams(): void;
  announceDrain(): void;
  announceBroker(isThere: boolean): void;
  close(): Promise<void>;
}

/** Has a recording of every call. */
const recordings: RecordingSource = {
  async read() {
    return {
      size: 4,
      async *read(start, end) {
        yield Buffer.from('RIFF').subarray(start, end);
      },
      async close() {},
    };
  },
};

/** Of a cluster that has measured nothing. */
const serverMetrics = async () => '';

/** Lets everybody hear the beginning of a file, and no more. */
const liveSound: LiveSound = {
  listen(_callId, sink) {
    setImmediate(() => {
      sink.write(Buffer.from('RIFF'));
      sink.end('call-ended');
    });
    return { delayMs: 300, leave() {} };
  },
};

export interface DashboardServerOptions extends Partial<Omit<DashboardOptions, 'store' | 'bus'>> {
  store?: CallStore;
  bus?: EventBus;
  trustProxy?: boolean;
  /** The address to listen on. @default 127.0.0.1 */
  host?: string;
  port?: number;
  /** The path that a proxy in front would take away. @default none */
  prefix?: string;
}

export async function startDashboard(options: DashboardServerOptions = {}): Promise<DashboardServer> {
  const { trustProxy = false, host = '127.0.0.1', port = 0, prefix = '/', ...rest } = options;
  const logger = new RecordedLogger();
  const bus = rest.bus ?? new EventBus(logger);
  const store = rest.store ?? new MemoryStore();
  bus.subscribeDurable((event) => store.append(event));
  const commands: string[] = [];
  const controls: CallControls = {
    async hangUp(callId) {
      commands.push(`hangup ${callId}`);
      return 'done';
    },
    transfer: async (callId, to) => void commands.push(`transfer ${callId} ${to}`),
    sendDigits: async (callId, digits) => void commands.push(`sendDigits ${callId} ${digits}`),
    async say(callId, text, options) {
      commands.push(`say ${callId} ${text} ${JSON.stringify(options)}`);
      return 'heard';
    },
    inform: async (callId, text) => void commands.push(`inform ${callId} ${text}`),
    async forget(callId) {
      commands.push(`forget ${callId}`);
      const place = { callId, nodeId: 'node', term: 9, seq: 1, at: Date.now() };
      bus.publish({ type: 'call.forgotten', ...place });
      return { carrierRecording: null, carrierCallId: null };
    },
    pauseRecording: async (callId) => void commands.push(`pauseRecording ${callId}`),
    resumeRecording: async (callId) => void commands.push(`resumeRecording ${callId}`),
  };
  const dashboard = createDashboard({
    ...{ store, bus, controls, recordings, liveSound, serverMetrics, logger },
    ...rest,
  });
  const app = express().set('trust proxy', trustProxy).use(prefix, dashboard.handler);
  const server = createServer(app).listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    bus,
    store,
    logger,
    commands,
    publish: (...events) => events.forEach((event) => void bus.publish(event)),
    closeStreams: () => dashboard.close(),
    announceDrain: () => dashboard.announceDrain(),
    announceBroker: (isThere) => dashboard.announceBroker(isThere),
    async close() {
      dashboard.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Commands that all fail. */
export function failingControls(error: Error): CallControls {
  const reject = () => Promise.reject(error);
  return {
    hangUp: reject,
    transfer: reject,
    sendDigits: reject,
    say: reject,
    inform: reject,
    pauseRecording: reject,
    resumeRecording: reject,
  };
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** A request with exactly the given headers: `fetch` would not send a foreign Host or Origin. */
export function send(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = options;
    const outgoing = request(url, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
      response.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Code of an error body, or the text itself when it is none. */
export function errorCodeOf(answer: RawAnswer): string {
  const body = JSON.parse(answer.text) as { error?: { code?: string; message?: string } };
  return body.error?.code ?? answer.text;
}
