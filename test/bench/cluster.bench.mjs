// What a cluster costs: the same calls on three servers that are one, and on three that do not know of each other; the broker; and a webhook that came to
// another server. `npm run bench -- cluster [FOLDER]` prints the report, and writes cluster.md into the folder where one is named.
import { fork } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CREDENTIALS, OWN_NUMBER, PUBLIC_HOST } from '../trials/numbers.mjs';
import { Broker } from '../trials/outages/broker.mjs';
import { createDice, freePort, pause, startSimulator } from '../trials/world.mjs';
import { CALL_MS, QUESTION, QUIET_MS } from './cluster/talk.mjs';
import { median, quantile, readMachine, readProcess } from './load/proc.mjs';
import { toTable } from './table.mjs';
import { HOST, RingingCarrier, SECRET } from './webhook/carrier.mjs';

const SERVERS = 3;
const ROUNDS = 5;
const RING_EVERY_MS = 60;
/** What is done a few times a second takes minutes until V8 has compiled it: a server that has just begun costs more than one that has run for an hour. */
const WARM_UP_MS = 120_000;
const MEASURE_MS = 15_000;
/** The same of what a server does that has no calls: looked at in the first scene, where that is measured. */
const SETTLE_MS = { first: 60_000, others: 5000 };
const IDLE_MS = 10_000;
const JOIN_MS = 2500;
/** Webhooks to each server, one after the other. */
const RINGS = 1000;
const CLUSTER_SECRET = 'a secret of thirty-two bytes, or more';
const SERVER = fileURLToPath(new URL('cluster/server.mjs', import.meta.url));
const VENDORS = fileURLToPath(new URL('cluster/vendors.mjs', import.meta.url));
/** A machine that did so much else meanwhile is not fit to judge. */
const OTHERS_SHARE = 0.1;

/** @typedef {{ name: string, carrier: 'carrier-a' | 'carrier-b', agent: import('./cluster/server.mjs').AgentKind, calls: number, isKept: boolean }} Scene `calls`: of a server; `isKept`: with a data folder, as by default */

/** The first two are what a user has who sets no option. @type {readonly Scene[]} */
const SCENES = [
  { name: 'pipeline, carrier A', carrier: 'carrier-a', agent: 'pipeline', calls: 8, isKept: true },
  { name: 'realtime, carrier B', carrier: 'carrier-b', agent: 'realtime', calls: 8, isKept: true },
  { name: '`dataDir: false`', carrier: 'carrier-a', agent: 'pipeline', calls: 8, isKept: false },
  { name: 'no vendors, `dataDir: false`', carrier: 'carrier-a', agent: 'inside', calls: 12, isKept: false },
];

/** @typedef {{ cpuMs: number, idleMs: number, brokerMs: number, writtenBytes: number, readBytes: number }} Measured Per call and second, but for what is of a server: `idleMs`, before any call. */
/** @typedef {{ alone: Measured, cluster: Measured, othersShare: number }} Round */

