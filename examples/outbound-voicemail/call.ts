// Calls a number, talks to whoever answers, and leaves a message on an answering machine.
import { fileURLToPath } from 'node:url';
import { CarrierA, type CarrierAOptions, Offhook, type ServeOptions } from 'offhook';

export async function remind(
  to: string,
  { carrier, ...options }: { carrier?: CarrierAOptions } & Partial<Omit<ServeOptions, 'agent'>> = {},
) {
  await using phone = new Offhook({
    carrier: new CarrierA(carrier),
    phoneNumber: process.env.PHONE_NUMBER || '+15005550010',
    webhookUrl: process.env.WEBHOOK_HOST || 'voice.example.com',
  });
  const agent = phone.agent({
    systemPrompt: 'You remind people of their appointment tomorrow at nine, and say goodbye.',
    firstMessage: 'Hello {name}, this is a reminder of your appointment tomorrow at nine.',
  });
  await phone.serve({ agent, ...options });
  const call = await phone.call({
    to,
    variables: { name: 'Ada' },
    voicemailMessage: 'Hello {name}. Please remember your appointment tomorrow at nine. Goodbye.',
  });
  return await call.ended;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { outcome, amd, cost } = await remind(process.argv[2] ?? '');
  console.log({ outcome, answeredBy: amd?.answeredBy, dollars: cost.total });
}
