// An operator's server on loopback: keeps what it was sent and answers as the test says.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
  readonly method: string | undefined;
  readonly path: string | undefined;
  /** Tells connections apart. */
  readonly port: number | undefined;
}

export class OperatorServer implements AsyncDisposable {
  readonly received: Received[] = [];
  /** Requests whose connection was closed before their answer was complete. */
  cutOff = 0;
  readonly url: string;
  readonly server: Server;

  private constructor(server: Server, port: number) {
    this.server = server;
    this.url = `http://127.0.0.1:${port}/agent`;
  }

  static async start(
    answer: (response: ServerResponse, request: Received) => void = (response) => response.end(),
  ): Promise<OperatorServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const operator = new OperatorServer(server, (server.address() as AddressInfo).port);
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { headers, method, url: path } = request;
      const body = Buffer.concat(chunks).toString();
      const received = { body, headers, method, path, port: request.socket.remotePort };
      operator.received.push(received);
      response.on('close', () => {
        if (!response.writableFinished) operator.cutOff += 1;
      });
      answer(response, received);
    });
    return operator;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Answers with `body`, whose type is given. */
export function answers(type: string, body: string, status = 200) {
  return (response: ServerResponse) => {
    response.writeHead(status, type === '' ? {} : { 'content-type': type });
    response.end(body);
  };
}
