// An agent that does something: it looks an order up, and hands the caller over to a person.
import { fileURLToPath } from 'node:url';
import { CarrierA, Offhook, type ServeOptions, tool } from 'offhook';

const orders = new Map([['17', 'on its way, and there tomorrow']]);

export const lookUpOrder = tool({
  name: 'look_up_order',
  description: 'Says how an order stands. Use it when the caller gives the number of an order.',
  parameters: {
    type: 'object',
    properties: { number: { type: 'string', description: 'Digits only.' } },
    required: ['number'],
  },
  execute: ({ number }) => orders.get(number) ?? 'There is no order with this number.',
});

export async function start({
  agent = {},
  ...options
}: { agent?: object } & Partial<Omit<ServeOptions, 'agent'>> = {}) {
  const phone = new Offhook({
    carrier: new CarrierA(),
    phoneNumber: process.env.PHONE_NUMBER || '+15005550010',
    webhookUrl: process.env.WEBHOOK_HOST || undefined,
  });
  const shop = phone.agent({
    systemPrompt: 'You answer the phone of a shop. Look orders up before you speak of them.',
    firstMessage: 'Hello, this is the shop.',
    tools: [lookUpOrder],
    transferTargets: { sales: process.env.SALES_NUMBER || '+15005550030' },
    ...agent,
  });
  const { url } = await phone.serve({ agent: shop, ...options });
  return { phone, url };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await start()).url);
