// What a cluster costs: the same calls on three servers that are one, and on three that do not know of each other; the broker; and a webhook that came to
// another server. `npm run bench -- cluster [FOLDER]` prints the report, and writes cluster.md into the folder where one is named.
import { fork } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CREDENTIALS, OWN_NUMBER, PUBLIC_HOST } from '../trials/numbers.mjs';
import { Broker } from '../trials/outages/broker.mjs';
import { freePort, pause, startSimulator } from '../trials/world.mjs';
import { median, quantile, readMachine, readProcess } from './load/proc.mjs';
import { toTable } from './table.mjs';
import { HOST, RingingCarrier, SECRET } from './webhook/carrier.mjs';

const SERVERS = 3;
const CALLS_OF_A_SERVER = 12;
const ROUNDS = 5;
const RING_EVERY_MS = 60;
const WARM_UP_MS = 6000;
const MEASURE_MS = 20_000;
const SETTLE_MS = 15_000;
const IDLE_MS = 10_000;
const JOIN_MS = 2500;
const TURNS = 20;
/** Webhooks to each server, one after the other. */
const RINGS = 1000;
const CLUSTER_SECRET = 'a secret of thirty-two bytes, or more';
const CHILD = fileURLToPath(new URL('cluster/server.mjs', import.meta.url));
/** A machine that did so much else meanwhile is not fit to judge. */
const OTHERS_SHARE = 0.1;

/** @typedef {{ cpuMs: number, idleMs: number, brokerMs: number, writtenBytes: number, readBytes: number, answered: number, othersShare: number }} Measured Per call and second, but for what is of a server: `idleMs`, before any call. */

/** Servers, as one cluster where a broker is named. @param {{ credentials: object, host: string, broker?: Broker | undefined, ports: readonly number[] }} plan */
async function startServers({ credentials, host, broker, ports }) {
  const children = ports.map((port) => {
    const address = `http://127.0.0.1:${port}`;
    const cluster = broker && {
      url: `redis://127.0.0.1:${broker.port}`,
      name: 'bench',
      secret: CLUSTER_SECRET,
      address,
    };
    const settings = { credentials, number: OWN_NUMBER, host, serve: { port, ...(cluster && { cluster }) } };
    return fork(CHILD, [JSON.stringify(settings)], { execArgv: [] });
  });
  await Promise.all(children.map((child) => once(child, 'message')));
  return {
    pids: children.map(({ pid }) => pid ?? 0),
    async stop() {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
    },
  };
}

/** @param {readonly number[]} pids */
const cpuOf = (pids) => pids.reduce((sum, pid) => sum + readProcess(pid).cpuMs, 0);

/** Bytes that the broker got and gave. @param {Broker} broker */
async function trafficOf(broker) {
  const info = String(await broker.ask('INFO', 'stats'));
  const numberOf = (/** @type {string} */ name) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
  return { in: numberOf('total_net_input_bytes'), out: numberOf('total_net_output_bytes') };
}

