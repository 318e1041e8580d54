// MCP servers on Streamable HTTP, made with the official SDK, on the network of the tests: with sessions as older ones have them, or without.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import {
  createMcpHandler,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

export interface ServedMcp extends AsyncDisposable {
  readonly url: string;
  /** Each HTTP request, in order. */
  readonly requests: readonly {
    readonly method: string;
    readonly rpc: string | null;
    readonly headers: IncomingMessage['headers'];
  }[];
  /** Those of sessions that are open. */
  readonly servers: ReadonlyMap<string, McpServer>;
  readonly sockets: ReadonlySet<Socket>;
  /** All sessions that were ever opened. */
  readonly opened: number;
  /** Forgets every session, as a restart does. */
  forget(): void;
  /** Cuts every connection, and listens no more. */
  kill(): Promise<void>;
  /** Listens again, on the same port. */
  revive(): Promise<void>;
}

export interface ServedMcpOptions {
  /** Adds the tools. */
  readonly equip: (server: McpServer) => void;
  /** `modern`: the revision of 2026-07-28, without sessions. @default 'sessions' */
  readonly kind?: 'sessions' | 'modern';
  /** Answers in the place of the server where it returns true. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse, body: string) => boolean;
}

export async function serveMcp({
  equip,
  kind = 'sessions',
  intercept,
}: ServedMcpOptions): Promise<ServedMcp> {
  const requests: { method: string; rpc: string | null; headers: IncomingMessage['headers'] }[] = [];
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const servers = new Map<string, McpServer>();
  const sockets = new Set<Socket>();
  let opened = 0;
  const create = () => {
    const server = new McpServer({ name: 'test', version: '1.0.0' });
    equip(server);
    return server;
  };
  const modern = createMcpHandler(create, { legacy: 'reject' });

  const answer = async (request: Request): Promise<Response> => {
    if (kind === 'modern') return modern.fetch(request);
    const id = request.headers.get('mcp-session-id');
    const known = id === null ? undefined : sessions.get(id);
    if (known !== undefined) return known.handleRequest(request);
    if (id !== null) return new Response(null, { status: 404 });
    const server = create();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized(sessionId) {
        opened += 1;
        sessions.set(sessionId, transport);
        servers.set(sessionId, server);
      },
      onsessionclosed(sessionId) {
        sessions.delete(sessionId);
        servers.delete(sessionId);
      },
    });
    await server.connect(transport);
    return transport.handleRequest(request);
  };

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const method = incoming.method ?? '';
    const rpc = body === '' ? null : ((JSON.parse(body) as { method?: string }).method ?? null);
    requests.push({ method, rpc, headers: incoming.headers });
    if (intercept?.(incoming, outgoing, body) === true) return;
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    const response = await answer(
      new Request(new URL(incoming.url ?? '/', 'http://127.0.0.1'), {
        method,
        headers: incoming.headers as Record<string, string>,
        signal: gone.signal,
        ...(body === '' ? {} : { body }),
      }),
    );
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body !== null)
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) outgoing.write(chunk);
    outgoing.end();
  };

  let http: Server;
  const listen = async (port: number): Promise<number> => {
    http = createServer(
      (incoming, outgoing) => void handle(incoming, outgoing).catch(() => outgoing.destroy()),
    );
    http.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
    return (http.address() as AddressInfo).port;
  };
  const port = await listen(0);
  const kill = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => http.close(() => resolve()));
  };
  const forget = () => {
    sessions.clear();
    servers.clear();
  };
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    requests,
    servers,
    sockets,
    get opened() {
      return opened;
    },
    forget,
    kill,
    async revive() {
      forget();
      await listen(port);
    },
    [Symbol.asyncDispose]: () => kill().catch(() => {}),
  };
}
