// The other process: everybody whom the measured one talks to. Callers with their media streams, and the vendors' emulators.
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { epochMs, QueueLog } from './queueing.mjs';

const dist = new URL('../../../dist/', import.meta.url);
/** @type {typeof import('../../../src/testing/index.js')} */
const { emulateChatCompletions, emulateDeepgram, emulateElevenLabs, makeSpeechTones } = await import(
  new URL('testing/index.js', dist).href
);
/** @type {typeof import('../../../src/transcoder/index.js')} */
const { transcoder } = await import(new URL('transcoder/index.js', dist).href);

const FRAME_MS = 20;
const FRAME_SAMPLES = 160;
const SPEECH_MS = 1200;
/** The agent's answer is talked over by a key after this much. */
const KEY_AFTER_MS = 700;
/** Quiet for so long, the agent has finished. */
const QUIET_MS = 400;
/** Callers are moved on so often, each only when a frame of its own is due. */
const TICK_MS = 2;

/** @param {Int16Array} samples */
function toPayloads(samples) {
  const bytes = Buffer.from(transcoder.mulawEncode(samples));
  return Array.from({ length: Math.floor(bytes.length / FRAME_SAMPLES) }, (_, index) =>
    bytes.subarray(index * FRAME_SAMPLES, (index + 1) * FRAME_SAMPLES).toString('base64'),
  );
}

const SPEECH = toPayloads(makeSpeechTones(SPEECH_MS));
const SILENCE = toPayloads(new Int16Array(FRAME_SAMPLES))[0] ?? '';

/** What was measured here, in milliseconds. */
const clears = /** @type {{ tookMs: number, at: number }[]} */ ([]);
const roundTrips = /** @type {number[]} */ ([]);
const timersLate = /** @type {number[]} */ ([]);
let isMeasuring = false;
const queue = new QueueLog();

/** @template T @param {T[]} list @param {T} value */
const keep = (list, value) => isMeasuring && list.push(value);

/** @typedef {{ sttMs: number, llmMs: number, ttsMs: number }} Latencies */

/** A clock for the emulators that tells how late its timers were: their script counts, not that. */
const clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  /** @param {number} delayMs @param {() => void} task */
  after(delayMs, task) {
    const dueAt = performance.now() + delayMs;
    const handle = setTimeout(() => {
      if (delayMs < 1000) keep(timersLate, performance.now() - dueAt);
      task();
    }, delayMs);
    return { cancel: () => clearTimeout(handle) };
  },
};

/** @param {Latencies} latencies */
async function emulate({ sttMs, llmMs, ttsMs }) {
  // Text that is still open when silence has ended the turn, so that the recognizer's latency is part of it.
  const ears = await emulateDeepgram({
    utterances: () => Array.from({ length: 100 }, () => 'please help me order'),
    pauseMs: 2000,
    clock,
  });
  ears.troubles = { delayMs: sttMs };
  const mind = await emulateChatCompletions({
    replies: (body) => {
      const last = body.messages.findLast(({ role }) => role === 'user')?.content ?? '';
      const text = last.includes('order')
        ? 'Yes, I can help with that order. Which day suits you best?'
        : 'Noted.';
      return { text, firstTokenMs: llmMs };
    },
    clock,
  });
  const voice = await emulateElevenLabs({ firstAudioMs: ttsMs, clock });
  return { ears, mind, voice };
}

/** One caller: speaks, hears the answer begin, presses a key into it, hears what is said to that, and begins again. */
class Caller {
  /** @param {string} url @param {number} index */
  constructor(url, index) {
    this.id = `bench-${index}-${Math.random().toString(36).slice(2)}`;
    this.socket = new WebSocket(`${url}/ws/stream/${this.id}`, { perMessageDeflate: false });
    this.dueAt = 0;
    /** @type {'silent' | 'speaking' | 'waiting' | 'hearing' | 'keyed' | 'answered'} */
    this.state = 'silent';
    this.since = 0;
    this.frame = 0;
    this.keyedAt = 0;
    this.playedUntil = 0;
    /** @type {{ name: string, timer: NodeJS.Timeout }[]} */
    this.marks = [];
  }

  async begin() {
    await once(this.socket, 'open');
    this.socket.on('message', (data) => this.hear(String(data)));
    this.send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    const parties = { caller: '+15005550020', callee: '+15005550010' };
    this.send({
      event: 'start',
      streamSid: `MZ${this.id}`,
      start: {
        streamSid: `MZ${this.id}`,
        callSid: `CA${this.id}`,
        accountSid: `AC${'0'.repeat(32)}`,
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
        customParameters: parties,
      },
    });
    this.dueAt = performance.now();
    this.since = this.dueAt;
  }

  /** @param {object} message */
  send(message) {
    this.socket.send(JSON.stringify({ streamSid: `MZ${this.id}`, ...message }));
  }

