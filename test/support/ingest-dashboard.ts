// A standalone dashboard on free ports of loopback, with a socket folder of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/base/clock.js';
import { dashboardSocket, type SocketPlace } from '../../src/base/dashboard-socket.js';
import { openStandaloneDashboard, type StandaloneDashboard } from '../../src/client/standalone-dashboard.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { IngestAnswer, IngestBatch } from '../../src/contract/ingest.js';
import type { BrokerPlace } from '../../src/options/cluster.js';
import type { CallStore } from '../../src/stores/call-store.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { freePort } from './free-port.js';
import { RecordedLogger } from './recorded-logger.js';

export const TOKEN = 'the-token-of-the-dashboard';

export interface TestDashboard extends StandaloneDashboard {
  readonly url: string;
  readonly socket: SocketPlace;
  readonly logger: RecordedLogger;
  /** Over the socket, with whatever body. */
  send(body: unknown): Promise<SocketAnswer>;
  ingest(batch: Partial<IngestBatch>): Promise<IngestAnswer>;
  get<T>(path: string): Promise<T>;
  /** Records by id. */
  records(): Promise<Map<string, CallRecord>>;
}

export interface SocketAnswer {
  status: number;
  headers: Record<string, unknown>;
  body: unknown;
}

export function socketFolder(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-socket-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export async function openDashboard(options: {
  folder: string;
  store?: CallStore;
  token?: string | undefined;
  clock?: Clock;
  port?: number;
  cluster?: BrokerPlace;
}): Promise<TestDashboard> {
  const logger = new RecordedLogger();
  const socket = dashboardSocket(options.folder);
  const opened = await openStandaloneDashboard({
    port: options.port ?? (await freePort()),
    host: '127.0.0.1',
    token: 'token' in options ? options.token : TOKEN,
    socket,
    cluster: options.cluster,
    store: options.store ?? new MemoryStore(),
    logger,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  });
  const url = `http://127.0.0.1:${opened.port}`;
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const get = async <T>(path: string) => (await (await fetch(url + path, { headers })).json()) as T;
  const send = (body: unknown) => post(socket.path, typeof body === 'string' ? body : JSON.stringify(body));
  return {
    ...opened,
    url,
    socket,
    logger,
    send,
    get,
    async ingest(batch) {
      const answer = await send({ nodeId: 'sender', calls: [], events: [], ...batch });
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      return answer.body as IngestAnswer;
    },
    async records() {
      const { calls } = await get<{ calls: CallRecord[] }>('/api/dashboard/export/calls');
      return new Map(calls.map((call) => [call.callId, call]));
    },
  };
}

/** A request to the socket. */
export function post(
  socketPath: string,
  body: string | Buffer,
  options: { path?: string; method?: string; headers?: Record<string, string> } = {},
): Promise<SocketAnswer> {
  const { path = '/api/dashboard/ingest', method = 'POST', headers = {} } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { socketPath, agent: false, path, method, headers: { 'Content-Type': 'application/json', ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: text === '' ? undefined : JSON.parse(text),
          }),
        );
        response.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    // A dashboard may answer and close before a long body counts as written: that is nobody's error then.
    outgoing.on('socket', (socket) => socket.on('error', () => {}));
    outgoing.end(body);
  });
}
