// One agent, three languages: it greets in the first, and goes on in the one that the caller speaks.
import { fileURLToPath } from 'node:url';
import { type AgentOptions, CarrierA, Offhook, type ServeOptions } from 'offhook';

export async function start({
  agent = {},
  ...options
}: { agent?: Partial<AgentOptions> } & Partial<Omit<ServeOptions, 'agent'>> = {}) {
  const phone = new Offhook({
    carrier: new CarrierA(),
    phoneNumber: process.env.PHONE_NUMBER || '+15005550010',
    webhookUrl: process.env.WEBHOOK_HOST || undefined,
  });
  const restaurant = phone.agent({
    systemPrompt: 'You take reservations for a restaurant.',
    firstMessage: 'Good evening. Guten Abend. Buenas noches.',
    languages: ['en', 'de', 'es'],
    turnTaking: { fillers: { en: ['One moment.'], de: ['Einen Moment.'], es: ['Un momento.'] } },
    idle: {
      prompts: { en: ['Are you still there?'], de: ['Sind Sie noch da?'], es: ['¿Sigue ahí?'] },
      goodbye: { en: 'Goodbye.', de: 'Auf Wiederhören.', es: 'Adiós.' },
    },
    ...agent,
  });
  const { url } = await phone.serve({ agent: restaurant, ...options });
  return { phone, url };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await start()).url);