  /** @param {number} now */
  speak(now) {
    while (this.dueAt <= now) {
      this.dueAt += FRAME_MS;
      const isSpeaking = this.state === 'speaking';
      const payload = isSpeaking ? (SPEECH[this.frame] ?? SILENCE) : SILENCE;
      this.frame += 1;
      this.send({ event: 'media', media: { track: 'inbound', payload } });
      if (isSpeaking && this.frame >= SPEECH.length) this.enter('waiting', now);
    }
    const isQuiet = now > this.playedUntil + QUIET_MS;
    if (this.state === 'silent' && now > this.since + 500) this.enter('speaking', now);
    else if (this.state === 'hearing' && now > this.since + KEY_AFTER_MS) {
      this.enter('keyed', now);
      this.keyedAt = performance.now();
      this.send({ event: 'dtmf', dtmf: { track: 'inbound_track', digit: '5' } });
    } else if (this.state === 'answered' && isQuiet) this.enter('silent', now);
    // A call in which something went wrong takes a fresh turn.
    else if (now > this.since + 12_000) this.enter('silent', now);
  }

  /** @param {Caller['state']} state @param {number} now */
  enter(state, now) {
    this.state = state;
    this.since = now;
    this.frame = 0;
  }

  /** @param {string} text */
  hear(text) {
    const now = performance.now();
    const message = JSON.parse(text);
    if (message.event === 'media') {
      this.playedUntil = Math.max(now, this.playedUntil) + FRAME_MS;
      if (this.state === 'waiting') this.enter('hearing', now);
      else if (this.state === 'keyed' && this.keyedAt === 0) this.enter('answered', now);
    } else if (message.event === 'mark') {
      const { name } = message.mark;
      const timer = setTimeout(() => this.echo(name), Math.max(0, this.playedUntil - now));
      this.marks.push({ name, timer });
    } else if (message.event === 'clear') {
      if (this.keyedAt !== 0) keep(clears, { tookMs: now - this.keyedAt, at: epochMs() });
      this.keyedAt = 0;
      this.playedUntil = now;
      for (const { name, timer } of this.marks.splice(0)) {
        clearTimeout(timer);
        this.send({ event: 'mark', mark: { name } });
      }
    }
  }

  /** @param {string} name */
  echo(name) {
    this.marks = this.marks.filter((mark) => mark.name !== name);
    if (this.socket.readyState === WebSocket.OPEN) this.send({ event: 'mark', mark: { name } });
  }

  end() {
    for (const { timer } of this.marks) clearTimeout(timer);
    this.socket.close();
  }
}

/** A stream through the relay: frames as large as those of a call, and the time that each takes there and back. */
class Echo {
  /** @param {string} url */
  constructor(url) {
    this.socket = new WebSocket(url, { perMessageDeflate: false });
    this.dueAt = 0;
  }

  async begin() {
    await once(this.socket, 'open');
    this.socket.on('message', (data) => keep(roundTrips, performance.now() - JSON.parse(String(data)).at));
    this.dueAt = performance.now();
  }

  /** @param {number} now */
  speak(now) {
    while (this.dueAt <= now) {
      this.dueAt += FRAME_MS;
      this.socket.send(
        JSON.stringify({ event: 'media', at: performance.now(), media: { payload: SILENCE } }),
      );
    }
  }

  end() {
    this.socket.close();
  }
}

/** @type {(Caller | Echo)[]} */
const streams = [];
/** @type {NodeJS.Timeout | undefined} */
let ticking;
/** @type {Awaited<ReturnType<typeof emulate>> | undefined} */
let vendors;

/** Brings streams up one after the other, and their frames spread evenly over 20 ms. @param {(index: number) => Caller | Echo} create @param {{ count: number, rampMs: number }} how */
async function ramp(create, { count, rampMs }) {
  const tick = () => {
    const now = performance.now();
    for (const stream of streams) stream.speak(now);
    ticking = setTimeout(tick, TICK_MS);
  };
  tick();
  for (let index = 0; index < count; index += 1) {
    const stream = create(index);
    await stream.begin();
    streams.push(stream);
    await new Promise((resolve) => setTimeout(resolve, rampMs / count));
  }
}

/** @typedef {{ type: 'emulate' } & Latencies | { type: 'call' | 'echo', url: string, count: number, rampMs: number } | { type: 'begin' } | { type: 'end' }} Order */

process.on('message', async (/** @type {Order} */ order) => {
  if (order.type === 'emulate') {
    vendors = await emulate(order);
    const { ears, mind, voice } = vendors;
    process.send?.({ ears: ears.url, mind: mind.url, voice: voice.url });
    return;
  }
  if (order.type === 'call') await ramp((index) => new Caller(order.url, index), order);
  else if (order.type === 'echo') await ramp(() => new Echo(order.url), order);
  else if (order.type === 'begin') {
    for (const list of [clears, roundTrips, timersLate]) list.length = 0;
    isMeasuring = true;
    queue.begin();
  } else {
    isMeasuring = false;
    clearTimeout(ticking);
    for (const stream of streams) stream.end();
    const { ears, mind, voice } = vendors ?? {};
    const violations = [ears, mind, voice].flatMap((emulator) => emulator?.violations ?? []);
    process.send?.({ clears, roundTrips, timersLate, violations, callersQueue: queue.end() });
    return;
  }
  process.send?.('done');
});
