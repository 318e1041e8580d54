// Whole conversations through the server, against vendors' emulators with and without latencies of their own, and a bare relay with as
// many streams in the same run. Server, relay and callers are processes of their own: nobody's work is counted as another's.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { queuedBetween, queuedInAll } from './conversation/queueing.mjs';
import { plotBars } from './plot.mjs';
import { toTable } from './table.mjs';

const CALLS = 50;
const RAMP_MS = 8000;
const MEASURE_MS = 20_000;
/** A measurement during which the processes stood in the queue for longer is one of the machine. */
const UNDISTURBED_MS = 1;
/** What was left undone in a stall is made up for behind it. */
const LOOK_BACK_MS = 250;
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
    const seconds = spent.wallMs / 1000;
    return {
      ...spent,
      ...heard,
      cpuPerStream: spent.cpuMs / seconds / calls,
      queueing: [spent.queue, heard.callersQueue].map((queue) => queuedInAll(queue) / seconds),
    };
  } finally {
    await Promise.all([subject.end(), callers.end()]);
  }
}

/** What was not measured is no number. @param {number} value */
const shown = (value) => (Number.isNaN(value) ? '-' : value < 10 ? value.toFixed(2) : value.toFixed(1));

/** @param {string} name @param {readonly number[]} values @param {readonly (number | undefined)[]} targets */
function row(name, values, targets) {
  const figures = [5, 50, 95, 99].map((percent, index) => {
    const target = targets[index - 1];
    const value = percentile(values, percent);
    return target === undefined ? shown(value) : `${shown(value)} (${target})`;
  });
  return [name, ...figures, String(values.length)];
}

/** @typedef {{ ms: number, isUndisturbed: boolean }} Timing */

/** Sums up what was measured, each with whether somebody else held the processors meanwhile. @param {any} measured @param {{ sttMs: number, llmMs: number, ttsMs: number }} latencies */
function timingsOf({ turns, clears, queue, callersQueue }, { sttMs, llmMs, ttsMs }) {
  const isUndisturbed = (/** @type {number} */ from, /** @type {number} */ to) =>
    [queue, callersQueue].every(
      (samples) => queuedBetween(samples, from - LOOK_BACK_MS, to) < UNDISTURBED_MS,
    );
  /** What of an answer is ours: all between the decision that the caller has finished and the first frame but the script of the vendors. @type {Timing[]} */
  const shares = turns.map(
    (/** @type {{ stages: number[], at: number }} */ { stages: [, ...stages], at }) => {
      const waitedMs = stages.reduce((sum, ms) => sum + ms, 0);
      return {
        ms: waitedMs - sttMs - llmMs - ttsMs,
        isUndisturbed: isUndisturbed(at - waitedMs - 1, at + 1),
      };
    },
  );
  /** @type {Timing[]} */
  const cleared = clears.map((/** @type {{ tookMs: number, at: number }} */ { tookMs, at }) => ({
    ms: tookMs,
    isUndisturbed: isUndisturbed(at - tookMs, at),
  }));
  return { shares, cleared };
}

/** @param {readonly Timing[]} timings @param {{ undisturbed?: boolean }} [options] */
const msOf = (timings, { undisturbed = false } = {}) =>
  timings.filter(({ isUndisturbed }) => isUndisturbed || !undisturbed).map(({ ms }) => ms);

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
    'Times are milliseconds, targets in brackets. The own share of an answer is the server’s own record from the end of endpointing to the first frame, less what the script of the vendors takes; the way to their process and back, and how late their timers are, are still in it. Undisturbed is what was measured while, and for a quarter of a second before, neither process stood in the queue for a processor for more than a millisecond: only others on the machine can make it do that. A clear is timed by the caller, from a key that is pressed into the answer to the message that empties the carrier’s queue: both ways are in it.',
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
    const { shares, cleared } = timingsOf(measured, latencies);
    const [share, cut] = [msOf(shares), msOf(cleared)];
    const undisturbed = {
      share: msOf(shares, { undisturbed: true }),
      cut: msOf(cleared, { undisturbed: true }),
    };
    const { p50, p95, p99, clear } = TARGETS;
    const timings = [
      row('own share of an answer', share, [p50, p95, p99]),
      row('own share, undisturbed', undisturbed.share, [p50, p95, p99]),
      row('clear', cut, [clear, clear, clear]),
      row('clear, undisturbed', undisturbed.cut, [clear, clear, clear]),
      row('timers of the emulators, late', measured.timersLate, []),
      ...['stt', 'llm, first token', 'llm, first sentence', 'tts, first byte', 'send'].map((stage, index) =>
        row(
          `stage: ${stage}`,
          measured.turns.map((/** @type {{ stages: number[] }} */ { stages }) => stages[index + 1] ?? 0),
          [],
        ),
      ),
      row('relay, there and back', relay.roundTrips, []),
    ];
    const ratios = [
      [
        'own share of an answer, p50',
        shown(percentile(share, 50)),
        shown(relayTrip),
        shown(percentile(share, 50) / relayTrip),
      ],
      ['clear, p50', shown(percentile(cut, 50)), shown(relayTrip), shown(percentile(cut, 50) / relayTrip)],
      [
        'CPU, ms per second and stream',
        shown(measured.cpuPerStream),
        shown(relay.cpuPerStream),
        shown(measured.cpuPerStream / relay.cpuPerStream),
      ],
    ];
    const { sttMs, llmMs, ttsMs } = latencies;
    const script = `Scripted: speech-to-text ${sttMs}, first token ${llmMs}, first audio ${ttsMs}. In every second the server stood ${shown(measured.queueing[0])} ms in the queue for a processor, and callers and vendors ${shown(measured.queueing[1])}: others were using the machine (the relay: ${shown(relay.queueing[0])}).`;
    const tables = [
      toTable(['', 'p5', 'p50', 'p95', 'p99', 'samples'], timings, { numbersFrom: 1 }),
      toTable(['', 'offhook', 'relay', 'ratio'], ratios, { numbersFrom: 1 }),
    ];
    console.log(`\n${script}\n${tables.join('\n\n')}\n`);
    parts.push(`## ${name}`, script, ...tables);
    for (const [what, values] of /** @type {const} */ ([
      ['own share', share],
      ['clear', cut],
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
    plotBars({
      title: `${count} calls: milliseconds`,
      unit: 'ms',
      bars: bars.filter(({ value }) => Number.isFinite(value)),
    }),
  );
  parts.push('![own share, clear and relay](conversation.svg)');
  writeFileSync(join(folder, 'conversation.md'), `${parts.join('\n\n')}\n`);
  console.log(`${((Date.now() - started) / 1000).toFixed(0)} s; plot and tables: ${folder}`);
}
