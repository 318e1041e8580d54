// What the socket of the user answers: batches of calls, and whether the dashboard lives.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { NotFoundError } from '../base/errors.js';
import { INGEST_PATH, type IngestEndpoint } from '../dashboard/ingest-endpoint.js';
import { toErrorAnswer } from './error-answer.js';

export function createIngestListener(ingest: IngestEndpoint): RequestListener {
  return (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === INGEST_PATH && request.method === 'POST') {
      ingest(request, response);
    } else if (request.url === '/health' && request.method === 'GET') {
      answer(response, 200, { status: 'ok', mode: 'dashboard' });
    } else {
      const { status, body } = toErrorAnswer(
        new NotFoundError(`This socket answers POST ${INGEST_PATH} only.`),
      );
      answer(response, status, body);
    }
  };
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
}
