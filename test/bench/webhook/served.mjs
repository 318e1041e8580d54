// A server of the built package, as an application starts it, in the voice mode that is named. Takes the port, the secret, the public host
// and the mode; tells its figures when asked.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answerFigures } from './figures.mjs';

const [port, secret = '', host = '', mode] = process.argv.slice(2);
const dist = new URL('../../../dist/', import.meta.url);
const { CarrierA, Offhook } = await import(new URL('index.js', dist).href);

const dataDir = mkdtempSync(join(tmpdir(), 'offhook-bench-'));
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));

/** Nobody speaks in this bench: webhooks are all there is. */
const stages = {
  stt: {
    kind: 'stt',
    name: 'bench/deaf',
    price: { perAudioMinute: 0 },
    open: () => ({ pushAudio() {}, finishUtterance() {}, close() {} }),
  },
  llm: {
    kind: 'llm',
    name: 'bench/silent',
    price: { inputPerMillionTokens: 0, outputPerMillionTokens: 0 },
    async *respond() {},
  },
  tts: {
    kind: 'tts',
    name: 'bench/mute',
    price: { perThousandCharacters: 0 },
    open: () => ({ async *synthesize() {}, close() {} }),
  },
};

async function realtime() {
  const { OpenAIRealtime } = await import(new URL('providers/realtime/index.js', dist).href);
  return { engine: new OpenAIRealtime({ apiKey: 'bench' }) };
}

const phone = new Offhook({
  carrier: new CarrierA({ accountSid: 'AC00', authToken: secret }),
  phoneNumber: '+15005550006',
  webhookUrl: host,
});
const nothing = () => {};
await phone.serve({
  agent: phone.agent({ systemPrompt: 'bench', ...(mode === 'realtime' ? await realtime() : stages) }),
  port: Number(port),
  host: '127.0.0.1',
  dataDir,
  dashboardUrl: false,
  manageWebhook: false,
  logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
});
answerFigures();
