// Carrier B's REST API on loopback: HTTP around the account, and what goes wrong on the way on demand.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.js';
import { pause } from '../../base/pause.js';
import { listenOnLoopback } from '../loopback.js';
import type { Disturbances, RestPurpose, SeenRequest } from '../simulator.js';
import { createSharedAbort } from '../../base/shared-abort.js';
import type { Account, ApiAnswer, Route } from './account.js';
import { ApiFault } from './api-fault.js';
import { isJsonObject, type JsonFields } from './command-body.js';

export interface RestServerOptions {
  /** Of 127.0.0.1; 0 takes a free one. */
  readonly port: number;
  apiKey: string;
  account: Account;
  clock: Clock;
  disturbances(): Disturbances;
  /** Notes what a request does wrong that belongs to no call. */
  violate(sentence: string): void;
  /** A request came with another key, or with none. */
  onStranger(): void;
}

export interface RestServer {
  /** Origin, without the version. */
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

const VERSION = '/v2';
const MAX_BODY_BYTES = 262_144;
const KEPT_REQUESTS = 10_000;
/** Status of a request that got no answer. */
const UNANSWERED = 0;

type Failure = NonNullable<Disturbances['restFailures']>[number];

interface Outcome {
  status: number;
  body: object;
  headers: Readonly<Record<string, string>>;
  isLost: boolean;
}

async function readBody(request: IncomingMessage): Promise<JsonFields> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES) throw new ApiFault(413, 10015, { detail: 'a body of more than 256 KiB' });
    chunks.push(chunk as Buffer);
  }
  if (size === 0) return {};
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    throw new ApiFault(415, 10015, { detail: 'a body that is not application/json' });
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    if (isJsonObject(value)) return value;
  } catch {
    // Said below.
  }
  throw new ApiFault(422, 10015, { detail: 'a body that is not a JSON object' });
}

/** Failures that are still to come, counted down. */
class FailurePlan {
  #source: readonly Failure[] | undefined;
  #left: { failure: Failure; times: number }[] = [];

  /** HTTP status with which a request of this purpose fails now; 0 cuts it, undefined lets it pass. */
  take(purpose: RestPurpose, failures: readonly Failure[] | undefined): number | undefined {
    if (failures !== this.#source) {
      this.#source = failures;
      this.#left = (failures ?? []).map((failure) => ({ failure, times: failure.times }));
    }
    const due = this.#left.find(({ failure, times }) => failure.purpose === purpose && times > 0);
    if (due === undefined) return undefined;
    due.times -= 1;
    return due.failure.status;
  }
}

const RATE_LIMIT_HEADERS = {
  'x-ratelimit-limit': '200',
  'x-ratelimit-remaining': '0',
  'x-ratelimit-reset': '1',
};

function failWith(status: number): Outcome {
  const code = status === 429 ? 10011 : 10007;
  const fault = new ApiFault(status, code, { detail: 'refused on demand' });
  const headers = status === 429 ? RATE_LIMIT_HEADERS : {};
  return { status, body: fault.body, headers, isLost: status === UNANSWERED };
}

/** Starts the API on 127.0.0.1. @throws ConfigError for a port that is in use. */
export async function startRestServer(options: RestServerOptions): Promise<RestServer> {
  const { account, clock, disturbances } = options;
  const requests: SeenRequest[] = [];
  const failures = new FailurePlan();
  const closing = createSharedAbort();

  const see = (request: SeenRequest) => {
    requests.push(request);
    if (requests.length > KEPT_REQUESTS) requests.shift();
  };

  const checkKey = (header: string | undefined) => {
    if (header === `Bearer ${options.apiKey}`) return;
    options.onStranger();
    throw new ApiFault(401, 10009, { detail: 'a wrong or missing API key' });
  };

  const execute = async (
    request: IncomingMessage,
    path: string,
    query: URLSearchParams,
  ): Promise<Outcome> => {
    const method = request.method ?? 'GET';
    let route: Route | undefined;
    let body: JsonFields = {};
    const seen = (status: number) => {
      if (route !== undefined) see({ purpose: route.purpose, method, path, body, status });
    };
    try {
      checkKey(request.headers.authorization);
      route = account.route({ method, path });
      body = await readBody(request);
      const failure = failures.take(route.purpose, disturbances().restFailures);
      if (failure !== undefined) {
        seen(failure);
        return failWith(failure);
      }
      const answer: ApiAnswer = route.run({ method, path, query, body });
      const isLost = answer.isExecuted && (disturbances().lostAnswers ?? []).includes(route.purpose);
      seen(200);
      return { status: 200, body: answer.body, headers: {}, isLost };
    } catch (error) {
      const fault =
        error instanceof ApiFault
          ? error
          : new ApiFault(500, 10007, { detail: `a fault of the simulator: ${String(error)}` });
      seen(fault.status);
      account.blame(path, fault);
      return { status: fault.status, body: fault.body, headers: {}, isLost: false };
    }
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const isVersioned = url.pathname.startsWith(`${VERSION}/`);
    const path = isVersioned ? url.pathname.slice(VERSION.length) : url.pathname;
    let outcome: Outcome;
    if (isVersioned) outcome = await execute(request, path, url.searchParams);
    else {
      options.violate('a request outside the second version of the API');
      const fault = new ApiFault(404, 10005, { detail: 'no such version' });
      outcome = { status: 404, body: fault.body, headers: {}, isLost: false };
    }
    const { restDelayMs = 0 } = disturbances();
    if (restDelayMs > 0) await pause(clock, restDelayMs, closing.signal);
    if (outcome.isLost) {
      request.socket.destroy();
      return;
    }
    response.writeHead(outcome.status, { 'content-type': 'application/json', ...outcome.headers });
    response.end(JSON.stringify(outcome.body));
  };

  const server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy());
  });
  const port = await listenOnLoopback(server, options.port);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async close() {
      closing.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
