// `POST /api/dashboard/ingest` in the words of Node: on the dashboard's port and on the socket of the user alike. Who may send is asked
// before it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LimitError, RequestError } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { readBody } from '../base/request-body.js';
import { errorBody, toErrorAnswer } from './answer.js';
import type { Ingest } from './ingest.js';

export const INGEST_PATH = '/api/dashboard/ingest';

/** Longest batch, in bytes. */
export const MAX_BATCH_BYTES = 1024 * 1024;
/** Batches that are read or wait their turn: what is held at a time is bounded by it. */
const MAX_AT_ONCE = 16;

/** Answers a request that may send. */
export type IngestEndpoint = (request: IncomingMessage, response: ServerResponse) => void;

export function createIngestEndpoint(ingest: Ingest, logger: Logger): IngestEndpoint {
  let pending = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (pending >= MAX_AT_ONCE) throw new LimitError('Too many batches at once. Try again later.');
    pending += 1;
    try {
      const body = await readBody(request, response, MAX_BATCH_BYTES);
      send(response, 200, await ingest.take(parse(body)));
    } finally {
      pending -= 1;
    }
  }

  return (request, response) => {
    const refusal = refuseMedia(request);
    if (refusal !== undefined) {
      send(response, 415, errorBody('REQUEST_INVALID', refusal));
      return;
    }
    answer(request, response).catch((error: unknown) => {
      if (response.destroyed) return;
      const { status, headers, body } = toErrorAnswer(error, logger);
      for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
      send(response, status, body);
    });
  };
}

function refuseMedia({ headers }: IncomingMessage): string | undefined {
  const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';');
  if (type.trim() !== 'application/json')
    return 'The body must be JSON, with Content-Type: application/json.';
  const encoding = headers['content-encoding'] ?? 'identity';
  return encoding === 'identity' ? undefined : 'The body must not be compressed.';
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new RequestError('REQUEST_INVALID', 'The body is not JSON.');
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.end(JSON.stringify(body));
}
