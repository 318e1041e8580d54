// A phone server of a few lines: what the simulator calls in its own tests.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';

/** A message of the simulator, as the server reads it. */
export interface WireMessage {
  event: string;
  streamSid: string;
  sequenceNumber?: string;
  start: { callSid: string };
  media?: Record<string, string>;
  dtmf?: Record<string, string>;
  spokenText?: Record<string, unknown>;
}

export interface FakeStream {
  socket: WebSocket;
  streamSid: string;
  callSid: string;
  /** Sends mu-law bytes in messages of 20 ms. */
  play(bytes: Uint8Array): void;
  send(message: object): void;
}

export interface FakeServerOptions {
  /** Answer of the voice webhook; `{url}` stands for the stream URL. */
  markup?: string;
  status?: number;
  contentType?: string;
  /** Answers a webhook in place of what the fields above say; undefined leaves it to them. */
  answer?(webhook: Received): { status?: number; body?: string } | undefined;
  /** HTTP status with which upgrades are refused. */
  refuseUpgrade?: number;
  /** Takes every message of a stream as it is. Without it they must be JSON. */
  raw?(text: string): void;
  onStart?(stream: FakeStream): void;
  onMessage?(message: WireMessage, stream: FakeStream): void;
}

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  form: URLSearchParams;
  body: string;
}

/** Opens a stream. */
export const MARKUP =
  '<?xml version="1.0" encoding="UTF-8"?><Response><Connect><Stream url="{url}"><Parameter name="caller" value="+15005550020"/></Stream></Connect></Response>';

export async function startFakeServer(options: FakeServerOptions = {}) {
  const webhooks: Received[] = [];
  const upgrades: { path: string; headers: IncomingHttpHeaders }[] = [];
  const messages: WireMessage[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const form = new URLSearchParams(body);
      const { method = '', url: path = '', headers } = request;
      const received = { method, path, headers, form, body };
      webhooks.push(received);
      const voice = path.split('?')[0] === '/webhooks/carrier-a/voice';
      const url = `wss://${headers.host}/ws/stream/${form.get('CallSid')}/token?caller=x`;
      const chosen = options.answer?.(received);
      const text = chosen?.body ?? (voice && chosen === undefined ? (options.markup ?? MARKUP) : undefined);
      const silent = text === undefined ? 204 : 200;
      response.writeHead(chosen?.status ?? (voice ? (options.status ?? 200) : silent), {
        'content-type': options.contentType ?? 'text/xml',
      });
      response.end(text?.replaceAll('{url}', url));
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    upgrades.push({ path: request.url ?? '', headers: request.headers });
    if (options.refuseUpgrade !== undefined) {
      socket.end(
        `HTTP/1.1 ${options.refuseUpgrade} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      let stream: FakeStream | undefined;
      client.on('message', (data) => {
        options.raw?.(data.toString());
        if (options.raw !== undefined) return;
        const message = JSON.parse(data.toString()) as WireMessage;
        messages.push(message);
        if (message.event === 'start') {
          const { streamSid, start } = message;
          const send = (value: object) => client.send(JSON.stringify(value));
          stream = {
            socket: client,
            streamSid,
            callSid: start.callSid,
            send,
            play(bytes) {
              for (let at = 0; at < bytes.length; at += 160) {
                const payload = Buffer.from(bytes.subarray(at, at + 160)).toString('base64');
                send({ event: 'media', streamSid, media: { payload } });
              }
            },
          };
          options.onStart?.(stream);
        }
        if (stream !== undefined) options.onMessage?.(message, stream);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    webhooks,
    upgrades,
    messages,
    async close() {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
