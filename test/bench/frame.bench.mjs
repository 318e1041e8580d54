// The way of one frame: how many functions of how many files of the package are called for it, from the socket to the provider's and back.
// Counted by V8 while a call is up, so that what is printed is what runs.
import { Session } from 'node:inspector';
import { createServer } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { toTable } from './table.mjs';

const dist = new URL('../../dist/', import.meta.url);
/** @type {typeof import('../../src/index.js')} */
const { CarrierA, Offhook } = await import(new URL('index.js', dist).href);
/** @type {typeof import('../../src/providers/realtime/index.js')} */
const { OpenAIRealtime } = await import(new URL('providers/realtime/index.js', dist).href);

const FRAMES = 500;
const WARM_UP_FRAMES = 250;
const FRAME_MS = 20;
const SILENCE = Buffer.alloc(160, 0xff).toString('base64');
const FREE = { perAudioMinute: 0 };

/** A recognizer that discards what it hears, a model and a voice that are never asked. */
const DEAF_AGENT = {
  stt: {
    kind: /** @type {const} */ ('stt'),
    name: 'bench/sink',
    price: FREE,
    open: () => ({ pushAudio() {}, finishUtterance() {}, close() {} }),
  },
  llm: {
    kind: /** @type {const} */ ('llm'),
    name: 'bench/none',
    price: { inputPerMillionTokens: 0, outputPerMillionTokens: 0 },
    async *respond() {},
  },
  tts: {
    kind: /** @type {const} */ ('tts'),
    name: 'bench/none',
    price: { perThousandCharacters: 0 },
    open: () => ({
      async *synthesize() {
        yield new Int16Array(16_000).fill(1000);
      },
      close() {},
    }),
  },
};

/** A realtime service that takes all audio; with `echoes` it says each piece of it. @param {{ echoes: boolean }} options */
async function openService({ echoes }) {
  const http = createServer();
  const server = new WebSocketServer({ server: http });
  server.on('connection', (socket) => {
    socket.send(JSON.stringify({ type: 'session.created', session: { id: 's' } }));
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString());
      if (message.type === 'session.update')
        socket.send(JSON.stringify({ type: 'session.updated', session: {} }));
      if (message.type !== 'input_audio_buffer.append' || !echoes) return;
      const ids = { response_id: 'r', item_id: 'i', output_index: 0, content_index: 0 };
      socket.send(JSON.stringify({ type: 'response.output_audio.delta', ...ids, delta: message.audio }));
    });
  });
  const port = await listen(http);
  return { port, close: () => closeAll(server, http) };
}

