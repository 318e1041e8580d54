// The phone of a server that a test starts as a process of its own: `serve` says when it listens.
/** @type {typeof import('../../src/index.js')} */
const { CarrierA, Offhook } = await import(new URL('../../dist/index.js', import.meta.url).href);

const [, , port = '', baseUrl = ''] = process.argv;
const phone = new Offhook({
  carrier: new CarrierA({
    accountSid: `AC${'0a'.repeat(16)}`,
    authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
    baseUrl,
  }),
  phoneNumber: '+15005550010',
  webhookUrl: 'voice.example.com',
});

/** @param {Omit<import('../../src/index.js').ServeOptions, 'agent'>} options */
export async function serve(options) {
  const agent = phone.agent({ systemPrompt: 'You help.' });
  // Something else of an application that keeps its process up.
  setInterval(() => {}, 60_000);
  await phone.serve({ agent, port: Number(port), host: '127.0.0.1', manageWebhook: false, ...options });
  console.log('listening');
}
