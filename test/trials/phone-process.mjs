// A phone server in a process of its own, told what to do by its parent: it can be stalled, have its callbacks misbehave, or be killed.
import { setTimeout as pause } from 'node:timers/promises';

const dist = new URL('../../dist/', import.meta.url);

/**
 * @typedef {{ ears: string, mind: string, voice: string, model: string, simulator: string }} Addresses
 * @typedef {{ type: 'serve', carrier: 'carrier-a' | 'carrier-b', mode: 'pipeline' | 'realtime', port: number, dataDir: string, publicKey?: string, isOpen?: boolean, isBlind?: boolean, effects?: string, takesOver?: boolean } & Addresses} ServeOrder
 * @typedef {ServeOrder | { type: 'load', order: ServeOrder } | { type: 'call', to: string, isMachine?: boolean } | { type: 'callbacks', behave: 'well' | 'throw' | 'hang' } | { type: 'stall', ms: number } | { type: 'figures' } | { type: 'disconnect' }} Order
 */

/** @type {import('../../src/index.js').Offhook | undefined} */
let phone;
/** Its parent has ended the server, and not the one after it. */
let isDisconnected = false;
/** @type {'well' | 'throw' | 'hang'} */
let behave = 'well';
/** Sentences of the log, with how often. @type {Map<string, number>} */
const lines = new Map();

/** @param {string} path @returns {Promise<any>} */
const load = (path) => import(new URL(path, dist).href);

/** What `serve` loads, and who loads it beforehand does not wait for. */
const SERVED = [
  'index.js',
  'client/runtime.js',
  'dashboard/index.js',
  'observability/call-tracer.js',
  'server/server.js',
  'stores/disk-store.js',
];

/** What the application's callbacks do. @returns {unknown} */
function callback() {
  if (behave === 'throw') throw new Error('the application is broken');
  return behave === 'hang' ? new Promise(() => {}) : undefined;
}

/** @param {ServeOrder} order */
async function createAgent({ mode, ears, mind, voice, model }) {
  const apiKey = 'test-key';
  if (mode === 'realtime') {
    const { OpenAIRealtime } = await load('providers/realtime/index.js');
    return { engine: new OpenAIRealtime({ apiKey, baseUrl: `${model}/v1` }) };
  }
  const { DeepgramSpeechToText } = await load('providers/stt/index.js');
  const { ChatCompletions } = await load('providers/llm/index.js');
  const { ElevenLabsTextToSpeech } = await load('providers/tts/index.js');
  return {
    stt: new DeepgramSpeechToText({ apiKey, baseUrl: ears }),
    llm: new ChatCompletions({ apiKey, baseUrl: `${mind}/v1` }),
    tts: new ElevenLabsTextToSpeech({ apiKey, baseUrl: voice }),
  };
}

/** @param {unknown} _fields @param {string} [sentence] */
const keep = (_fields, sentence = '') => void lines.set(sentence, (lines.get(sentence) ?? 0) + 1);

/** The agent of the kill trial, whose tools leave their traces with the parent. @param {string} effects */
async function talker(effects) {
  const { GREETING } = await import('./kills/conversation.mjs');
  const { toolsOf } = await import('./kills/effects.mjs');
  return { firstMessage: GREETING, tools: toolsOf(effects), turnTaking: { fillers: [] } };
}

/** For what would be without it: calls are taken whatever the load. */
async function blindLoadJudge() {
  const { LoadJudge } = await load('base/load-judge.js');
  Object.defineProperty(LoadJudge.prototype, 'isOverloaded', { get: () => false });
}

/** @param {ServeOrder} order */
async function serve(order) {
  if (order.isBlind) await blindLoadJudge();
  /** @type {typeof import('../../src/index.js')} */
  const { CarrierA, CarrierB, Offhook } = await load('index.js');
  const { CREDENTIALS, GREETING, OWN_NUMBER, PUBLIC_HOST } = await import('./numbers.mjs');
  const { accountSid, authToken, apiKey, connectionId } = CREDENTIALS;
  const baseUrl = order.simulator;
  const { publicKey } = order;
  const secretA = order.isOpen ? {} : { authToken };
  const secretB = order.isOpen || publicKey === undefined ? {} : { publicKey };
  const carrier =
    order.carrier === 'carrier-a'
      ? new CarrierA({ accountSid, baseUrl, ...secretA })
      : new CarrierB({ apiKey, connectionId, baseUrl, ...secretB });
  phone = new Offhook({ carrier, phoneNumber: OWN_NUMBER, webhookUrl: PUBLIC_HOST });
  const agent = phone.agent({
    systemPrompt: 'You answer for a bakery.',
    firstMessage: GREETING,
    transferTargets: { reception: '+15005550030' },
    ...(order.effects === undefined ? {} : await talker(order.effects)),
    .../** @type {any} */ (await createAgent(order)),
  });
  const { closed } = await phone.serve({
    agent,
    takeOver: order.takesOver === true,
    port: order.port,
    host: '127.0.0.1',
    manageWebhook: false,
    maxStreamsPerIp: 1000,
    drainSeconds: 3,
    dataDir: order.dataDir,
    logger: { debug() {}, info: keep, warn: keep, error: keep },
    onCallStart: ({ callId }) => {
      process.send?.({ type: 'started', callId });
      return callback();
    },
    onTranscript: callback,
    onMetrics: callback,
    onCallEnd: ({ callId }) => {
      process.send?.({ type: 'ended', callId });
      return /** @type {any} */ (callback());
    },
  });
  closed.then(() => {
    if (!isDisconnected) process.exit(0);
  });
}

/** What is left on an answering machine. */
async function message() {
  const { VOICEMAIL } = await import('./kills/conversation.mjs');
  return { voicemailMessage: VOICEMAIL };
}

/** @param {number} ms */
function stall(ms) {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** What this process holds, after a collection. */
async function figures() {
  const held = process.getActiveResourcesInfo().length;
  // What is about to go is there for a moment more: what stays is the least of several looks.
  let heapBytes = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round += 1) {
    globalThis.gc?.();
    heapBytes = Math.min(heapBytes, process.memoryUsage().heapUsed);
    await pause(100);
  }
  return { heapBytes, rssBytes: process.memoryUsage().rss, held, lines: [...lines] };
}

/** @param {Order} order @returns {Promise<unknown>} */
async function obey(order) {
  if (order.type === 'serve') return serve(order);
  if (order.type === 'load') {
    await Promise.all([...SERVED.map(load), createAgent(order.order)]);
    return undefined;
  }
  if (order.type === 'figures') return figures();
  if (order.type === 'callbacks') behave = order.behave;
  else if (order.type === 'stall') stall(order.ms);
  else if (order.type === 'disconnect') {
    isDisconnected = true;
    await phone?.disconnect();
  } else {
    try {
      await phone?.call({ to: order.to, ...(order.isMachine === true ? await message() : {}) });
    } catch (error) {
      return { code: /** @type {{ code?: string }} */ (error).code ?? 'without-code' };
    }
  }
  return undefined;
}

/** Without its parent it serves nobody. */
const leave = () => process.exit(1);
process.on('disconnect', leave);

process.on('message', (/** @type {{ id: number, order: Order }} */ { id, order }) => {
  obey(order).then(
    (answer) => {
      process.send?.({ type: 'answer', id, answer });
      // A server that holds nothing any more lets its process end by itself.
      if (order.type === 'disconnect') {
        process.off('disconnect', leave);
        process.disconnect();
      }
    },
    (error) => process.send?.({ type: 'failed', id, reason: String(error) }),
  );
});
