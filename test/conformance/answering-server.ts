import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface SeenWebhook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A phone server that gives every webhook the same answer, and remembers it. */
export class AnsweringServer {
  readonly seen: SeenWebhook[] = [];
  readonly #server: Server;

  private constructor(contentType: string, body: string) {
    this.#server = createServer((request, response) => {
      void text(request).then((received) => {
        this.seen.push({ path: request.url ?? '', headers: request.headers, body: received });
        response.writeHead(200, { 'content-type': contentType }).end(body);
      });
    });
  }

  static async start(contentType: string, body: string): Promise<AnsweringServer> {
    const answering = new AnsweringServer(contentType, body);
    await new Promise<void>((resolve) => answering.#server.listen(0, '127.0.0.1', resolve));
    return answering;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Waits until what was seen is enough, at most ten seconds. */
  async until(isEnough: (seen: readonly SeenWebhook[]) => boolean): Promise<void> {
    for (let attempt = 0; attempt < 200; attempt += 1) {
      if (isEnough(this.seen)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('the webhook did not come');
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}
