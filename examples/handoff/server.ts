// Reception and billing hand the caller over to each other, each with its own prompt and tools.
import { fileURLToPath } from 'node:url';
import { CarrierA, Offhook, type ServeOptions, tool } from 'offhook';

/** Stands for your own system. */
const bills = new Map([['17', 'paid']]);

const lookUpBill = tool({
  name: 'look_up_bill',
  description: 'Says whether a bill is paid.',
  parameters: {
    type: 'object',
    properties: { number: { type: 'string', description: 'Digits only.' } },
    required: ['number'],
  },
  execute: ({ number }) => bills.get(number) ?? 'There is no bill with this number.',
});

export async function start({
  agents = {},
  ...options
}: { agents?: { reception?: object; billing?: object } } & Partial<Omit<ServeOptions, 'agent'>> = {}) {
  const phone = new Offhook({
    carrier: new CarrierA(),
    phoneNumber: process.env.PHONE_NUMBER || '+15005550010',
    webhookUrl: process.env.WEBHOOK_HOST || undefined,
  });
  const reception = phone.agent({
    name: 'reception',
    systemPrompt:
      'You answer the phone of a shop, which is open from eight to six. You know nothing of bills.',
    firstMessage: 'Hello, this is the shop.',
    // By name: this agent is made later.
    handoffs: {
      billing: { agent: 'billing', when: 'questions about bills and payments', say: 'Billing speaking.' },
    },
    ...agents.reception,
  });
  phone.agent({
    name: 'billing',
    systemPrompt: 'You explain bills. Look a bill up before you speak of it.',
    tools: [lookUpBill],
    handoffs: { reception: { agent: reception, when: 'everything that has nothing to do with bills' } },
    ...agents.billing,
  });
  const { url } = await phone.serve({ agent: reception, ...options });
  return { phone, url };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await start()).url);
