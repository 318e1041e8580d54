// A supervisor at the keyboard: each line that is typed is said in every call that is up. The model knows each caller's order from the start.
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type AgentOptions, CarrierA, Offhook, type ServeOptions } from 'offhook';

const orders = new Map([['+15005550020', 'two loaves of rye bread, ready at noon']]);

export async function start({
  agent = {},
  ...options
}: { agent?: Partial<AgentOptions> } & Partial<Omit<ServeOptions, 'agent'>> = {}) {
  const { onCallStart, onCallEnd } = options;
  const phone = new Offhook({
    carrier: new CarrierA(),
    phoneNumber: process.env.PHONE_NUMBER || '+15005550010',
    webhookUrl: process.env.WEBHOOK_HOST || undefined,
  });
  const bakery = phone.agent({
    systemPrompt: 'You answer the phone of a bakery.',
    firstMessage: 'Hello, this is the bakery.',
    ...agent,
  });
  const live = new Set<string>();
  const { url } = await phone.serve({
    agent: bakery,
    ...options,
    onCallStart: async (call) => {
      live.add(call.callId);
      const order = orders.get(call.caller);
      if (order !== undefined) await phone.inform(call.callId, `The caller has ordered ${order}.`);
      await onCallStart?.(call);
    },
    onCallEnd: async (record) => {
      live.delete(record.callId);
      await onCallEnd?.(record);
    },
  });
  /** Says it in every call. One that has ended, or is about to, is nobody's loss. */
  const announce = (text: string) =>
    Promise.all([...live].map((callId) => phone.say(callId, text).catch(() => 'call-ended' as const)));
  return { phone, url, announce };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url, announce } = await start();
  console.log(`${url}. Type what every caller is to hear.`);
  createInterface(process.stdin).on('line', async (line) => {
    if (line.trim() !== '') console.log((await announce(line)).join(', ') || 'nobody is on the line');
  });
}
