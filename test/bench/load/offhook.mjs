// offhook as a server, by its public API, but that no call is refused. Arguments: port, what its agent does, folder of its records, address of the vendors.
import { boundLifetime } from './lifetime.mjs';

const [, , port, agentKind = '', dataDir = '', vendors = ''] = process.argv;

/** @param {string} path @returns {Promise<any>} */
const load = (path) => import(new URL(path, new URL('../../../dist/', import.meta.url)).href);

/** @type {typeof import('../../../src/index.js')} */
const { CarrierA, Offhook } = await load('index.js');
const { LoadJudge } = await load('base/load-judge.js');
// A bench measures also where it is too much.
Object.defineProperty(LoadJudge.prototype, 'isOverloaded', { get: () => false });

/** Discards what it hears. */
const DEAF = {
  kind: /** @type {const} */ ('stt'),
  name: 'bench/deaf',
  price: { perAudioMinute: 0 },
  open: () => ({ pushAudio() {}, finishUtterance() {}, close() {} }),
};

/** Is never asked. */
const MUTE_MODEL = {
  kind: /** @type {const} */ ('llm'),
  name: 'bench/mute',
  price: { inputPerMillionTokens: 0, outputPerMillionTokens: 0 },
  async *respond() {},
};

const MUTE_VOICE = {
  kind: /** @type {const} */ ('tts'),
  name: 'bench/mute',
  price: { perThousandCharacters: 0 },
  open: () => ({ async *synthesize() {}, close() {} }),
};

/** Longer than anybody measures. */
const TALK = Array.from(
  { length: 15 },
  (_, index) => `Sentence ${index} takes some five seconds to say aloud, as a long sentence does.`,
).join(' ');

/** @returns {Promise<any>} */
async function createAgent() {
  const apiKey = 'bench';
  const baseUrl = `http://${vendors}/v1`;
  if (agentKind === 'realtime') {
    /** @type {typeof import('../../../src/providers/realtime/index.js')} */
    const { OpenAIRealtime } = await load('providers/realtime/index.js');
    return { engine: new OpenAIRealtime({ apiKey, baseUrl, service: 'bench', transcription: false }) };
  }
  if (agentKind === 'listener') return { stt: DEAF, llm: MUTE_MODEL, tts: MUTE_VOICE };
  /** @type {typeof import('../../../src/providers/tts/index.js')} */
  const { OpenAISpeech } = await load('providers/tts/index.js');
  const tts = new OpenAISpeech({ apiKey, baseUrl, service: 'bench', model: 'voice', voice: 'any' });
  return { stt: DEAF, llm: MUTE_MODEL, tts, firstMessage: TALK };
}

const phone = new Offhook({
  carrier: new CarrierA(),
  phoneNumber: '+15550100002',
  webhookUrl: 'voice.example.com',
});
await phone.serve({
  agent: phone.agent({ systemPrompt: 'You are measured.', idle: false, ...(await createAgent()) }),
  port: Number(port),
  host: '127.0.0.1',
  manageWebhook: false,
  maxStreamsPerIp: 10_000,
  dashboardUrl: false,
  dataDir,
  logger: { debug() {}, info() {}, warn() {}, error: (...told) => console.error(...told) },
});
boundLifetime();
