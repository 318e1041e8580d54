// An MCP server with two tools, made with the official SDK: says how orders stand, and cancels them. Yours may be in any language.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';

const orders = new Map([['17', { customer: '4711', state: 'on its way, and there tomorrow' }]]);
const inputSchema = fromJsonSchema<{ number: string }>({
  type: 'object',
  properties: { number: { type: 'string', description: 'Digits only.' } },
  required: ['number'],
});

const say = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });

/** Answers for one customer: which one, the phone says in a header that no caller can talk the model into. */
const handler = createMcpHandler(({ requestInfo }) => {
  const server = new McpServer({ name: 'orders', version: '1.0.0' });
  const customer = requestInfo?.headers.get('x-customer');
  const find = (number: string) => {
    const order = orders.get(number);
    return order?.customer === customer ? order : undefined;
  };
  server.registerTool(
    'search_orders',
    { description: 'Says how an order of the caller stands.', inputSchema },
    async ({ number }) => say(find(number)?.state ?? 'The caller has no order with this number.'),
  );
  server.registerTool('cancel_order', { description: 'Cancels an order.', inputSchema }, async () =>
    say('Canceled.'),
  );
  return server;
});

/** Listens on this machine. */
export async function startOrders(): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const answer = await handler.fetch(
      new Request(new URL(request.url ?? '/', 'http://127.0.0.1'), {
        method: request.method ?? 'GET',
        headers: new Headers(request.headers as Record<string, string>),
        ...(body === '' ? {} : { body }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, close: () => void server.close() };
}
