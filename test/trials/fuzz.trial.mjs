// Fuzzing the doors: real requests and media messages, mutated, against servers with and without a secret, while a well-behaved caller
// rings again and again. Nothing may end a process, be answered with an error of ours, or be heard in that caller's call.
import { once } from 'node:events';
import { connect } from 'node:net';
import WebSocket from 'ws';
import { createDice, openWorld, pause, Verdict } from './world.mjs';

const SECONDS = 60;
const CLIENTS = 12;
const ANSWER_MS = 4000;
const MESSAGES_PER_STREAM = 60;
/** Memory that may be added while all of this is thrown at a server. */
const GROWN_BYTES = 150_000_000;

/** @typedef {import('./world.mjs').Dice} Dice */
/** @typedef {{ http: number, streams: number, messages: number, statuses: Map<string, number>, faults: string[] }} Tally */

const BODY_A =
  'AccountSid=AC0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a&ApiVersion=2010-04-01&CallSid=CA0123456789abcdef0123456789abcdef&CallStatus=ringing&Called=%2B15005550010&Caller=%2B15005550020&Direction=inbound&From=%2B15005550020&To=%2B15005550010';
const BODY_B = JSON.stringify({
  data: {
    event_type: 'call.initiated',
    id: '0ccc7b54-4df3-4bca-a65a-3da1ecc777f0',
    occurred_at: '2026-01-02T22:25:27.521992Z',
    payload: {
      call_control_id: 'v3:T02llQxIyaRkhfRKxgAP8nY511EhFLizdvdUKJiSw8d6A9BborherQ',
      call_leg_id: '428c31b6-7af4-4bcb-b7f5-5013ef9657c1',
      call_session_id: '428c31b6-abf3-3bc1-b7f4-5013ef9657c1',
      client_state: null,
      connection_id: '1700000000000000001',
      direction: 'incoming',
      from: '+15005550020',
      state: 'parked',
      to: '+15005550010',
    },
    record_type: 'event',
  },
  meta: { attempt: 1, delivered_to: 'https://voice.example.com/webhooks/carrier-b/voice' },
});

/** @type {readonly { method: string, path: string, type?: string, body?: string }[]} */
const REQUESTS = [
  ...['voice', 'status', 'recording', 'amd'].map((name) => ({
    method: 'POST',
    path: `/webhooks/carrier-a/${name}`,
    type: 'application/x-www-form-urlencoded',
    body: `${BODY_A}&CallDuration=12&RecordingUrl=https%3A%2F%2Fx.example%2Fr&AnsweredBy=human`,
  })),
  { method: 'POST', path: '/webhooks/carrier-b/voice', type: 'application/json', body: BODY_B },
  ...[
    'hangup',
    'answered',
    'bridged',
    'dtmf.received',
    'machine.detection.ended',
    'cost',
    'recording.saved',
  ].map((event) => ({
    method: 'POST',
    path: '/webhooks/carrier-b/voice',
    type: 'application/json',
    body: BODY_B.replace('call.initiated', `call.${event}`),
  })),
  {
    method: 'POST',
    path: '/webhooks/carrier-b/voice',
    type: 'application/json',
    body: BODY_B.replace('call.initiated', 'streaming.failed'),
  },
  {
    method: 'GET',
    path: '/api/dashboard/calls?limit=50&status=completed&q=%2B1500&from=0&to=99999999999999',
  },
  { method: 'GET', path: '/api/dashboard/calls/some-call' },
  { method: 'GET', path: '/api/dashboard/aggregates?from=1' },
  { method: 'GET', path: '/api/dashboard/export/calls?format=csv' },
  { method: 'POST', path: '/api/dashboard/calls/x/hangup', type: 'application/json', body: '{}' },
  {
    method: 'POST',
    path: '/api/dashboard/calls/x/transfer',
    type: 'application/json',
    body: '{"to":"+15005550030"}',
  },
  {
    method: 'POST',
    path: '/api/dashboard/ingest',
    type: 'application/json',
    body: '{"nodeId":"a","epoch":"b","calls":[]}',
  },
  { method: 'GET', path: '/?token=abc' },
  { method: 'GET', path: '/metrics' },
  { method: 'GET', path: '/health' },
];