/** A process that tells one thing once it is ready. @param {string} path @param {readonly string[]} args */
async function startProcess(path, args = []) {
  const child = fork(path, args, { execArgv: [] });
  const [told] = await once(child, 'message');
  return {
    pid: child.pid ?? 0,
    told,
    async stop() {
      const gone = child.exitCode ?? child.signalCode ?? once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Servers, as one cluster where a broker is named. @param {Omit<import('./cluster/server.mjs').ServerSettings, 'number' | 'serve'> & { broker?: Broker | undefined, ports: readonly number[], folder?: string | undefined }} plan */
async function startServers({ broker, ports, folder, ...plan }) {
  const started = ports.map((port) => {
    const address = `http://127.0.0.1:${port}`;
    const url = `redis://127.0.0.1:${broker?.port}`;
    const cluster = broker && { url, name: 'bench', secret: CLUSTER_SECRET, address };
    const dataDir = folder === undefined ? false : join(folder, String(port));
    const serve = { port, dataDir, ...(cluster && { cluster }) };
    return startProcess(SERVER, [JSON.stringify({ ...plan, number: OWN_NUMBER, serve })]);
  });
  const servers = await Promise.all(started);
  return {
    pids: servers.map(({ pid }) => pid),
    stop: async () => void (await Promise.all(servers.map((server) => server.stop()))),
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

/** Servers with or without a cluster, and a carrier for each: no call has to be passed on. @param {{ scene: Scene, folder: string, vendors: import('./cluster/vendors.mjs').Vendors | undefined, isCluster: boolean }} plan */
async function startSide({ scene, folder, vendors, isCluster }) {
  const { carrier, agent, isKept } = scene;
  const broker = isCluster ? await Broker.start(await freePort()) : undefined;
  const ports = await Promise.all(Array.from({ length: SERVERS }, freePort));
  const simulators = await Promise.all(ports.map((port) => startSimulator(carrier, port)));
  /** @type {Awaited<ReturnType<typeof startServers>>[]} */
  const servers = [];
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await Promise.all(simulators.map((simulator) => simulator.close()));
    await broker?.close();
  };
  try {
    for (const [index, simulator] of simulators.entries()) {
      const { accountSid, authToken, apiKey, connectionId } = CREDENTIALS;
      const account =
        'publicKey' in simulator
          ? { apiKey, connectionId, publicKey: simulator.publicKey }
          : { accountSid, authToken };
      const credentials = { ...account, baseUrl: simulator.url };
      const kept = isKept ? { folder: join(folder, isCluster ? 'cluster' : 'alone') } : {};
      const plan = { carrier, agent, vendors, credentials, host: PUBLIC_HOST, broker, ...kept };
      servers.push(await startServers({ ...plan, ports: ports.slice(index, index + 1) }));
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

/** @typedef {Awaited<ReturnType<Awaited<ReturnType<typeof startSide>>['look']>>} Look */

/** What a side has taken between two looks. @param {{ idle: readonly [Look, Look], busy: readonly [Look, Look], calls: number }} looks @returns {Measured} */
function toMeasured({ idle: [idleFrom, idleTo], busy: [from, to], calls }) {
  const seconds = (to.at - from.at) / 1000;
  const each = (/** @type {number} */ sum) => sum / (SERVERS * calls) / seconds;
  return {
    cpuMs: each(to.cpuMs - from.cpuMs),
    idleMs: (idleTo.cpuMs - idleFrom.cpuMs) / SERVERS / ((idleTo.at - idleFrom.at) / 1000),
    brokerMs: each(to.brokerMs - from.brokerMs),
    writtenBytes: each(to.traffic.in - from.traffic.in),
    readBytes: each(to.traffic.out - from.traffic.out),
  };
}

/** Somebody who calls again and again, with and without a cluster at the same time. Resolves to how many calls were answered, and how many were not. @param {{ simulators: readonly import('../../src/testing/index.js').CarrierSimulator[], index: number, signal: AbortSignal }} plan */
async function keepCalling({ simulators, index, signal }) {
  const dice = createDice(index);
  const turn = /** @type {const} */ ([
    { type: 'wait-for-agent', quietMs: QUIET_MS },
    { type: 'say', text: QUESTION },
  ]);
  const script = Array.from({ length: 50 }, () => turn).flat();
  const call = { from: `+1500557${String(index).padStart(4, '0')}`, to: OWN_NUMBER, signal, script };
  const count = { answered: 0, others: 0 };
  // Calls that begin together end at different times.
  let maxDurationMs = dice.between(CALL_MS.from / 2, CALL_MS.to);
  while (!signal.aborted) {
    const calls = simulators.map((simulator) => simulator.call({ ...call, maxDurationMs }));
    for (const { answer } of await Promise.all(calls))
      count[answer.outcome === 'answered' ? 'answered' : 'others'] += 1;
    maxDurationMs = dice.between(CALL_MS.from, CALL_MS.to);
  }
  return count;
}

/** The same calls with and without a cluster, beside each other: what else the machine does strikes both. @param {Scene} scene @param {{ rounds: number, told: (round: Round) => void }} plan */
async function measureScene(scene, { rounds, told }) {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-bench-'));
  const service = scene.agent === 'inside' ? undefined : await startProcess(VENDORS);
  const begun = { scene, folder, vendors: service?.told };
  /** @type {Awaited<ReturnType<typeof startSide>>[]} */
  const sides = [];
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const look = async () => {
    const looks = await Promise.all(sides.map((side) => side.look()));
    const ownMs = cpuOf([process.pid, ...(service === undefined ? [] : [service.pid])]);
    const benchMs = looks.reduce((sum, { cpuMs, brokerMs }) => sum + cpuMs + brokerMs, ownMs);
    const [alone, cluster] = /** @type {[Look, Look]} */ (/** @type {unknown} */ (looks));
    return { alone, cluster, benchMs, machine: readMachine() };
  };
  try {
    sides.push(
      await startSide({ ...begun, isCluster: false }),
      await startSide({ ...begun, isCluster: true }),
    );
    // What a start leaves to be done, V8's compiler above all, is not what an idle server does.
    await pause(SETTLE_MS[scene === SCENES[0] ? 'first' : 'others']);
    const idle = [await look()];
    await pause(IDLE_MS);
    idle.push(await look());
    const callers = [];
    for (let index = 0; index < SERVERS * scene.calls; index += 1) {
      const simulators = sides.flatMap((side) => side.simulators[index % SERVERS] ?? []);
      callers.push(keepCalling({ simulators, index, signal: over.signal }));
      await pause(RING_EVERY_MS);
    }
    await pause(WARM_UP_MS);
    const looks = [await look()];
    for (let round = 0; round < rounds; round += 1) {
      await pause(MEASURE_MS);
      const [from, to] = [looks.at(-1), await look()];
      looks.push(to);
      if (from === undefined) continue;
      const measured = (/** @type {'alone' | 'cluster'} */ side) => {
        const [idleFrom, idleTo] = /** @type {[Look, Look]} */ (idle.map((each) => each[side]));
        return toMeasured({ idle: [idleFrom, idleTo], busy: [from[side], to[side]], calls: scene.calls });
      };
      const othersMs = to.machine.busyMs - from.machine.busyMs - (to.benchMs - from.benchMs);
      const othersShare = Math.max(0, othersMs) / (to.machine.allMs - from.machine.allMs);
      told({ alone: measured('alone'), cluster: measured('cluster'), othersShare });
    }
    over.abort();
    const counts = await Promise.all(callers);
    return counts.reduce((sum, { others }) => sum + others, 0);
  } finally {
    over.abort();
    await Promise.all(sides.map((side) => side.stop()));
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Milliseconds of a webhook at the server that has its call, and at another one, in turns. */
async function measureWebhooks() {
  const broker = await Broker.start(await freePort());
  const ports = [await freePort(), await freePort()];
  const credentials = { accountSid: 'AC00', authToken: SECRET };
  const plan = /** @type {const} */ ({ carrier: 'carrier-a', agent: 'inside', vendors: undefined });
  const servers = await startServers({ ...plan, credentials, host: HOST, broker, ports });
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

/** @param {readonly Round[]} rounds @param {(round: Round) => number} value */
const middle = (rounds, value) => median(rounds.map(value));

/** @param {string} name @param {readonly Round[]} rounds @param {(measured: Measured) => number} value */
function toRow(name, rounds, value) {
  return [
    name,
    middle(rounds, ({ alone }) => value(alone)).toFixed(2),
    middle(rounds, ({ cluster }) => value(cluster)).toFixed(2),
    middle(rounds, ({ alone, cluster }) => value(cluster) - value(alone)).toFixed(2),
    middle(rounds, ({ alone, cluster }) => value(cluster) / value(alone)).toFixed(2),
  ];
}

/** Prints the report, and writes it into the folder where one is named; with `quick` one round of each scene is played, and only printed. @param {string[]} args */
export async function run(...args) {
  if (process.platform !== 'linux') throw new Error('The bench of a cluster reads /proc: it needs Linux.');
  const load = loadavg()[0]?.toFixed(2);
  const isQuick = args.includes('quick');
  const folder = isQuick ? undefined : args[0];
  const count = isQuick ? 1 : ROUNDS;
  const doubts = [];
  /** @type {{ scene: Scene, rounds: Round[] }[]} */
  const measured = [];
  for (const scene of SCENES) {
    /** @type {Round[]} */
    const rounds = [];
    const told = (/** @type {Round} */ round) => {
      rounds.push(round);
      const { alone, cluster, othersShare } = round;
      console.log(
        `${scene.name}, round ${rounds.length}: alone ${alone.cpuMs.toFixed(2)} ms, in a cluster ${cluster.cpuMs.toFixed(2)} ms, ratio ${(cluster.cpuMs / alone.cpuMs).toFixed(3)}, others ${othersShare.toFixed(2)}`,
      );
      if (othersShare > OTHERS_SHARE)
        doubts.push(
          `${scene.name}, round ${rounds.length}: other programs took ${(othersShare * 100).toFixed(0)} % of the machine`,
        );
    };
    const others = await measureScene(scene, { rounds: count, told });
    if (others > 0) doubts.push(`${scene.name}: ${others} calls were not answered`);
    measured.push({ scene, rounds });
  }
  const { ownMs, otherMs } = await measureWebhooks();
  const times = (/** @type {readonly number[]} */ values) => [quantile(values, 0.5), quantile(values, 0.99)];
  const [ownTimes, otherTimes] = [times(ownMs), times(otherMs)];
  const extra = otherTimes.map((value, index) => value - (ownTimes[index] ?? Number.NaN));
  const calls = measured.map(({ scene, rounds }) => toRow(scene.name, rounds, ({ cpuMs }) => cpuMs));
  const idle = measured
    .slice(0, 1)
    .map(({ rounds }) => toRow('a server without calls', rounds, ({ idleMs }) => idleMs));
  const report = [
    '# Bench of a cluster',
    `Written by \`npm run bench -- cluster docs/bench\` with Node ${process.version}. Load average before the run: ${load}. ${SERVERS} servers are one cluster; beside them, at the same time, three others that do not know of each other have the same calls. No call comes to another server than the one that has it. Figures are medians of ${count} rounds of ${MEASURE_MS / 1000} s, ratios are taken within a round.`,
    [
      `- **Calls** last ${CALL_MS.from / 1000} to ${CALL_MS.to / 1000} s, and who has ended one begins the next. Caller and agent take turns of some eleven seconds. A server has ${SCENES[0]?.calls} calls at a time, ${SCENES.at(-1)?.calls} without vendors.`,
      '- **Vendors** are emulated, in a process of their own, and are reached by sockets as in production: recognizer, language model and voice, or a realtime model. Without vendors, voice and model are functions of the server itself: that shows what a cluster takes where a server does nothing else.',
      '- **Records** are kept in a data folder, as by default. A server that is alone then keeps the states of its calls there, so that the next process can go on with them; a server of a cluster keeps them in the broker. With `dataDir: false`, one that is alone keeps none.',
      `- **Warm:** the servers have had calls for ${WARM_UP_MS / 1000} s. What is done a few times a second takes V8 that long to compile, and a server runs for days.`,
    ].join('\n'),
    'CPU time of the servers, in ms per second: of one call, and of a server without any:',
    toTable(['what', 'alone', 'in a cluster', 'more', 'ratio'], [...calls, ...idle], { numbersFrom: 1 }),
    'What a call takes of the broker, per second:',
    toTable(
      ['what', 'CPU time, µs', 'written to it, kB', `read by ${SERVERS} servers, kB`],
      measured.map(({ scene, rounds }) => [
        scene.name,
        (middle(rounds, ({ cluster }) => cluster.brokerMs) * 1000).toFixed(0),
        (middle(rounds, ({ cluster }) => cluster.writtenBytes) / 1000).toFixed(1),
        (middle(rounds, ({ cluster }) => cluster.readBytes) / 1000).toFixed(1),
      ]),
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
