// A server of the bench, alone or one of a cluster. Its settings come as JSON; it says when it listens, and tells nothing else.
import { boundLifetime } from '../load/lifetime.mjs';

/** @typedef {{ credentials: object, number: string, host: string, serve: object }} ServerSettings */
const settings = /** @type {ServerSettings} */ (JSON.parse(process.argv[2] ?? ''));

/** @param {string} path @returns {Promise<any>} */
const load = (path) => import(new URL(path, new URL('../../../dist/', import.meta.url)).href);

/** @type {typeof import('../../../src/index.js')} */
const { CarrierA, Offhook } = await load('index.js');
/** @type {typeof import('../../../src/testing/tone-voice.js')} */
const { MS_PER_CHARACTER, speakInTones } = await load('testing/tone-voice.js');
const { LoadJudge } = await load('base/load-judge.js');
// A bench measures also where it is too much.
Object.defineProperty(LoadJudge.prototype, 'isOverloaded', { get: () => false });

const RATE_HZ = 16_000;
const ANSWER = 'I write that down, and then I read it back to you, so that nothing is lost.';
/** Made once: what a voice costs is not measured. */
const SPEECH = speakInTones(ANSWER, { sampleRateHz: RATE_HZ });

/** @type {import('../../../src/index.js').TextToSpeech} */
const tts = {
  name: 'bench/tones',
  open: () => ({
    async *synthesize(text) {
      yield SPEECH.slice(0, (text.length * MS_PER_CHARACTER * RATE_HZ) / 1000);
    },
    close() {},
  }),
};
/** @type {import('../../../src/index.js').LanguageModel} */
const llm = {
  name: 'bench/ready',
  async *respond() {
    yield { type: 'text', delta: ANSWER };
  },
};

const phone = new Offhook({
  carrier: new CarrierA(settings.credentials),
  phoneNumber: settings.number,
  webhookUrl: settings.host,
});
const nothing = () => {};
await phone.serve({
  agent: phone.agent({
    systemPrompt: 'bench',
    firstMessage: 'Hello.',
    turnTaking: { fillers: [] },
    tts,
    llm,
  }),
  host: '127.0.0.1',
  manageWebhook: false,
  dashboardUrl: false,
  dataDir: false,
  maxStreamsPerIp: 10_000,
  logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  ...settings.serve,
});
boundLifetime();
process.on('disconnect', () => process.exit(0));
process.send?.('listening');