const SILENCE = Buffer.alloc(160, 0xff).toString('base64');
const STREAM = 'MZ0123456789abcdef0123456789abcdef';

/** Messages of a media stream by carrier. @type {Readonly<Record<'carrier-a' | 'carrier-b', readonly object[]>>} */
const MESSAGES = {
  'carrier-a': [
    { event: 'connected', protocol: 'Call', version: '1.0.0' },
    {
      event: 'start',
      sequenceNumber: '1',
      streamSid: STREAM,
      start: {
        ...{
          accountSid: `AC${'0a'.repeat(16)}`,
          streamSid: STREAM,
          callSid: 'CA0123456789abcdef0123456789abcdef',
        },
        ...{ tracks: ['inbound'], customParameters: { caller: '+15005550020', callee: '+15005550010' } },
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      },
    },
    {
      event: 'media',
      sequenceNumber: '2',
      streamSid: STREAM,
      media: { track: 'inbound', chunk: '1', timestamp: '20', payload: SILENCE },
    },
    { event: 'dtmf', streamSid: STREAM, sequenceNumber: '5', dtmf: { track: 'inbound_track', digit: '5' } },
    { event: 'mark', sequenceNumber: '6', streamSid: STREAM, mark: { name: 'm1' } },
    { event: 'spoken-text', streamSid: STREAM, spokenText: { id: 's1', text: 'Hello', final: true } },
    {
      event: 'stop',
      sequenceNumber: '9',
      streamSid: STREAM,
      stop: { callSid: 'CA0123456789abcdef0123456789abcdef' },
    },
  ],
  'carrier-b': [
    { event: 'connected', version: '1.0.0' },
    {
      event: 'start',
      sequence_number: '1',
      stream_id: STREAM,
      start: {
        ...{ user_id: 'u', call_control_id: 'v3:T02llQxIyaRkhfRKxgAP8nY511EhFLizdvdUKJiSw8d6A9BborherQ' },
        media_format: { encoding: 'PCMU', sample_rate: 8000, channels: 1 },
      },
    },
    {
      event: 'media',
      sequence_number: '2',
      stream_id: STREAM,
      media: { track: 'inbound', chunk: '1', timestamp: '20', payload: SILENCE },
    },
    {
      event: 'dtmf',
      stream_id: STREAM,
      occurred_at: '2026-01-02T22:25:27Z',
      sequence_number: '5',
      dtmf: { digit: '5' },
    },
    { event: 'mark', stream_id: STREAM, sequence_number: '6', mark: { name: 'm1' } },
    { event: 'error', stream_id: STREAM, payload: { code: 100_003, title: 'malformed_frame', detail: 'x' } },
    { event: 'stop', sequence_number: '9', stream_id: STREAM, stop: { call_control_id: 'v3:x' } },
  ],
};

const ODD_VALUES = [
  null,
  true,
  -1,
  0,
  1e99,
  Number.NaN,
  '',
  ' ',
  '\u0000',
  '__proto__',
  [],
  {},
  [[[]]],
  'x'.repeat(70_000),
  '+'.repeat(500),
  '\ud800',
  '../../etc',
  '%00',
  '=1+1',
  '<script>',
];

/** Changes a value somewhere inside. @param {any} value @param {Dice} dice @returns {any} */
function mutateValue(value, dice) {
  if (value === null || typeof value !== 'object' || dice.random() < 0.15) return dice.pick(ODD_VALUES);
  const keys = Object.keys(value);
  if (keys.length === 0) return dice.pick(ODD_VALUES);
  const key = dice.pick(keys);
  const copy = Array.isArray(value) ? [...value] : { ...value };
  const how = dice.random();
  if (how < 0.15) delete copy[key];
  else if (how < 0.25) copy[dice.pick(['constructor', '__proto__', 'toString', 'x'.repeat(300)])] = copy[key];
  else copy[key] = mutateValue(value[key], dice);
  return copy;
}

