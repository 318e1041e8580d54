// One model that hears and speaks, in place of three stages.
import { fileURLToPath } from 'node:url';
import { type Carrier, CarrierA, Offhook, type ServeOptions } from 'offhook';
import { OpenAIRealtime } from 'offhook/realtime';

export async function start({
  carrier = new CarrierA(),
  ...options
}: { carrier?: Carrier } & Partial<ServeOptions> = {}) {
  const phone = new Offhook({
    carrier,
    phoneNumber: process.env.PHONE_NUMBER || '+15005550010',
    webhookUrl: process.env.WEBHOOK_HOST || undefined,
  });
  const agent = phone.agent({
    systemPrompt: 'You answer the phone of a bakery. Be brief.',
    firstMessage: 'Hello, this is the bakery. How can I help?',
    engine: new OpenAIRealtime({ voice: 'marin' }),
  });
  const { url } = await phone.serve({ agent, ...options });
  return { phone, url };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await start()).url);
