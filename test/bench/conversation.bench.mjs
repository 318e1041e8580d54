// Whole conversations through the server, against vendors' emulators with and without latencies of their own, and a bare relay with as
// many streams in the same run. Server, relay and callers are processes of their own: nobody's work is counted as another's.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { plotBars } from './plot.mjs';
import { toTable } from './table.mjs';

const CALLS = 50;
const RAMP_MS = 5000;
const MEASURE_MS = 24_000;
const RELAY_RAMP_MS = 1500;
const RELAY_MEASURE_MS = 5000;

/** Targets in milliseconds: our own share of an answer at three percentiles, and a clear. */
const TARGETS = { p50: 5, p95: 15, p99: 30, clear: 20 };

const SCENARIOS = [
  { name: 'vendors that answer at once', latencies: { sttMs: 0, llmMs: 0, ttsMs: 0 } },
  { name: 'vendors with latencies', latencies: { sttMs: 80, llmMs: 350, ttsMs: 120 } },
];

/** A process of the bench that answers each order once. @param {'subject' | 'callers'} name */
function start(name) {
  const path = fileURLToPath(new URL(`conversation/${name}.mjs`, import.meta.url));
  const child = fork(path, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { PATH: process.env.PATH ?? '' },
  });
  return {
    /** @param {object} order @returns {Promise<any>} */
    async ask(order) {
      child.send(order);
      const gone = once(child, 'exit').then(() => {
        throw new Error(`the process of the ${name} ended`);
      });
      gone.catch(() => {});
      const [answer] = await Promise.race([once(child, 'message'), gone]);
      return answer;
    },
    async end() {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Nearest-rank percentile. @param {readonly number[]} values @param {number} percent */
function percentile(values, percent) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

/** @typedef {{ calls: number, streams: 'call' | 'echo', rampMs: number, measureMs: number, latencies?: { sttMs: number, llmMs: number, ttsMs: number } }} Load */

/** Runs one load against a fresh server or relay. @param {Load} load */
async function measure({ calls, streams, rampMs, measureMs, latencies }) {
  const [subject, callers] = [start('subject'), start('callers')];
  try {
    const port = await freePort();
    const vendors = latencies === undefined ? {} : await callers.ask({ type: 'emulate', ...latencies });
    await subject.ask({ type: latencies === undefined ? 'relay' : 'serve', port, ...vendors });
    await callers.ask({ type: streams, url: `ws://127.0.0.1:${port}`, count: calls, rampMs });
    await subject.ask({ type: 'begin' });
    await callers.ask({ type: 'begin' });
    await pause(measureMs);
    const spent = await subject.ask({ type: 'end' });
    const heard = await callers.ask({ type: 'end' });
    return { ...spent, ...heard, cpuPerStream: spent.cpuMs / (spent.wallMs / 1000) / calls };
  } finally {
    await Promise.all([subject.end(), callers.end()]);
  }
}

/** @param {number} value */
const shown = (value) => (value < 10 ? value.toFixed(2) : value.toFixed(1));

/** @param {string} name @param {readonly number[]} values @param {readonly (number | undefined)[]} targets */
function row(name, values, targets) {
  const figures = [50, 95, 99].map((percent, index) => {
    const target = targets[index];
    const value = percentile(values, percent);
    return target === undefined ? shown(value) : `${shown(value)} (${target})`;
  });
  return [name, ...figures, String(values.length)];
}

/** What of an answer is ours: everything between the decision that the caller has finished and the first frame but the script of the vendors. @param {number[][]} turns @param {{ sttMs: number, llmMs: number, ttsMs: number }} latencies */
function ownShares(turns, { sttMs, llmMs, ttsMs }) {
  return turns.map(([, ...stages]) => stages.reduce((sum, ms) => sum + ms, 0) - sttMs - llmMs - ttsMs);
}

/** Prints the tables, and writes them with a plot to `folder`. @param {string} [folder] @param {string} [calls] */
export async function run(folder = 'docs/bench', calls = String(CALLS)) {
  const count = Number(calls);
  if (!Number.isInteger(count) || count < 1) throw new Error('usage: conversation [FOLDER] [CALLS]');
  const loadBefore = loadavg()[0] ?? 0;
  const started = Date.now();
  console.log(`relay, ${count} streams`);
  const relay = await measure({
    calls: count,
    streams: 'echo',
    rampMs: RELAY_RAMP_MS,
    measureMs: RELAY_MEASURE_MS,
  });
  const relayTrip = percentile(relay.roundTrips, 50);
  const parts = [
    '# Bench of the conversation',
    `Written by \`npm run bench -- conversation\`: ${count} calls at a time through the whole server on loopback, with the vendors’ emulators in a process of their own, on ${cpus().length} processors. Load average before the run: ${loadBefore.toFixed(2)}. Only the ratios travel.`,
    'Times are milliseconds, targets in brackets. The own share of an answer is the server’s own record from the end of endpointing to the first frame, less what the script of the vendors takes; the way to their process and back, and how late their timers are, are still in it. A clear is timed by the caller, from a key that is pressed into the answer to the message that empties the carrier’s queue: both ways are in it.',
  ];
  /** @type {{ label: string, value: number }[]} */
  const bars = [{ label: 'relay, there and back, p50', value: relayTrip }];
  for (const { name, latencies } of SCENARIOS) {
    console.log(`${count} calls, ${name}`);
    const measured = await measure({
      calls: count,
      streams: 'call',
      rampMs: RAMP_MS,
      measureMs: MEASURE_MS,
      latencies,
    });
    if (measured.violations.length > 0) throw new Error(`a vendor complained: ${measured.violations[0]}`);
    const shares = ownShares(measured.turns, latencies);
    const { p50, p95, p99, clear } = TARGETS;
    const timings = [
      row('own share of an answer', shares, [p50, p95, p99]),
      row('clear', measured.clears, [clear, clear, clear]),
      row('timers of the emulators, late', measured.timersLate, []),
      ...['stt', 'llm, first token', 'llm, first sentence', 'tts, first byte', 'send'].map((stage, index) =>
        row(
          `stage: ${stage}`,
          measured.turns.map((/** @type {number[]} */ turn) => turn[index + 1] ?? 0),
          [],
        ),
      ),
      row('relay, there and back', relay.roundTrips, []),
    ];
    const ratios = [
      [
        'own share of an answer, p50',
        shown(percentile(shares, 50)),
        shown(relayTrip),
        shown(percentile(shares, 50) / relayTrip),
      ],
      [
        'clear, p50',
        shown(percentile(measured.clears, 50)),
        shown(relayTrip),
        shown(percentile(measured.clears, 50) / relayTrip),
      ],
      [
        'CPU, ms per second and stream',
        shown(measured.cpuPerStream),
        shown(relay.cpuPerStream),
        shown(measured.cpuPerStream / relay.cpuPerStream),
      ],
    ];
    const script = `Scripted: speech-to-text ${latencies.sttMs}, first token ${latencies.llmMs}, first audio ${latencies.ttsMs}.`;
    const tables = [
      toTable(['', 'p50', 'p95', 'p99', 'samples'], timings, { numbersFrom: 1 }),
      toTable(['', 'offhook', 'relay', 'ratio'], ratios, { numbersFrom: 1 }),
    ];
    console.log(`\n${script}\n${tables.join('\n\n')}\n`);
    parts.push(`## ${name}`, script, ...tables);
    for (const [what, values] of /** @type {const} */ ([
      ['own share', shares],
      ['clear', measured.clears],
    ]))
      for (const percent of [50, 99])
        bars.push({
          label: `offhook: ${what}, p${percent}${latencies.llmMs > 0 ? ', latencies' : ''}`,
          value: Math.max(0.01, percentile(values, percent)),
        });
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'conversation.svg'),
    plotBars({ title: `${count} calls: milliseconds`, unit: 'ms', bars }),
  );
  parts.push('![own share, clear and relay](conversation.svg)');
  writeFileSync(join(folder, 'conversation.md'), `${parts.join('\n\n')}\n`);
  console.log(`${((Date.now() - started) / 1000).toFixed(0)} s; plot and tables: ${folder}`);
}