/** Changes bytes somewhere. @param {string} text @param {Dice} dice */
function mutateBytes(text, dice) {
  const bytes = Buffer.from(text, 'utf8');
  for (let count = dice.between(1, 6); count > 0; count -= 1) {
    const at = dice.between(0, Math.max(0, bytes.length - 1));
    const how = dice.random();
    if (how < 0.5) bytes[at] = dice.between(0, 255);
    else if (how < 0.75) bytes.copyWithin(at, dice.between(0, Math.max(0, bytes.length - 1)));
    else
      return Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from(dice.pick(['\r\n', '%', '"', '\u0000', '{"a":', 'é', '&&==', '+'.repeat(999)])),
        bytes.subarray(at),
      ]);
  }
  return bytes;
}

/** @param {typeof REQUESTS[number]} request @param {Dice} dice @returns {Buffer} */
function encodeRequest({ method, path, type, body = '' }, dice) {
  const isJson = type === 'application/json' && dice.random() < 0.5;
  const sent = isJson
    ? Buffer.from(JSON.stringify(mutateValue(JSON.parse(body), dice)) ?? '')
    : dice.random() < 0.7
      ? mutateBytes(body, dice)
      : Buffer.from(body);
  const target =
    dice.random() < 0.3
      ? mutateBytes(path, dice)
          .toString('latin1')
          .replace(/[\r\n ]/g, '%')
      : path;
  const length = dice.random() < 0.05 ? dice.pick([0, 1, sent.length + 7, 10 ** 15]) : sent.length;
  const head = [
    `${dice.random() < 0.05 ? dice.pick(['PUT', 'TRACE', 'OPTIONS', 'x', 'DELETE']) : method} ${target} HTTP/1.1`,
    `Host: ${dice.random() < 0.1 ? dice.pick(['', 'evil.example', '[::1', 'a b', 'x'.repeat(5000)]) : 'voice.example.com'}`,
    'Connection: close',
    ...(type === undefined
      ? []
      : [
          `Content-Type: ${dice.random() < 0.1 ? dice.pick(['text/plain', 'application/json; charset=utf-7', ';;', 'multipart/form-data']) : type}`,
        ]),
    ...(dice.random() < 0.3
      ? [`X-CarrierA-Signature: ${dice.pick(['', 'AAAA', 'x'.repeat(3000), '=', 'ä'])}`]
      : []),
    ...(dice.random() < 0.3
      ? [`X-Forwarded-For: ${dice.pick(['', '::', '1.2.3.4, 5.6.7.8', ','.repeat(300), 'x'])}`]
      : []),
    ...(dice.random() < 0.2 ? [`Content-Encoding: ${dice.pick(['gzip', 'br', 'identity', 'x'])}`] : []),
    ...(dice.random() < 0.2 ? [`Cookie: ${dice.pick(['a', '=;=;', 'offhook=%', 'x='.repeat(500)])}`] : []),
    ...(dice.random() < 0.2
      ? [`Authorization: ${dice.pick(['Bearer', 'Bearer x', 'Basic Og==', 'x'.repeat(900)])}`]
      : []),
    ...(dice.random() < 0.2 ? [`Last-Event-ID: ${dice.pick(['', '-1', 'a-b', '9'.repeat(400)])}`] : []),
    ...(method === 'POST' ? [`Content-Length: ${length}`] : []),
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), sent]);
}

/** Sends bytes and reads the status of the answer; undefined when the connection was closed without one, or nothing came. @param {string} url @param {Buffer} bytes */
async function exchange(url, bytes) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(bytes);
  const first = await Promise.race([
    once(socket, 'data').then(
      ([data]) => String(data).slice(0, 400),
      () => '',
    ),
    once(socket, 'close').then(
      () => '',
      () => '',
    ),
    pause(ANSWER_MS).then(() => ''),
  ]);
  socket.destroy();
  return /^HTTP\/1\.1 (\d{3})/.exec(first)?.[1];
}

