// The smallest phone: without keys the local stack answers, with keys in the environment the vendors do.
import { fileURLToPath } from 'node:url';
import { CarrierA, Offhook, type ServeOptions } from 'offhook';

export async function start({ authToken, ...options }: { authToken?: string } & Partial<ServeOptions> = {}) {
  const phone = new Offhook({
    carrier: new CarrierA({ authToken }),
    phoneNumber: process.env.PHONE_NUMBER || '+15005550010',
    webhookUrl: process.env.WEBHOOK_HOST || undefined,
  });
  const agent = phone.agent({
    systemPrompt: 'You answer the phone of a bakery. Be brief.',
    firstMessage: 'Hello, this is the bakery. How can I help?',
  });
  const { url } = await phone.serve({ agent, ...options });
  return { phone, url };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await start()).url);
