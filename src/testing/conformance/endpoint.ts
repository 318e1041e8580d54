// A REST endpoint that behaves as a check wants it to, on loopback.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EndpointAnswer, EndpointRequest } from './carrier-fixtures.js';

/** An answer; `cut` breaks the connection, `hang` never answers, `redirect` points to another endpoint. */
export type Behavior =
  | { type: 'answer'; answer(request: EndpointRequest): EndpointAnswer }
  | { type: 'cut' }
  | { type: 'hang' }
  | { type: 'redirect'; to: string };

export interface Endpoint {
  readonly url: string;
  readonly requests: readonly EndpointRequest[];
  close(): Promise<void>;
}

export async function startEndpoint(behavior: Behavior): Promise<Endpoint> {
  const requests: EndpointRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = 'GET', url: path = '/' } = request;
      const seen = { method, path, body: Buffer.concat(chunks).toString('utf8') };
      requests.push(seen);
      if (behavior.type === 'hang') return;
      if (behavior.type === 'cut') {
        request.socket.destroy();
        return;
      }
      if (behavior.type === 'redirect') {
        response.writeHead(307, { location: behavior.to + path }).end();
        return;
      }
      const { status, body } = behavior.answer(seen);
      response.writeHead(status, { 'content-type': 'application/json' });
      // An API may repeat what it was sent: a secret in there must not reach an error.
      const isError = status >= 400;
      response.end(
        isError && body === '' ? JSON.stringify({ message: request.headers.authorization, code: 1 }) : body,
      );
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
