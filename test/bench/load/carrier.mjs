// Carrier A with so many calls at once, as a process: each call has a stream of its own and brings a frame every 20 ms. Its one argument is
// the plan as JSON; it prints what the server took for it, as JSON.
import { performance } from 'node:perf_hooks';
import { WebSocket } from 'ws';
import { sliceBehind, textOf } from './bare-server.mjs';
import { quantile, readMachine, readProcess, residentKb } from './proc.mjs';
import { pause } from './processes.mjs';

/**
 * `callers`: all silence, or every fifth frame a tone, by which a frame is known that comes back. `helpers`: process ids of services that
 * belong to the bench.
 * @typedef {{ port: number, calls: number, callers: 'tones' | 'silence', settleMs: number, warmUpMs: number, measureMs: number, server: number, helpers: readonly number[] }} CarrierPlan
 */

/** @type {CarrierPlan} */
const plan = JSON.parse(process.argv[2] ?? '');

const FRAME_MS = 20;
const FRAME_BYTES = 160;
const BYTES_PER_MS = FRAME_BYTES / FRAME_MS;
const TONE_EVERY = 5;
const TONES = 8;
/** Calls that connect at once. No more come until so long after they are open: a server that has just begun cannot keep up with all of them, and what comes late then waits at the carrier for the rest of the call. */
const BATCH = 10;
const BETWEEN_MS = 100;

const SILENCE = Buffer.alloc(FRAME_BYTES, 0xff).toString('base64');
/** Frames that differ from each other, loud enough to be heard as sound. A square wave needs no table. */
const TONE_FRAMES = Array.from({ length: TONES }, (_, tone) =>
  Buffer.from(
    Array.from({ length: FRAME_BYTES }, (_, sample) =>
      Math.floor((sample * (tone + 2)) / 40) % 2 === 0 ? 0x94 : 0x14,
    ),
  ).toString('base64'),
);
const toneOf = new Map(TONE_FRAMES.map((frame, tone) => [frame, tone]));

const counts = { sent: 0, bytesBack: 0, clears: 0, lost: 0, refused: 0 };
/** @type {number[]} */
const roundTripsMs = [];
/** How late frames were sent. @type {number[]} */
const lagsMs = [];
let isMeasuring = false;
let isOver = false;

class Call {
  #id;
  #streamSid;
  #socket;
  #sent = 0;
  /** When each tone was sent; undefined when it has come back. @type {(number | undefined)[]} */
  #tonesSentAt = [];
  #playedUntil = 0;
  /** @type {{ text: string, at: number }[]} */
  #marks = [];

