// The process that is measured: a phone server, or a bare relay that sends every message back. Told what to do by its parent.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { QueueLog } from './queueing.mjs';

const dist = new URL('../../../dist/', import.meta.url);

/** @typedef {{ type: 'serve', port: number, ears: string, mind: string, voice: string } | { type: 'relay', port: number } | { type: 'begin' } | { type: 'end' }} Order */

/** Stages of turns that were answered, and when the first frame left. @type {{ stages: number[], at: number }[]} */
const turns = [];
/** When the answer that is being given began, by call. @type {Map<string, number>} */
const answeredAt = new Map();
let cpu = process.cpuUsage();
const queue = new QueueLog();
let since = performance.now();

/** Latencies of turns in the order of the stages, as the server's own record has them. @param {{ callId: string, turn: import('../../../src/index.js').Turn }} metrics */
function keep({ callId, turn: { latency } }) {
  const { endpointingMs, sttMs, llmFirstTokenMs, sentenceMs, ttsFirstByteMs, sendMs } = latency;
  const stages = [endpointingMs, sttMs, llmFirstTokenMs, sentenceMs, ttsFirstByteMs, sendMs];
  const at = answeredAt.get(callId);
  if (at !== undefined && stages.every((stage) => stage !== null)) turns.push({ stages, at });
}

/** @param {Extract<Order, { type: 'serve' }>} order */
async function serve({ port, ears, mind, voice }) {
  /** @type {typeof import('../../../src/index.js')} */
  const { CarrierA, Offhook } = await import(new URL('index.js', dist).href);
  /** @type {typeof import('../../../src/providers/stt/index.js')} */
  const { DeepgramSpeechToText } = await import(new URL('providers/stt/index.js', dist).href);
  /** @type {typeof import('../../../src/providers/llm/index.js')} */
  const { ChatCompletions } = await import(new URL('providers/llm/index.js', dist).href);
  /** @type {typeof import('../../../src/providers/tts/index.js')} */
  const { ElevenLabsTextToSpeech } = await import(new URL('providers/tts/index.js', dist).href);
  const key = { apiKey: 'test-key' };
  const phone = new Offhook({
    carrier: new CarrierA({ accountSid: `AC${'0'.repeat(32)}` }),
    phoneNumber: '+15005550010',
  });
  await phone.serve({
    agent: phone.agent({
      systemPrompt: 'You answer for a bakery.',
      stt: new DeepgramSpeechToText({ ...key, baseUrl: ears }),
      llm: new ChatCompletions({ ...key, baseUrl: `${mind}/v1` }),
      tts: new ElevenLabsTextToSpeech({ ...key, baseUrl: voice }),
    }),
    port,
    host: '127.0.0.1',
    maxStreamsPerIp: 1000,
    drainSeconds: 1,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    onTranscript: ({ callId, role, at }) => role === 'agent' && answeredAt.set(callId, at),
    onMetrics: keep,
  });
}

/** @param {number} port */
async function relay(port) {
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on('connection', (socket) => {
    socket.on('message', (data) => socket.send(String(data)));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

process.on('message', async (/** @type {Order} */ order) => {
  if (order.type === 'serve') await serve(order);
  else if (order.type === 'relay') await relay(order.port);
  else if (order.type === 'begin') {
    turns.length = 0;
    cpu = process.cpuUsage();
    queue.begin();
    since = performance.now();
  } else {
    const { user, system } = process.cpuUsage(cpu);
    const wallMs = performance.now() - since;
    process.send?.({ turns, cpuMs: (user + system) / 1000, queue: queue.end(), wallMs });
    return;
  }
  process.send?.('done');
});