/** @param {import('node:http').Server} http @returns {Promise<number>} */
function listen(http) {
  return new Promise((resolve) => {
    http.listen(0, '127.0.0.1', () => {
      const address = http.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

async function freePort() {
  const http = createServer();
  const port = await listen(http);
  await new Promise((resolve) => http.close(resolve));
  return port;
}

/** @param {WebSocketServer} server @param {import('node:http').Server} http */
function closeAll(server, http) {
  for (const client of server.clients) client.terminate();
  server.close();
  http.close();
}

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Calls by file and function while `task` runs. @param {() => Promise<void>} task */
async function countCalls(task) {
  const session = new Session();
  session.connect();
  /** @type {(method: string, params?: object) => Promise<any>} */
  const post = (method, params) =>
    new Promise((resolve, reject) => {
      session.post(method, params, (error, result) => (error === null ? resolve(result) : reject(error)));
    });
  await post('Profiler.enable');
  await post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await post('Profiler.takePreciseCoverage');
  await task();
  const { result } = await post('Profiler.takePreciseCoverage');
  await post('Profiler.stopPreciseCoverage');
  session.disconnect();
  /** @type {{ file: string, name: string, count: number }[]} */
  const calls = [];
  for (const { url, functions } of result) {
    if (!url.startsWith(dist.href)) continue;
    for (const { functionName, ranges } of functions)
      calls.push({ file: url.slice(dist.href.length), name: functionName, count: ranges[0].count });
  }
  return calls;
}

/** @param {FrameKind} kind */
async function measure({ agent, echoes }) {
  const service = await openService({ echoes });
  const phone = new Offhook({
    carrier: new CarrierA(),
    phoneNumber: '+15550100002',
    webhookUrl: 'voice.example.com',
  });
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const port = await freePort();
  await phone.serve({
    agent: phone.agent({ systemPrompt: 'bench', idle: false, .../** @type {any} */ (agent(service.port)) }),
    port,
    host: '127.0.0.1',
    manageWebhook: false,
    dashboardUrl: false,
    dataDir: false,
    logger: silent,
  });
  const caller = new WebSocket(
    `ws://127.0.0.1:${port}/ws/stream/CA1?caller=%2B15550100001&callee=%2B15550100002`,
  );
  await new Promise((resolve) => caller.once('open', resolve));
  caller.on('message', (data) => {
    const message = JSON.parse(data.toString());
    if (message.event === 'mark') caller.send(JSON.stringify({ ...message, sequenceNumber: '1' }));
  });
  const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
  caller.send(JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }));
  caller.send(
    JSON.stringify({
      event: 'start',
      streamSid: 'MZ1',
      start: { streamSid: 'MZ1', callSid: 'CA1', mediaFormat },
    }),
  );
  let sent = 0;
  /** @param {number} frames */
  const speak = async (frames) => {
    for (let frame = 0; frame < frames; frame += 1) {
      sent += 1;
      const media = {
        track: 'inbound',
        chunk: String(sent),
        timestamp: String(sent * FRAME_MS),
        payload: SILENCE,
      };
      caller.send(JSON.stringify({ event: 'media', sequenceNumber: String(sent), media, streamSid: 'MZ1' }));
      await pause(FRAME_MS);
    }
  };
  try {
    await pause(300);
    await speak(WARM_UP_FRAMES);
    return await countCalls(() => speak(FRAMES));
  } finally {
    caller.terminate();
    await phone.disconnect();
    service.close();
  }
}

/** @param {number} port */
const realtime = (port) => ({
  engine: new OpenAIRealtime({
    apiKey: 'bench',
    baseUrl: `http://127.0.0.1:${port}/v1`,
    service: 'bench',
    transcription: false,
  }),
});

/** @typedef {{ name: string, agent: (port: number) => object, echoes: boolean }} FrameKind */

export const KINDS = {
  realtime: { name: 'realtime model, a silent frame of the caller', agent: realtime, echoes: false },
  echo: { name: 'realtime model, a frame each way', agent: realtime, echoes: true },
  pipeline: { name: 'pipeline, a silent frame of the caller', agent: () => DEAF_AGENT, echoes: false },
};

/** The functions that are called for most frames, in how many files they are, and how many calls a frame takes. @param {FrameKind} kind */
export async function measureFrame(kind) {
  const functions = (await measure(kind)).filter(({ count }) => count >= FRAMES / 2);
  const files = new Set(functions.map(({ file }) => file)).size;
  return { functions, files, calls: functions.reduce((sum, { count }) => sum + count, 0) / FRAMES };
}

/** @param {string} [detail] `calls` lists the functions, too. */
export async function run(detail) {
  const rows = [];
  for (const kind of Object.values(KINDS)) {
    const { functions, files, calls } = await measureFrame(kind);
    rows.push([kind.name, String(files), calls.toFixed(1)]);
    if (detail !== 'calls') continue;
    console.log(`\n${kind.name}`);
    for (const { file, name, count } of functions.toSorted((a, b) => b.count - a.count))
      console.log(`${(count / FRAMES).toFixed(2).padStart(6)}  ${name || '(anonymous)'}  ${file}`);
  }
  console.log(toTable(['a frame', 'files', 'calls'], rows));
}