  /** @param {number} index */
  constructor(index) {
    const digits = index.toString(16).padStart(32, '0');
    this.#id = `CA${digits}`;
    this.#streamSid = `MZ${digits}`;
    const target = `ws://127.0.0.1:${plan.port}/ws/stream/${this.#id}`;
    this.#socket = new WebSocket(`${target}?caller=%2B15550100001&callee=%2B15550100002`, {
      perMessageDeflate: false,
      // Without work: what the mask costs here would be taken from the servers' processors.
      generateMask: (mask) => void mask.fill(0),
    });
  }

  /** Resolves when the stream has begun, or was refused. */
  open() {
    const socket = this.#socket;
    return new Promise((resolve) => {
      let isOpen = false;
      socket.on('open', () => {
        isOpen = true;
        this.#begin();
        resolve(undefined);
      });
      // Every error is followed by a close.
      socket.on('error', () => {});
      socket.on('close', () => {
        if (!isOver) counts[isOpen ? 'lost' : 'refused'] += 1;
        resolve(undefined);
      });
      socket.on('message', (data) => this.#take(textOf(data)));
    });
  }

  /** @param {number} dueAt */
  sendFrame(dueAt) {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const now = performance.now();
    const index = this.#sent;
    let payload = SILENCE;
    if (plan.callers === 'tones' && index % TONE_EVERY === 0) {
      const tone = (index / TONE_EVERY) % TONES;
      payload = TONE_FRAMES[tone] ?? SILENCE;
      this.#tonesSentAt[tone] = now;
    }
    this.#sent += 1;
    this.#socket.send(
      `{"event":"media","sequenceNumber":"${index + 2}","media":{"track":"inbound","chunk":"${index + 1}","timestamp":"${index * FRAME_MS}","payload":"${payload}"},"streamSid":"${this.#streamSid}"}`,
    );
    if (isMeasuring) {
      counts.sent += 1;
      lagsMs.push(now - dueAt);
    }
    this.#answerMarks(now);
  }

  hangUp() {
    this.#socket.terminate();
  }

  #begin() {
    const [streamSid, callSid] = [this.#streamSid, this.#id];
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
    const customParameters = { caller: '+15550100001', callee: '+15550100002' };
    const start = { streamSid, callSid, tracks: ['inbound'], mediaFormat, customParameters };
    this.#socket.send(JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }));
    this.#socket.send(JSON.stringify({ event: 'start', sequenceNumber: '1', start, streamSid }));
  }

  /** @param {string} text */
  #take(text) {
    const now = performance.now();
    const payload = sliceBehind(text, '"payload":"');
    if (payload === undefined) {
      this.#takeOther(text, now);
      return;
    }
    const bytes = Buffer.byteLength(payload, 'base64');
    this.#playedUntil = Math.max(now, this.#playedUntil) + bytes / BYTES_PER_MS;
    if (isMeasuring) counts.bytesBack += bytes;
    const tone = toneOf.get(payload);
    if (tone === undefined) return;
    const sentAt = this.#tonesSentAt[tone];
    this.#tonesSentAt[tone] = undefined;
    if (isMeasuring && sentAt !== undefined) roundTripsMs.push(now - sentAt);
  }

  /** @param {string} text @param {number} now */
  #takeOther(text, now) {
    const { event, mark } = JSON.parse(text);
    if (event === 'clear') {
      if (isMeasuring) counts.clears += 1;
      this.#playedUntil = now;
      for (const each of this.#marks) each.at = now;
    }
    if (event !== 'mark') return;
    const answer = { event: 'mark', sequenceNumber: '1', mark, streamSid: this.#streamSid };
    this.#marks.push({ text: JSON.stringify(answer), at: this.#playedUntil });
  }

  /** @param {number} now */
  #answerMarks(now) {
    while ((this.#marks[0]?.at ?? Number.POSITIVE_INFINITY) <= now) {
      const { text } = /** @type {{ text: string }} */ (this.#marks.shift());
      this.#socket.send(text);
    }
  }
}

/** Of the server, of this process and the other helpers, and of the machine, at one moment. */
function look() {
  const server = readProcess(plan.server);
  const ownMs = [process.pid, ...plan.helpers].map((pid) => readProcess(pid).cpuMs);
  const benchMs = ownMs.reduce((sum, ms) => sum + ms, server.cpuMs);
  return { at: performance.now(), server, carrierMs: ownMs[0] ?? 0, benchMs, machine: readMachine() };
}

const idleKb = residentKb(plan.server);
const beganAt = performance.now();
let turn = 0;
/** @type {Call[]} */
const calls = [];
/**
 * The calls take turns, so that their frames are spread over the 20 ms. After a standstill no more than a round is made good at once: what
 * comes back is to be taken, too.
 */
const timer = setInterval(() => {
  for (let sent = 0; sent < plan.calls; sent += 1) {
    const dueAt = beganAt + (turn * FRAME_MS) / plan.calls;
    if (dueAt > performance.now()) return;
    calls[turn % plan.calls]?.sendFrame(dueAt);
    turn += 1;
  }
}, 1);
while (calls.length < plan.calls) {
  const batch = Array.from(
    { length: Math.min(BATCH, plan.calls - calls.length) },
    (_, offset) => new Call(calls.length + offset),
  );
  calls.push(...batch);
  await Promise.all(batch.map((call) => call.open()));
  await pause(BETWEEN_MS);
}
await pause(plan.settleMs);
await pause(plan.warmUpMs);
const before = look();
isMeasuring = true;
await pause(plan.measureMs);
isMeasuring = false;
const after = look();
const busyKb = residentKb(plan.server);
isOver = true;
clearInterval(timer);
for (const call of calls) call.hangUp();

const wallMs = after.at - before.at;
const machineMs = after.machine.allMs - before.machine.allMs;
const othersMs = after.machine.busyMs - before.machine.busyMs - (after.benchMs - before.benchMs);
const figures = {
  ...counts,
  framesBack: counts.bytesBack / FRAME_BYTES,
  cpuMs: after.server.cpuMs - before.server.cpuMs,
  reads: after.server.reads - before.server.reads,
  /** Of the measured time. */
  queuedShare: (after.server.queuedMs - before.server.queuedMs) / wallMs,
  carrierShare: (after.carrierMs - before.carrierMs) / wallMs,
  /** Of all processors: what was neither the server nor the bench. */
  othersShare: Math.max(0, othersMs / machineMs),
  kbPerCall: (busyKb - idleKb) / calls.length,
  roundTripP50Ms: quantile(roundTripsMs, 0.5),
  roundTripP99Ms: quantile(roundTripsMs, 0.99),
  lagP99Ms: quantile(lagsMs, 0.99),
};
/** @typedef {typeof figures} CarrierFigures */
process.stdout.write(JSON.stringify(figures), () => process.exit(0));
