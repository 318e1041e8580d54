// The way to a dashboard: one request at a time over a socket of the user, or over the network.
import {
  Agent as HttpAgent,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.js';
import type { IngestAnswer } from '../../contract/ingest.js';

const INGEST_PATH = 'api/dashboard/ingest';
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Why a batch did not arrive. `absent`: nobody is there, which is no trouble where nobody need be. */
export class LinkError extends Error {
  readonly kind: 'absent' | 'unreachable' | 'refused';
  /** HTTP status of the answer, where there was one. */
  readonly status: number | null;

  constructor(kind: LinkError['kind'], options: { status?: number; cause?: unknown } = {}) {
    super(kind, { cause: options.cause });
    this.kind = kind;
    this.status = options.status ?? null;
  }
}

/** Sends batches to one dashboard. */
export interface DashboardLink {
  /** True when the operator named the dashboard: that it is not there is then worth a word. */
  readonly isNamed: boolean;
  /** Where it is, for the log: an address without secrets, or a path. */
  readonly address: string;
  /** @throws LinkError */
  send(body: string): Promise<IngestAnswer>;
  /** Cuts what is under way. Idempotent. */
  close(): void;
}

/** A dashboard that the operator named. */
export function linkToUrl(url: URL, token: string, clock: Clock): DashboardLink {
  const base = url.pathname.endsWith('/') ? url : new URL(`${url.pathname}/`, url);
  const isSecure = url.protocol === 'https:';
  const agent = isSecure ? new HttpsAgent(AGENT) : new HttpAgent(AGENT);
  const headers = { Authorization: `Bearer ${token}` };
  const target = new URL(INGEST_PATH, base);
  return {
    isNamed: true,
    // User, password and query may be secrets.
    address: `${base.origin}${base.pathname}`,
    send: (body) =>
      exchange({ body, headers, clock }, (options, listen) =>
        (isSecure ? requestHttps : requestHttp)(target, { ...options, agent }, listen),
      ),
    close: () => agent.destroy(),
  };
}

/** The dashboard of the same user, if one runs. `find` says whether the socket can be trusted. */
export function linkToSocket(path: string, find: () => Promise<boolean>, clock: Clock): DashboardLink {
  const agent = new HttpAgent(AGENT);
  return {
    isNamed: false,
    address: path,
    async send(body) {
      if (!(await find())) throw new LinkError('absent');
      return exchange({ body, headers: {}, clock }, (options, listen) =>
        requestHttp({ ...options, agent, socketPath: path, path: `/${INGEST_PATH}` }, listen),
      );
    },
    close: () => agent.destroy(),
  };
}

const AGENT = { keepAlive: true, maxSockets: 1 };

type Start = (
  options: RequestOptions,
  listen: (response: IncomingMessage) => void,
) => ReturnType<typeof requestHttp>;

interface Batch {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

function exchange({ body, headers, clock }: Batch, start: Start): Promise<IngestAnswer> {
  return new Promise((resolve, reject) => {
    const length = Buffer.byteLength(body);
    const options: RequestOptions = {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json', 'Content-Length': length },
    };
    const request = start(options, (response) => {
      readAnswer(response).then(resolve, reject);
    });
    const timer = clock.after(TIMEOUT_MS, () => request.destroy(new Error('timeout')));
    request.on('close', () => timer.cancel());
    request.on('socket', guard);
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isAbsent = error.code === 'ECONNREFUSED' || error.code === 'ENOENT';
      reject(new LinkError(isAbsent ? 'absent' : 'unreachable', { cause: error }));
    });
    request.end(body);
  });
}

const guarded = new WeakSet<Socket>();

/**
 * A connection that breaks between the answer and the last written byte belongs to no request any more, and its error to nobody: it
 * would end the process.
 */
function guard(socket: Socket): void {
  if (guarded.has(socket)) return;
  guarded.add(socket);
  socket.on('error', () => {});
}

async function readAnswer(response: IncomingMessage): Promise<IngestAnswer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > MAX_ANSWER_BYTES) throw new Error('The answer is too long.');
      chunks.push(chunk);
    }
  } catch (cause) {
    throw new LinkError('unreachable', { cause });
  }
  const status = response.statusCode ?? 0;
  // One that is full, or whose store fails, has nothing against us.
  if (status === 429 || status >= 500) throw new LinkError('unreachable', { status });
  if (status !== 200) throw new LinkError('refused', { status });
  const answer: unknown = parse(Buffer.concat(chunks).toString('utf8'));
  if (!isAnswer(answer)) throw new LinkError('refused', { status });
  return answer;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Something else may listen where a dashboard is looked for. */
function isAnswer(value: unknown): value is IngestAnswer {
  const { dashboardId, refused, calls } = (value ?? {}) as Partial<Record<keyof IngestAnswer, unknown>>;
  if (typeof dashboardId !== 'string' || !Array.isArray(refused) || !Array.isArray(calls)) return false;
  return (
    calls.every(
      (call: Record<string, unknown> | null) =>
        typeof call?.callId === 'string' && typeof call.nodeId === 'string' && Number.isSafeInteger(call.seq),
    ) && refused.every((refusal: Record<string, unknown> | null) => Number.isSafeInteger(refusal?.index))
  );
}
