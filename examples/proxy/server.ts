// A phone behind a proxy that has the certificate: it listens on this machine alone, and believes the proxy who is calling.
import { fileURLToPath } from 'node:url';
import { CarrierA, Offhook, type ServeOptions } from 'offhook';

export async function start(
  options: { authToken?: string; webhookHost?: string } & Partial<ServeOptions> = {},
) {
  const { authToken, webhookHost = process.env.WEBHOOK_HOST ?? 'voice.example.com', ...rest } = options;
  const phone = new Offhook({
    carrier: new CarrierA({ authToken }),
    phoneNumber: process.env.PHONE_NUMBER ?? '+15005550010',
    webhookUrl: webhookHost,
  });
  const { url } = await phone.serve({
    agent: phone.agent({
      systemPrompt: 'You answer the phone of a bakery. Be brief.',
      firstMessage: 'Hello, this is the bakery. How can I help?',
    }),
    host: '127.0.0.1',
    port: 8000,
    trustProxy: 'loopback',
    requireSignature: true,
    dashboardToken: process.env.DASHBOARD_TOKEN,
    handleSignals: true,
    ...rest,
  });
  return { phone, url };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await start()).url);
