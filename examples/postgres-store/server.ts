// A phone that keeps its calls in PostgreSQL.
import { fileURLToPath } from 'node:url';
import { type Carrier, CarrierA, Offhook, type ServeOptions } from 'offhook';
import { PostgresStore } from './postgres-store.ts';

export async function start({
  carrier = new CarrierA(),
  ...options
}: { carrier?: Carrier } & Partial<ServeOptions> = {}) {
  const store = await PostgresStore.open(process.env.DATABASE_URL ?? 'postgres://localhost/offhook');
  const phone = new Offhook({
    carrier,
    phoneNumber: process.env.PHONE_NUMBER || '+15005550010',
    webhookUrl: process.env.WEBHOOK_HOST || undefined,
  });
  const agent = phone.agent({
    systemPrompt: 'You answer the phone of a bakery. Be brief.',
    firstMessage: 'Hello, this is the bakery. How can I help?',
  });
  const { url } = await phone.serve({ agent, store, ...options });
  const close = async () => {
    await phone.disconnect();
    await store.close();
  };
  return { phone, url, close };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url, close } = await start();
  console.log(url);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, close);
}
