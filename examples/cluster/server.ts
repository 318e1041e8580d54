// One server of a cluster: start it on each machine, with that machine's address. Any of them answers what comes by the load balancer.
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
    // The same on every server, under the same name.
    agent: phone.agent({
      name: 'bakery',
      systemPrompt: 'You answer the phone of a bakery. Be brief.',
      firstMessage: 'Hello, this is the bakery. How can I help?',
    }),
    port: 8000,
    // The load balancer.
    trustProxy: process.env.TRUST_PROXY ?? '10.0.0.4',
    requireSignature: true,
    dashboardToken: process.env.DASHBOARD_TOKEN,
    cluster: {
      url: process.env.BROKER_URL ?? '',
      name: 'phones',
      secret: process.env.CLUSTER_SECRET ?? '',
      address: process.env.ADDRESS ?? '',
    },
    // The first SIGTERM moves the calls to the other servers.
    handleSignals: true,
    ...rest,
  });
  return { phone, server };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await start()).server.url);
