// A server with `handleSignals`, as an application writes it, with something else that keeps the process up. Says when it listens.
/** @type {typeof import('../../src/index.js')} */
const { CarrierA, Offhook } = await import(new URL('../../dist/index.js', import.meta.url).href);

const [, , port = '', url = ''] = process.argv;
const phone = new Offhook({
  carrier: new CarrierA({
    accountSid: `AC${'0a'.repeat(16)}`,
    authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
    baseUrl: url,
  }),
  phoneNumber: '+15005550010',
  webhookUrl: 'voice.example.com',
});
const agent = phone.agent({ systemPrompt: 'You help.', firstMessage: 'Hello!' });
setInterval(() => {}, 60_000);
await phone.serve({
  agent,
  port: Number(port),
  host: '127.0.0.1',
  manageWebhook: false,
  handleSignals: true,
  dataDir: false,
  onCallEnd: ({ endReason }) => console.log(`ended: ${endReason}`),
});
console.log('listening');
