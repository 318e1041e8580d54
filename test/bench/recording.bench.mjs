// What recording a call costs while it is up, and how fast its file is made after it: `npm run bench -- recording`.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { link, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { toTable } from './table.mjs';

const dist = new URL('../../dist/', import.meta.url);
/** @type {typeof import('../../src/recordings/tape.js')} */
const { diskFiles, PagePool, Tape } = await import(new URL('recordings/tape.js', dist).href);
/** @type {typeof import('../../src/recordings/encoder.js')} */
const { Encoder } = await import(new URL('recordings/encoder.js', dist).href);
/** @type {typeof import('../../src/base/clock.js')} */
const { systemClock } = await import(new URL('base/clock.js', dist).href);

const CALLS = 50;
const FRAME_MS = 20;
const FRAMES_A_FLUSH = 25;
const MINUTE_FRAMES = 3000;
const HOUR_MINUTES = 60;

/** @typedef {{ name: string, format: import('../../src/audio/format.js').AudioFormat, bytes: number, key: Uint8Array | undefined }} Line */

/** @typedef {{ p50: number, p99: number }} Lateness */

/** @type {readonly Line[]} */
export const LINES = [
  { name: 'G.711', format: { encoding: 'mulaw', sampleRateHz: 8000 }, bytes: 160, key: undefined },
  {
    name: 'G.711, encrypted',
    format: { encoding: 'mulaw', sampleRateHz: 8000 },
    bytes: 160,
    key: new Uint8Array(32),
  },
  { name: '16 kHz PCM', format: { encoding: 'pcm', sampleRateHz: 16_000 }, bytes: 640, key: undefined },
];

/** Writes that are under way. */
let writing = 0;
/** @type {import('../../src/recordings/tape.js').TapeFiles} */
const files = {
  ...diskFiles,
  async create(path) {
    writing += 1;
    try {
      return await diskFiles.create(path);
    } finally {
      // Whoever made it writes first.
      setImmediate(() => {
        writing -= 1;
      });
    }
  },
  write(fd, bytes, position, done) {
    writing += 1;
    diskFiles.write(fd, bytes, position, (error, written) => {
      writing -= 1;
      done(error, written);
    });
  },
};

/** @param {string} folder @param {Line} line @param {string} callId @param {InstanceType<typeof PagePool>} pages */
function openTape(folder, { format, key }, callId, pages) {
  const tape = new Tape({
    path: join(folder, callId),
    head: { callId, beganAt: 0 },
    key,
    pages,
    files,
    clock: systemClock,
    gaveUp(failure) {
      throw new Error(`the disk of this machine: ${failure}`);
    },
  });
  tape.line(format, format, 0);
  return tape;
}

