// A server of the bench, alone or one of a cluster. Its settings come as JSON; it says when it listens, and tells nothing else.
import { ANSWER, GREETING } from './talk.mjs';

/** What the agent is made of: vendors behind sockets, or voices in the process itself. @typedef {'pipeline' | 'realtime' | 'inside'} AgentKind */
/** @typedef {{ carrier: 'carrier-a' | 'carrier-b', credentials: object, number: string, host: string, agent: AgentKind, vendors: import('./vendors.mjs').Vendors | undefined, serve: object }} ServerSettings */
const settings = /** @type {ServerSettings} */ (JSON.parse(process.argv[2] ?? ''));

/** @param {string} path @returns {Promise<any>} */
const load = (path) => import(new URL(path, new URL('../../../dist/', import.meta.url)).href);

/** @type {typeof import('../../../src/index.js')} */
const { CarrierA, CarrierB, Offhook } = await load('index.js');
const { LoadJudge } = await load('base/load-judge.js');
// A bench measures also where it is too much.
Object.defineProperty(LoadJudge.prototype, 'isOverloaded', { get: () => false });

/** The voices take no time, so that a server does nothing but its own work. */
async function createInside() {
  /** @type {typeof import('../../../src/testing/tone-voice.js')} */
  const { speakInTones } = await load('testing/tone-voice.js');
  /** Made once. @type {Map<string, Int16Array>} */
  const speech = new Map();
  /** @type {import('../../../src/index.js').TextToSpeech} */
  const tts = {
    name: 'bench/tones',
    open: () => ({
      async *synthesize(text) {
        const said = speech.get(text) ?? speakInTones(text, { sampleRateHz: 16_000 });
        speech.set(text, said);
        yield said;
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
  return { tts, llm };
}

/** @param {AgentKind} kind @param {import('./vendors.mjs').Vendors | undefined} vendors @returns {Promise<any>} */
async function createVoice(kind, vendors) {
  if (kind === 'inside' || vendors === undefined) return createInside();
  const apiKey = 'test-key';
  if (kind === 'realtime') {
    /** @type {typeof import('../../../src/providers/realtime/index.js')} */
    const { OpenAIRealtime } = await load('providers/realtime/index.js');
    return { engine: new OpenAIRealtime({ apiKey, baseUrl: `${vendors.model}/v1` }) };
  }
  /** @type {typeof import('../../../src/providers/stt/index.js')} */
  const { DeepgramSpeechToText } = await load('providers/stt/index.js');
  /** @type {typeof import('../../../src/providers/llm/index.js')} */
  const { ChatCompletions } = await load('providers/llm/index.js');
  /** @type {typeof import('../../../src/providers/tts/index.js')} */
  const { ElevenLabsTextToSpeech } = await load('providers/tts/index.js');
  return {
    stt: new DeepgramSpeechToText({ apiKey, baseUrl: vendors.ears }),
    llm: new ChatCompletions({ apiKey, baseUrl: `${vendors.mind}/v1` }),
    tts: new ElevenLabsTextToSpeech({ apiKey, baseUrl: vendors.voice }),
  };
}

const { credentials, agent, vendors } = settings;
const phone = new Offhook({
  carrier: settings.carrier === 'carrier-a' ? new CarrierA(credentials) : new CarrierB(credentials),
  phoneNumber: settings.number,
  webhookUrl: settings.host,
});
const nothing = () => {};
await phone.serve({
  agent: phone.agent({
    systemPrompt: 'You answer for a bakery.',
    firstMessage: GREETING,
    turnTaking: { fillers: [] },
    ...(await createVoice(agent, vendors)),
  }),
  host: '127.0.0.1',
  manageWebhook: false,
  dashboardUrl: false,
  maxStreamsPerIp: 10_000,
  logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  ...settings.serve,
});
process.on('disconnect', () => process.exit(0));
process.send?.('listening');