/** @param {string} url @param {Dice} dice @param {Tally} tally */
async function fuzzRequest(url, dice, tally) {
  const request = dice.pick(REQUESTS);
  const bytes = encodeRequest(request, dice);
  const status = (await exchange(url, bytes)) ?? 'none';
  tally.http += 1;
  tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
  if (status.startsWith('5') && status !== '503' && status !== '501')
    tally.faults.push(`${status} for ${bytes.subarray(0, 300).toString('latin1')}`);
}

/** @param {WebSocket} socket @param {'carrier-a' | 'carrier-b'} carrier @param {Dice} dice @param {Tally} tally */
async function sendMessages(socket, carrier, dice, tally) {
  const messages = MESSAGES[carrier];
  const isPolite = dice.random() < 0.7;
  if (isPolite) for (const message of messages.slice(0, 2)) socket.send(JSON.stringify(message));
  for (let count = 0; count < MESSAGES_PER_STREAM && socket.readyState === WebSocket.OPEN; count += 1) {
    const message = dice.random() < 0.5 ? messages[2] : dice.pick(messages.slice(0, -1));
    const how = dice.random();
    tally.messages += 1;
    if (how < 0.3) socket.send(JSON.stringify(message));
    else if (how < 0.6) socket.send(JSON.stringify(mutateValue(message, dice)) ?? 'null');
    else if (how < 0.85) socket.send(mutateBytes(JSON.stringify(message), dice).toString('utf8'));
    else if (how < 0.9) socket.send(mutateBytes(JSON.stringify(message), dice));
    else if (how < 0.93) socket.ping(Buffer.alloc(dice.between(0, 125)));
    else if (how < 0.96) {
      const text = JSON.stringify(message);
      socket.send(text.slice(0, 20), { fin: false });
      socket.send(text.slice(20), { fin: true });
    } else await pause(dice.between(1, 30));
  }
  if (dice.random() < 0.3) socket.send(JSON.stringify(messages.at(-1)));
  if (dice.random() < 0.3) socket.terminate();
  else socket.close(dice.pick([1000, 1001, 3000, 4999]));
}

/** @param {import('./world.mjs').Exchange} exchange @param {Dice} dice @param {Tally} tally */
async function fuzzStream({ phone, simulator }, dice, tally) {
  const id =
    dice.random() < 0.5
      ? dice.word()
      : dice.pick(['%2e%2e', '%00', 'a/b/c', '', 'x'.repeat(2000), '%zz', 'constructor', '__proto__']);
  const query = dice.pick([
    '?caller=%2B15005550020&callee=%2B15005550010',
    '',
    '?caller=%',
    `?caller=${'9'.repeat(3000)}`,
    '?caller=a&caller=b',
  ]);
  /** @type {WebSocket} */
  let socket;
  try {
    socket = new WebSocket(`${phone.url.replace('http', 'ws')}/ws/stream/${id}${query}`);
  } catch {
    return;
  }
  socket.on('error', () => {});
  const isOpen = await Promise.race([
    once(socket, 'open').then(
      () => true,
      () => false,
    ),
    once(socket, 'close').then(
      () => false,
      () => false,
    ),
    pause(ANSWER_MS).then(() => false),
  ]);
  tally.streams += 1;
  if (!isOpen) return socket.terminate();
  // Bytes that are no frames of a WebSocket.
  const raw = /** @type {any} */ (socket)._socket;
  if (dice.random() < 0.2) raw?.write(Buffer.from(Array.from({ length: 40 }, () => dice.between(0, 255))));
  await sendMessages(socket, simulator.carrier, dice, tally);
  await Promise.race([once(socket, 'close').catch(() => {}), pause(500)]);
  socket.terminate();
}

