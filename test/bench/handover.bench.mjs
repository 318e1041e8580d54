// What a caller hears of a deploy: 50 calls go from one server to the next, beside a bare server that asks the carrier for new streams and
// does nothing else. `npm run bench -- handover [FOLDER]` prints the report, and writes handover.md into the folder where one is named.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OWN_NUMBER } from '../trials/numbers.mjs';
import { freePort, openWorld, pause, SERVERS, startSimulator } from '../trials/world.mjs';
import { toTable } from './table.mjs';

/** @typedef {import('../../src/testing/index.js').CarrierSimulator} CarrierSimulator */
/** @typedef {import('../../src/testing/index.js').SimulatedLeg} SimulatedLeg */
/** @typedef {(typeof SERVERS)[number]['carrier']} CarrierId */

const CALLS = 50;
/** As the server replaces streams. */
const AT_ONCE = 4;
const RING_EVERY_MS = 60;
const PATIENCE_MS = 60_000;
const LOOK_MS = 50;
/** Greetings are over, and nobody speaks. */
const SETTLE_MS = 6000;
const BARE = fileURLToPath(new URL('handover/bare-switch.mjs', import.meta.url));

/** @param {string} what @param {() => boolean | Promise<boolean>} isSo */
async function until(what, isSo) {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`${what} did not come in ${PATIENCE_MS} ms`);
    await pause(LOOK_MS);
  }
}

/** @param {SimulatedLeg} leg */
const streamsOf = (leg) => leg.reports.filter(({ end }) => end !== undefined || !leg.isOver).length;

/** Callers who listen until they are told to hang up. @param {CarrierSimulator} simulator */
async function ringAll(simulator) {
  const over = new AbortController();
  /** @type {Promise<import('../../src/testing/index.js').CallReport>[]} */
  const calls = [];
  for (let index = 0; index < CALLS; index += 1) {
    const from = `+1500557${String(index).padStart(4, '0')}`;
    /** @type {import('../../src/testing/index.js').CallerStep[]} */
    const script = [
      { type: 'wait-until', signal: over.signal, timeoutMs: 10 * PATIENCE_MS },
      { type: 'hang-up' },
    ];
    calls.push(simulator.call({ from, to: OWN_NUMBER, script, maxDurationMs: 10 * PATIENCE_MS }));
    await pause(RING_EVERY_MS);
  }
  await until('every stream', () => simulator.legs.every((leg) => streamsOf(leg) > 0));
  await pause(SETTLE_MS);
  return {
    async hangUp() {
      over.abort();
      return Promise.all(calls);
    },
  };
}

/** Milliseconds without a stream, by call. @param {CarrierSimulator} simulator */
function gapsOf(simulator) {
  return simulator.legs.map(({ reports }) => {
    const [first, second] = reports;
    if (first === undefined || second === undefined || reports.length > 2) return Number.NaN;
    return second.startedAt - (first.startedAt + (first.durationMs ?? Number.NaN));
  });
}

/** @param {CarrierId} carrier */
async function measureFloor(carrier) {
  const port = await freePort();
  const simulator = await startSimulator(carrier, port);
  const child = fork(BARE, [carrier, String(port), simulator.url], { execArgv: [] });
  try {
    await once(child, 'message');
    const callers = await ringAll(simulator);
    child.send({ atOnce: AT_ONCE });
    await once(child, 'message');
    await pause(SETTLE_MS);
    await callers.hangUp();
    return gapsOf(simulator);
  } finally {
    child.disconnect();
    await simulator.close();
  }
}

/** The gaps, and what was lost on the way. @param {(typeof SERVERS)[number]} plan */
async function measureHandover(plan) {
  const world = await openWorld([{ ...plan, isBlind: true }], { isFronted: true });
  const [exchange] = world.exchanges;
  if (exchange === undefined) throw new Error('no server');
  const { phone, simulator } = exchange;
  try {
    await phone.prepare();
    const callers = await ringAll(simulator);
    await phone.deploy(PATIENCE_MS);
    await pause(SETTLE_MS);
    const reports = await callers.hangUp();
    await until('every end', async () => (await phone.get('/active')).calls.length === 0);
    const records = await phone.records();
    const isWhole = (/** @type {import('../../src/index.js').CallRecord} */ record) =>
      record.term === 2 &&
      record.endReason === 'caller-hangup' &&
      record.incidents.every(({ code }) => code === 'process-replaced');
    const broken = [
      ...phone.crashes,
      ...reports.flatMap(({ protocolErrors }) => protocolErrors.map(String)),
      ...records
        .filter((record) => !isWhole(record))
        .map(
          ({ callId, term, endReason, incidents }) =>
            `${callId}: term ${term}, ${endReason}, ${incidents.map(({ code }) => code)}`,
        ),
    ];
    if (records.length !== CALLS) broken.push(`${records.length} of ${CALLS} records`);
    return { gaps: gapsOf(simulator), broken };
  } finally {
    await world.close();
  }
}

/** @param {readonly number[]} gaps */
function figuresOf(gaps) {
  const sorted = gaps.filter(Number.isFinite).toSorted((one, other) => one - other);
  const at = (/** @type {number} */ share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), max: at(1), moved: sorted.length };
}

/** @param {string} [folder] where the report is written; without one it is only printed */
export async function run(folder) {
  const load = loadavg()[0]?.toFixed(2);
  /** @type {string[][]} */
  const rows = [];
  /** @type {string[]} */
  const broken = [];
  /** @type {Map<CarrierId, ReturnType<typeof figuresOf>>} */
  const floors = new Map();
  const tell = (
    /** @type {string} */ what,
    /** @type {ReturnType<typeof figuresOf>} */ figures,
    over = '',
  ) => {
    const { p50, p95, max, moved } = figures;
    rows.push([what, String(moved), p50.toFixed(0), p95.toFixed(0), max.toFixed(0), over]);
    console.log(rows.at(-1)?.join(' · '));
  };
  for (const plan of SERVERS) {
    const { carrier, mode } = plan;
    const floor = floors.get(carrier) ?? figuresOf(await measureFloor(carrier));
    if (!floors.has(carrier)) tell(`${carrier}, bare server`, floor);
    floors.set(carrier, floor);
    const { gaps, broken: lost } = await measureHandover(plan);
    const figures = figuresOf(gaps);
    tell(`${carrier}, ${mode}`, figures, (figures.p95 - floor.p95).toFixed(0));
    broken.push(...lost.map((each) => `${carrier}, ${mode}: ${each}`));
  }
  const report = [
    '# Bench of a handover',
    `Written by \`npm run bench -- handover docs/bench\` with Node ${process.version}. Load average before the run: ${load}. ${CALLS} calls in which nobody speaks go from one server to the next. The bare server keeps its calls: it asks the carrier for the next stream of each, ${AT_ONCE} at a time, as offhook does, and does nothing else (\`test/bench/handover/bare-switch.mjs\`).`,
    'Milliseconds without a stream, as the simulated carrier sees it:',
    toTable(['server', 'calls moved', 'p50', 'p95', 'max', 'p95 over the bare server'], rows, {
      numbersFrom: 1,
    }),
    broken.length === 0
      ? 'Each call ended in one record, with no other incident, as the caller hung up.'
      : `**Broken:**\n\n${broken.map((each) => `- ${each}`).join('\n')}`,
  ].join('\n\n');
  console.log(report);
  if (broken.length > 0) process.exitCode = 1;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'handover.md'), `${report}\n`);
}