/** Servers with or without a cluster, and a carrier for each: no call has to be passed on. @param {{ isCluster: boolean }} side */
async function startSide({ isCluster }) {
  const broker = isCluster ? await Broker.start(await freePort()) : undefined;
  const ports = await Promise.all(Array.from({ length: SERVERS }, freePort));
  const simulators = await Promise.all(
    ports.map((port) => startSimulator('carrier-a', port, { disturbances: {} })),
  );
  /** @type {Awaited<ReturnType<typeof startServers>>[]} */
  const servers = [];
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await Promise.all(simulators.map((simulator) => simulator.close()));
    await broker?.close();
  };
  try {
    for (const [index, port] of ports.entries()) {
      const { accountSid, authToken } = CREDENTIALS;
      const credentials = { accountSid, authToken, baseUrl: simulators[index]?.url };
      servers.push(await startServers({ credentials, host: PUBLIC_HOST, broker, ports: [port] }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const pids = servers.flatMap((server) => server.pids);
  const look = async () => ({
    at: performance.now(),
    cpuMs: cpuOf(pids),
    brokerMs: broker === undefined ? 0 : cpuOf([broker.pid]),
    traffic: broker === undefined ? { in: 0, out: 0 } : await trafficOf(broker),
  });
  return { simulators, look, stop };
}

/** The same calls with and without a cluster, beside each other: what else the machine does strikes both. @returns {Promise<{ alone: Measured, cluster: Measured }>} */
async function measureCalls() {
  const [alone, cluster] = await Promise.all([
    startSide({ isCluster: false }),
    startSide({ isCluster: true }),
  ]);
  const sides = [alone, cluster];
  const look = async () => ({
    sides: [await alone.look(), await cluster.look()],
    ownMs: cpuOf([process.pid]),
    machine: readMachine(),
  });
  try {
    // What a start leaves to be done is not what an idle server does.
    await pause(SETTLE_MS);
    const idleFrom = await look();
    await pause(IDLE_MS);
    const idleTo = await look();
    const over = new AbortController();
    setMaxListeners(0, over.signal);
    const calls = [];
    for (let index = 0; index < SERVERS * CALLS_OF_A_SERVER; index += 1) {
      const turn = /** @type {const} */ ([
        { type: 'wait-for-agent', quietMs: 700 },
        { type: 'say', text: 'And one more thing.' },
      ]);
      const call = { from: `+1500557${String(index).padStart(4, '0')}`, to: OWN_NUMBER, signal: over.signal };
      const script = Array.from({ length: TURNS }, () => turn).flat();
      for (const { simulators } of sides)
        calls.push(simulators[index % SERVERS]?.call({ ...call, script, maxDurationMs: 120_000 }));
      await pause(RING_EVERY_MS);
    }
    await pause(WARM_UP_MS);
    const from = await look();
    await pause(MEASURE_MS);
    const to = await look();
    over.abort();
    const reports = await Promise.all(calls);
    const benchMs = (/** @type {typeof to} */ { sides, ownMs }) =>
      sides.reduce((sum, { cpuMs, brokerMs }) => sum + cpuMs + brokerMs, ownMs);
    const busyMs = to.machine.busyMs - from.machine.busyMs;
    const othersMs = Math.max(0, busyMs - (benchMs(to) - benchMs(from)));
    const measured = (/** @type {0 | 1} */ side) => {
      const [before, after] = /** @type {any} */ ([from.sides[side], to.sides[side]]);
      const [idleBefore, idleAfter] = /** @type {any} */ ([idleFrom.sides[side], idleTo.sides[side]]);
      const seconds = (after.at - before.at) / 1000;
      const each = (/** @type {number} */ sum) => sum / (SERVERS * CALLS_OF_A_SERVER) / seconds;
      return {
        cpuMs: each(after.cpuMs - before.cpuMs),
        idleMs: (idleAfter.cpuMs - idleBefore.cpuMs) / SERVERS / ((idleAfter.at - idleBefore.at) / 1000),
        brokerMs: each(after.brokerMs - before.brokerMs),
        writtenBytes: each(after.traffic.in - before.traffic.in),
        readBytes: each(after.traffic.out - before.traffic.out),
        answered: reports.filter(
          (report, index) => index % 2 === side && report?.answer.outcome === 'answered',
        ).length,
        othersShare: othersMs / (to.machine.allMs - from.machine.allMs),
      };
    };
    return { alone: measured(0), cluster: measured(1) };
  } finally {
    await Promise.all(sides.map((side) => side.stop()));
  }
}

/** Milliseconds of a webhook at the server that has its call, and at another one, in turns. */
async function measureWebhooks() {
  const broker = await Broker.start(await freePort());
  const ports = [await freePort(), await freePort()];
  const credentials = { accountSid: 'AC00', authToken: SECRET };
  const servers = await startServers({ credentials, host: HOST, broker, ports });
  const [own, other] = ports.map((port) => new RingingCarrier(port));
  try {
    if (own === undefined || other === undefined) throw new Error('no server');
    await pause(JOIN_MS);
    const ring = async (/** @type {RingingCarrier} */ carrier) => {
      const begun = performance.now();
      await carrier.ring(1, { isRepeated: true });
      return performance.now() - begun;
    };
    const ownMs = [];
    const otherMs = [];
    for (let count = 0; count < RINGS; count += 1) {
      ownMs.push(await ring(own));
      otherMs.push(await ring(other));
    }
    return { ownMs: ownMs.slice(RINGS / 10), otherMs: otherMs.slice(RINGS / 10) };
  } finally {
    own?.close();
    other?.close();
    await servers.stop();
    await broker.close();
  }
}

/** Prints the report, and writes it into the folder where one is named; with `quick` one round is played, and only printed. @param {string[]} args */
export async function run(...args) {
  if (process.platform !== 'linux') throw new Error('The bench of a cluster reads /proc: it needs Linux.');
  const load = loadavg()[0]?.toFixed(2);
  const isQuick = args.includes('quick');
  const folder = isQuick ? undefined : args[0];
  const count = isQuick ? 1 : ROUNDS;
  /** @type {{ alone: Measured, cluster: Measured }[]} */
  const rounds = [];
  for (let round = 0; round < count; round += 1) {
    const { alone, cluster } = await measureCalls();
    rounds.push({ alone, cluster });
    console.log(
      `round ${round + 1}: alone ${alone.cpuMs.toFixed(2)} ms, in a cluster ${cluster.cpuMs.toFixed(2)} ms, ratio ${(cluster.cpuMs / alone.cpuMs).toFixed(3)}`,
    );
  }
  const { ownMs, otherMs } = await measureWebhooks();
  const of = (/** @type {(round: typeof rounds[number]) => number} */ value) => median(rounds.map(value));
  const row = (
    /** @type {string} */ name,
    /** @type {(measured: Measured) => number} */ value,
    digits = 2,
  ) => {
    const ratio = of(({ alone, cluster }) => value(cluster) / value(alone));
    return [
      name,
      of(({ alone }) => value(alone)).toFixed(digits),
      of(({ cluster }) => value(cluster)).toFixed(digits),
      ratio.toFixed(2),
    ];
  };
  const wanted = SERVERS * CALLS_OF_A_SERVER;
  const doubts = rounds.flatMap((round, index) =>
    Object.values(round).flatMap(({ answered, othersShare }) => [
      ...(answered === wanted ? [] : [`round ${index + 1}: ${answered} of ${wanted} calls were answered`]),
      ...(othersShare <= OTHERS_SHARE
        ? []
        : [`round ${index + 1}: other programs took ${(othersShare * 100).toFixed(0)} % of the machine`]),
    ]),
  );
  const times = (/** @type {readonly number[]} */ values) => [quantile(values, 0.5), quantile(values, 0.99)];
  const [ownTimes, otherTimes] = [times(ownMs), times(otherMs)];
  const extra = otherTimes.map((value, index) => value - (ownTimes[index] ?? Number.NaN));
  const report = [
    '# Bench of a cluster',
    `Written by \`npm run bench -- cluster docs/bench\` with Node ${process.version}. Load average before the run: ${load}. ${SERVERS} servers have ${CALLS_OF_A_SERVER} calls of carrier A each, in which caller and agent take turns of some seconds: as one cluster, and beside it three others that do not know of each other have the same. No call comes to another server than the one that has it. Medians of ${count} rounds of ${MEASURE_MS / 1000} s; ratios are taken within a round.`,
    'CPU time of the servers, in ms per second:',
    toTable(
      ['what', 'alone', 'in a cluster', 'ratio'],
      [row('one call', ({ cpuMs }) => cpuMs), row('a server without calls', ({ idleMs }) => idleMs)],
      { numbersFrom: 1 },
    ),
    'What a call takes of the broker, per second:',
    toTable(
      ['what', 'figure'],
      [
        ['CPU time', `${(of(({ cluster }) => cluster.brokerMs) * 1000).toFixed(0)} µs`],
        ['written to it', `${(of(({ cluster }) => cluster.writtenBytes) / 1000).toFixed(1)} kB`],
        [
          `read from it, by ${SERVERS} servers`,
          `${(of(({ cluster }) => cluster.readBytes) / 1000).toFixed(1)} kB`,
        ],
      ],
      { numbersFrom: 1 },
    ),
    `A webhook, in ms, from the carrier's request to the answer; ${RINGS} to each server, in turns:`,
    toTable(
      ['comes to', 'p50', 'p99'],
      [
        ['the server that has the call', ...ownTimes.map((value) => value.toFixed(2))],
        ['another server', ...otherTimes.map((value) => value.toFixed(2))],
        ['more', ...extra.map((value) => value.toFixed(2))],
      ],
      { numbersFrom: 1 },
    ),
    doubts.length === 0
      ? 'The machine was fit to judge.'
      : `**Not to be trusted:**\n\n${doubts.map((doubt) => `- ${doubt}`).join('\n')}`,
  ].join('\n\n');
  console.log(report);
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'cluster.md'), `${report}\n`);
}
