// Two numbers, and an agent for each call, chosen while it rings: by who calls, and by the hour.
import { fileURLToPath } from 'node:url';
import { CarrierA, type ChooseAgent, Offhook, type ServeOptions } from 'offhook';

/** Stands for a request to your CRM, which ends with `signal`. */
async function findCustomer(number: string, _signal: AbortSignal): Promise<{ name: string } | undefined> {
  return new Map([['+15005550020', { name: 'Ada' }]]).get(number);
}

export async function start({
  isOpen = () => new Date().getHours() >= 8,
  agent = {},
  ...options
}: { isOpen?: () => boolean; agent?: object } & Partial<Omit<ServeOptions, 'agent'>> = {}) {
  const phone = new Offhook({
    carrier: new CarrierA(),
    phoneNumbers: [
      process.env.PHONE_NUMBER || '+15005550010',
      // Whoever dials this one wants billing: nothing is left to choose.
      { number: process.env.BILLING_NUMBER || '+15005550011', agent: 'billing' },
    ],
    webhookUrl: process.env.WEBHOOK_HOST || undefined,
  });
  const reception = phone.agent({
    name: 'reception',
    systemPrompt: 'You answer the phone of a shop.',
    firstMessage: 'Hello, this is the shop.',
    ...agent,
  });
  const billing = phone.agent({
    name: 'billing',
    systemPrompt: 'You explain bills to {name}.',
    firstMessage: 'Hello {name}, this is billing.',
    variables: { name: 'there' },
    ...agent,
  });
  const choose: ChooseAgent = async ({ caller }, { signal }) => {
    if (!isOpen()) return { say: 'We are closed. Please call again in the morning.', language: 'en' };
    const customer = await findCustomer(caller, signal);
    return customer === undefined ? reception : { agent: billing, variables: { name: customer.name } };
  };
  const server = await phone.serve({
    agent: choose,
    fallbackAgent: reception,
    answerWithinMs: 2000,
    ...options,
  });
  return { phone, server, url: server.url };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await start()).url);
