// A phone that is replaced while people are calling: it takes over from the one that runs on the same folder, and its calls go on.
import { fileURLToPath } from 'node:url';
import { type Carrier, CarrierA, Offhook, type ServeOptions } from 'offhook';

export async function start(
  options: { carrier?: Carrier; webhookHost?: string } & Partial<ServeOptions> = {},
) {
  const { carrier = new CarrierA(), webhookHost = process.env.WEBHOOK_HOST, ...rest } = options;
  const phone = new Offhook({
    carrier,
    phoneNumber: process.env.PHONE_NUMBER ?? '+15005550010',
    webhookUrl: webhookHost ?? 'voice.example.com',
  });
  const server = await phone.serve({
    agent: phone.agent({
      name: 'bakery',
      systemPrompt: 'You answer the phone of a bakery. Be brief.',
      firstMessage: 'Hello, this is the bakery. How can I help?',
    }),
    host: '127.0.0.1',
    port: Number(process.env.PORT ?? 8000),
    trustProxy: 'loopback',
    requireSignature: true,
    dashboardToken: process.env.DASHBOARD_TOKEN,
    // The same folder for every version. systemd names it.
    dataDir: process.env.STATE_DIRECTORY,
    takeOver: true,
    // The process ends when all its calls are at the next one.
    handleSignals: true,
    ...rest,
  });
  return { phone, server };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await start()).server.url);
