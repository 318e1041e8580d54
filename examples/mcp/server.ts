// An agent with the tools of an MCP server: one of them, and for the customer who is on the line.
import { fileURLToPath } from 'node:url';
import { CarrierA, mcp, Offhook, type ServeOptions } from 'offhook';
import { startOrders } from './orders.ts';

export async function start({
  agent = {},
  ...options
}: { agent?: object } & Partial<Omit<ServeOptions, 'agent'>> = {}) {
  const phone = new Offhook({
    carrier: new CarrierA(),
    phoneNumber: process.env.PHONE_NUMBER || '+15005550010',
    webhookUrl: process.env.WEBHOOK_HOST || undefined,
  });
  const orders = await startOrders();
  const shop = phone.agent({
    systemPrompt: 'You answer the phone of a shop. Look orders up before you speak of them.',
    firstMessage: 'Hello, this is the shop.',
    // Whoever calls is this customer here. Choose an agent for each call to find out who it is.
    variables: { customer: 4711 },
    tools: [
      mcp({
        name: 'orders',
        url: orders.url,
        allow: ['search_orders'],
        headers: ({ variables }) => ({ 'X-Customer': String(variables.customer) }),
      }),
    ],
    ...agent,
  });
  const { url } = await phone.serve({ agent: shop, ...options });
  return { phone, url, orders };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await start()).url);