/** Microseconds of CPU, of all threads. */
function cpuUs() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Frames of all calls, both sides. With `tapes` undefined, what remains is what the bench itself costs. @param {(InstanceType<typeof Tape> | undefined)[]} tapes @param {number} frames @param {number} bytes */
async function play(tapes, frames, bytes) {
  const frame = Buffer.alloc(bytes, 0x55);
  const before = cpuUs();
  for (let index = 0; index < frames; index += 1) {
    const atMs = index * FRAME_MS;
    for (const tape of tapes) {
      tape?.caller(frame, atMs + FRAME_MS);
      tape?.agent(frame, atMs);
    }
    if (index % FRAMES_A_FLUSH !== 0) continue;
    for (const tape of tapes) tape?.flush();
    // What a call has waiting stays as little as it is in real time.
    while (writing > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return (cpuUs() - before) / (frames * tapes.length * 2);
}

/** What one frame of one side costs, in microseconds of CPU of all threads, writes to disk included. @param {Line} line */
export async function measureFrames(line, frames = MINUTE_FRAMES) {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-bench-'));
  try {
    const pages = new PagePool();
    const tapes = Array.from({ length: CALLS }, (_, index) => openTape(folder, line, `call-${index}`, pages));
    /** @type {undefined[]} */
    const none = Array.from({ length: CALLS }, () => undefined);
    await play(tapes, FRAMES_A_FLUSH * 20, line.bytes);
    // By turns, so that what else runs on the machine falls on both.
    /** @type {number[]} */
    const costs = [];
    for (let round = 0; round < 5; round += 1) {
      const bare = await play(none, frames / 5, line.bytes);
      const taped = await play(tapes, frames / 5, line.bytes);
      costs.push(taped - bare);
    }
    for (const tape of tapes) tape.end(frames * FRAME_MS);
    await Promise.all(tapes.map(({ closed }) => closed));
    return costs.toSorted((one, other) => one - other)[2] ?? Number.NaN;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whatever flags the bench was started with. */
function gc() {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

/** Bytes that a call which is recorded has in memory beside one that is not. @param {Line} line */
export async function measureMemory(line) {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-bench-'));
  const used = () => {
    for (let round = 0; round < 3; round += 1) gc();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  try {
    const pages = new PagePool();
    const calls = 200;
    const before = used();
    const tapes = Array.from({ length: calls }, (_, index) => openTape(folder, line, `call-${index}`, pages));
    const frame = Buffer.alloc(line.bytes, 0x55);
    for (const tape of tapes)
      for (let index = 0; index < 8; index += 1) {
        tape.caller(frame, index * FRAME_MS);
        tape.agent(frame, index * FRAME_MS);
      }
    await new Promise((resolve) => setTimeout(resolve, 200));
    const bytes = (used() - before) / calls;
    for (const tape of tapes) tape.end(1000);
    await Promise.all(tapes.map(({ closed }) => closed));
    return bytes;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How many times faster than it was spoken a call becomes a file: by the time that it takes, and by CPU. @param {Line} line */
export async function measureEncoding(line, minutes = HOUR_MINUTES) {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-bench-'));
  const encoder = new Encoder(systemClock);
  try {
    const tape = openTape(folder, line, 'call', new PagePool());
    await play([tape], minutes * MINUTE_FRAMES, line.bytes);
    tape.end(minutes * 60_000);
    await tape.closed;
    const path = join(folder, 'call.wav');
    const job = {
      callId: 'call',
      tapes: [join(folder, 'call.1.tape')],
      path,
      part: `${path}.part`,
      key: line.key,
    };
    const [cpuBefore, before] = [cpuUs(), performance.now()];
    const result = await encoder.encode(job);
    const [tookMs, cpuMs] = [performance.now() - before, (cpuUs() - cpuBefore) / 1000];
    if (result?.durationMs === undefined) throw new Error(`not encoded: ${result?.trouble}`);
    return {
      times: result.durationMs / tookMs,
      cpuTimes: result.durationMs / cpuMs,
      bytes: statSync(path).size,
    };
  } finally {
    await encoder.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How late timers of 20 ms are in the thread of the calls, in milliseconds: median and 99th percentile. @param {number} forMs @returns {Promise<Lateness>} */
async function measureLateness(forMs) {
  /** @type {number[]} */
  const late = [];
  const startedAt = performance.now();
  for (let tick = 1; tick * FRAME_MS < forMs; tick += 1) {
    const dueAt = startedAt + tick * FRAME_MS;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueAt - performance.now())));
    late.push(Math.max(0, performance.now() - dueAt));
  }
  late.sort((one, other) => one - other);
  const at = (/** @type {number} */ share) => late[Math.floor(share * (late.length - 1))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/**
 * The same beside a thread that makes hours of calls into files, and without it, in turn: each is the median of its rounds. What made the tapes is
 * over by then.
 * @param {Line} line
 */
export async function measureBeside(line, { rounds = 7, forMs = 3000 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-bench-'));
  const encoder = new Encoder(systemClock);
  const master = join(folder, 'call.1.tape');
  const name = join(folder, 'hour.tape');
  const path = join(folder, 'hour.wav');
  const encodeHour = async () => {
    // It takes its tapes away.
    await link(master, name);
    const job = { callId: 'call', tapes: [name], path, part: `${path}.part`, key: line.key };
    const result = await encoder.encode(job);
    if (result?.durationMs === undefined) throw new Error(`not encoded: ${result?.trouble}`);
    await rm(path);
  };
  try {
    const tape = openTape(folder, line, 'call', new PagePool());
    await play([tape], HOUR_MINUTES * MINUTE_FRAMES, line.bytes);
    tape.end(HOUR_MINUTES * 60_000);
    await tape.closed;
    // The thread is there.
    await encodeHour();
    /** @type {{ bare: Lateness[], beside: Lateness[] }} */
    const measured = { bare: [], beside: [] };
    let hours = 0;
    for (let round = 0; round < rounds; round += 1) {
      measured.bare.push(await measureLateness(forMs));
      let isOver = false;
      const encoding = (async () => {
        for (; !isOver; hours += 1) await encodeHour();
      })();
      measured.beside.push(await measureLateness(forMs));
      isOver = true;
      await encoding;
    }
    return { bare: middleOf(measured.bare), beside: middleOf(measured.beside), hours };
  } finally {
    await encoder.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {readonly Lateness[]} rounds @returns {Lateness} */
function middleOf(rounds) {
  const middle = (/** @type {number[]} */ values) =>
    values.sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
  return { p50: middle(rounds.map(({ p50 }) => p50)), p99: middle(rounds.map(({ p99 }) => p99)) };
}

export async function run() {
  const rows = [];
  // Before there is anything that may be collected meanwhile.
  const memories = new Map();
  // What is compiled and pooled once is of no call.
  if (LINES[0] !== undefined) await measureMemory(LINES[0]);
  for (const line of LINES) memories.set(line, await measureMemory(line));
  for (const line of LINES) {
    const frame = await measureFrames(line);
    const memory = memories.get(line);
    const { times, cpuTimes, bytes } = await measureEncoding(line);
    rows.push([
      line.name,
      `${frame.toFixed(2)} us`,
      `${(memory / 1000).toFixed(1)} kB`,
      `${times.toFixed(0)}x`,
      `${cpuTimes.toFixed(0)}x`,
      `${(bytes / 1e6).toFixed(1)} MB`,
    ]);
  }
  console.log(toTable(['line', 'CPU a frame', 'memory a call', 'encoding', 'by CPU', 'an hour'], rows));
  const [line] = LINES;
  if (line === undefined) return;
  const { bare, beside, hours } = await measureBeside(line);
  console.log(
    toTable(
      ['timers of 20 ms', 'late, median', '99th percentile'],
      [
        ['alone', `${bare.p50.toFixed(2)} ms`, `${bare.p99.toFixed(2)} ms`],
        [
          `beside the encoding of ${hours} hours`,
          `${beside.p50.toFixed(2)} ms`,
          `${beside.p99.toFixed(2)} ms`,
        ],
      ],
    ),
  );
}