/** Rings again and again, undisturbed. @param {import('./world.mjs').Exchange} exchange @param {Dice} dice @param {number} until */
async function ringOn({ phone, simulator }, dice, until) {
  /** @type {string[]} */
  const broken = [];
  let calls = 0;
  while (Date.now() < until) {
    const word = dice.word();
    const waits = /** @type {const} */ ({ type: 'wait-for-agent', quietMs: 500, timeoutMs: 15_000 });
    const says = /** @type {const} */ ({ type: 'say', text: `I am ${word}.` });
    const report = await simulator.call({ script: [waits, says, waits, { type: 'hang-up' }] });
    calls += 1;
    const record = await phone
      .get(`/calls/${encodeURIComponent(report.carrierCallId)}`)
      .catch(() => undefined);
    const texts = JSON.stringify(record?.transcript ?? '').toLowerCase();
    if (!report.ok)
      broken.push(`${phone.name}: ${report.answer.reason ?? report.protocolErrors[0]?.sentence ?? 'not ok'}`);
    else if (texts.split(word).length < 3)
      broken.push(`${phone.name}: ${word} was not heard and answered: ${texts.slice(0, 300)}`);
  }
  return { calls, broken };
}

/** @param {{ seed: number, seconds?: number }} options */
export async function run({ seed, seconds = SECONDS }) {
  const verdict = new Verdict();
  const world = await openWorld([
    { carrier: 'carrier-a', mode: 'pipeline', isOpen: true },
    { carrier: 'carrier-b', mode: 'pipeline', isOpen: true },
    { carrier: 'carrier-a', mode: 'realtime' },
    { carrier: 'carrier-b', mode: 'realtime' },
  ]);
  const { exchanges } = world;
  try {
    const until = Date.now() + seconds * 1000;
    console.log(
      `${CLIENTS} clients that send nonsense, beside one caller for each of ${exchanges.length} servers, for ${seconds} s …`,
    );
    const before = await Promise.all(exchanges.map(({ phone }) => phone.ask({ type: 'figures' })));
    /** @type {Tally} */
    const tally = { http: 0, streams: 0, messages: 0, statuses: new Map(), faults: [] };
    const clients = Array.from({ length: CLIENTS }, async (_, index) => {
      const dice = createDice(seed + index);
      while (Date.now() < until) {
        const target = dice.pick(exchanges);
        if (dice.random() < 0.7) await fuzzRequest(target.phone.url, dice, tally);
        else await fuzzStream(target, dice, tally);
      }
    });
    const callers = exchanges.map((target, index) => ringOn(target, createDice(seed + 100 + index), until));
    await Promise.all(clients);
    const rung = await Promise.all(callers);
    await pause(2000);
    const after = await Promise.all(exchanges.map(({ phone }) => phone.ask({ type: 'figures' })));
    verdict.check(
      'no process ended',
      exchanges.flatMap(({ phone }) => phone.crashes),
    );
    verdict.check('no answer says that the server is at fault', tally.faults);
    verdict.check(
      'the callers beside it were heard and answered',
      rung.flatMap(({ broken }) => broken),
    );
    verdict.check(
      'memory stays within bounds',
      exchanges.flatMap(({ phone }, index) => {
        const grown = after[index].heapBytes - before[index].heapBytes;
        return grown < GROWN_BYTES ? [] : [`${phone.name}: ${(grown / 1e6).toFixed(0)} MB more`];
      }),
    );
    const statuses = [...tally.statuses]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([status, count]) => `${status}: ${count}`);
    console.log(
      `${tally.http} requests (${statuses.join(', ')}), ${tally.streams} streams with ${tally.messages} messages, ${rung.reduce((sum, { calls }) => sum + calls, 0)} calls beside them`,
    );
    const gone = await Promise.all(exchanges.map(({ phone }) => phone.leave(5000)));
    verdict.check(
      'after disconnect() the process ends by itself',
      exchanges.filter((_, index) => !gone[index]).map(({ phone }) => phone.name),
    );
  } finally {
    await world.close();
  }
  return verdict;
}
