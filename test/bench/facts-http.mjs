// What readers of the dashboard cost the calls that are up: how late frames are while lists are read and events streamed.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import express from 'express';

const built = new URL('../../dist/', import.meta.url);
/** @type {typeof import('../../src/dashboard/index.js')} */
const { createDashboard } = await import(new URL('dashboard/index.js', built).href);
/** @type {typeof import('../../src/events/bus.js')} */
const { EventBus } = await import(new URL('events/bus.js', built).href);
/** @type {typeof import('../../src/stores/memory-store.js')} */
const { MemoryStore } = await import(new URL('stores/memory-store.js', built).href);
/** @type {typeof import('../../src/base/log.js')} */
const { createLogger } = await import(new URL('base/log.js', built).href);

const CALLS = 100;
const ENDED_CALLS = 500;
const TURNS = 60;
const FRAME_MS = 20;
const WARM_UP_MS = 800;
const WORDS =
  'The next appointment that is free would be on Thursday at a quarter past ten, would that suit you? ';

/** @typedef {import('../../src/contract/call-event.js').CallFact} CallFact */
/** @typedef {{ name: string, kind: import('./facts-clients.mjs').Job['kind'] | null, clients: number, hasBar?: boolean }} Scenario */
/** @typedef {{ late: Lateness[], answers: number }} Measured */
/** @typedef {{ name: string, hasBar: boolean, perSecond: number } & Record<keyof Lateness, { without: number, with: number }[]>} Reading */

/** @type {readonly Scenario[]} */
const SCENARIOS = [
  { name: 'no reader', kind: null, clients: 0 },
  { name: 'list of 500 calls, one after the other', kind: 'list', clients: 1, hasBar: true },
  { name: '50 event streams', kind: 'streams', clients: 50, hasBar: true },
  { name: 'new event streams, one after the other', kind: 'reopen', clients: 1 },
  { name: 'active calls, one after the other', kind: 'active', clients: 1 },
  { name: 'JSON export, one after the other', kind: 'export', clients: 1 },
];

/** @param {number} index @returns {CallFact[]} */
function turnFacts(index) {
  const entry = { turnIndex: index, at: index, final: true, text: WORDS };
  const latency = {
    endpointingMs: 300,
    sttMs: 80,
    llmFirstTokenMs: 250 + ((index * 37) % 400),
    sentenceMs: 60,
  };
  const totalMs = 300 + 80 + latency.llmFirstTokenMs + 60 + 110 + 5;
  return [
    { type: 'turn.started', turnIndex: index },
    { type: 'transcript.segment', entry: { ...entry, id: `user-${index}`, role: 'user' } },
    { type: 'transcript.segment', entry: { ...entry, id: `agent-${index}`, role: 'agent' } },
    {
      type: 'turn.completed',
      turn: {
        index,
        agent: null,
        startedAt: index,
        userText: WORDS,
        agentText: WORDS,
        agentTextUnheard: '',
        interrupted: false,
        latency: { ...latency, ttsFirstByteMs: 110, sendMs: 5, totalMs, heardMs: totalMs + 40 },
        cost: 0.001,
        speechEndedAt: null,
        fillerMs: null,
        tokens: null,
        toolCalls: [],
      },
    },
  ];
}

/** One call that tells its facts. @param {InstanceType<typeof EventBus>} bus @param {string} callId */
function createCall(bus, callId) {
  let seq = 0;
  let turn = 0;
  /** @param {CallFact} fact */
  const tell = (fact) => {
    seq += 1;
    bus.publish({ callId, nodeId: 'bench', term: 1, seq, at: Date.now(), ...fact });
  };
  const provider = { engine: null, stt: 'vendor/stt', llm: 'vendor/llm', tts: 'vendor/tts' };
  const parties = { carrierCallId: `carrier-${callId}`, caller: '+15550111', callee: '+15550100' };
  tell({
    type: 'call.started',
    mode: 'pipeline',
    provider,
    carrier: 'carrier-a',
    direction: 'inbound',
    ...parties,
  });
  const takeTurn = () => {
    for (const fact of turnFacts(turn)) tell(fact);
    turn += 1;
  };
  for (let count = 0; count < TURNS; count += 1) takeTurn();
  return {
    /** A word more of what the caller is saying; a whole turn now and then. @param {number} frame */
    speak(frame) {
      if (frame % 300 === 0) takeTurn();
      else
        tell({
          type: 'transcript.segment',
          entry: { id: `user-${turn}`, turnIndex: turn, role: 'user', at: frame, final: false, text: WORDS },
        });
    },
    end() {
      const media = { framesReceived: 0, framesSent: 0, unexpectedMessages: 0, clears: 0 };
      tell({ type: 'call.ended', endReason: 'caller-hangup', outcome: 'answered', error: null, media });
    },
  };
}

/** @typedef {{ wall: number, own: number }} Lateness */

/**
 * Moments with the processor time that this process had used by then, newest last. On a shared machine most of what makes a frame late
 * is that the processor was given to others: lateness counts as our own as far as we used the processor meanwhile.
 * @type {{ at: number, used: number }[]}
 */
const moments = [];

/** @param {number} due @returns {Lateness} */
function latenessOf(due) {
  const { user, system } = process.cpuUsage();
  const now = { at: performance.now(), used: (user + system) / 1000 };
  const before = moments.findLast(({ at }) => at <= due) ?? moments[0] ?? now;
  moments.push(now);
  if (moments.length > 4000) moments.splice(0, 2000);
  const wall = now.at - due;
  return { wall, own: Math.max(0, Math.min(wall, now.used - before.used)) };
}

/** How late each frame of a call is, in milliseconds. @param {number} phase @param {(frame: number) => void} onFrame */
function startPacer(phase, onFrame) {
  /** @type {Lateness[]} */
  let late = [];
  let due = performance.now() + phase;
  let frame = phase;
  /** @type {NodeJS.Timeout} */
  let timer;
  const tick = () => {
    late.push(latenessOf(due));
    frame += 1;
    onFrame(frame);
    due += FRAME_MS;
    timer = setTimeout(tick, Math.max(0, due - performance.now()));
  };
  timer = setTimeout(tick, phase);
  return {
    take() {
      const taken = late;
      late = [];
      return taken;
    },
    stop: () => clearTimeout(timer),
  };
}

const KINDS = /** @type {const} */ (['own', 'wall']);

/** @param {number} ms */
const pass = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {readonly number[]} values @param {number} fraction */
function quantile(values, fraction) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] ?? Number.NaN;
}

/** @param {readonly number[]} values */
const median = (values) => quantile(values, 0.5);

/** @param {readonly Lateness[]} late @param {keyof Lateness} kind */
const p99 = (late, kind) =>
  quantile(
    late.map((lateness) => lateness[kind]),
    0.99,
  );

/** @param {Scenario} scenario @param {{ url: string, phaseMs: number, pacers: readonly ReturnType<typeof startPacer>[] }} house @returns {Promise<Measured>} */
async function measure({ kind, clients }, { url, phaseMs, pacers }) {
  const readers =
    kind === null ? undefined : fork(fileURLToPath(new URL('facts-clients.mjs', import.meta.url)));
  const count = async () => {
    if (readers === undefined) return 0;
    readers.send('count');
    const [{ answers }] = await once(readers, 'message');
    return /** @type {number} */ (answers);
  };
  readers?.send({ url, kind, clients });
  await count();
  await pass(WARM_UP_MS);
  for (const pacer of pacers) pacer.take();
  const before = await count();
  await pass(phaseMs);
  const late = pacers.flatMap((pacer) => pacer.take());
  const answers = (await count()) - before;
  readers?.kill();
  await pass(200);
  return { late, answers };
}

/**
 * Runs all scenarios, each round beside one without readers. The machine is shared with the readers.
 * @param {{ phaseMs?: number, rounds?: number }} [options]
 */
export async function measureFactsOverHttp({ phaseMs = 1500, rounds = 5 } = {}) {
  const logger = createLogger({ level: 'error' });
  const bus = new EventBus(logger);
  const store = new MemoryStore();
  bus.subscribeDurable((event) => store.append(event));
  const dashboard = createDashboard({ store, bus, controls: null, page: false, logger });
  for (let index = 0; index < ENDED_CALLS; index += 1) createCall(bus, `ended-${index}`).end();
  await bus.settled();
  const server = createServer(express().use(dashboard.handler)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}`;
  const pacers = Array.from({ length: CALLS }, (_, index) => {
    const call = createCall(bus, `active-${index}`);
    // Partial words come four times a second.
    return startPacer(index % FRAME_MS, (frame) => frame % 12 === index % 12 && call.speak(frame));
  });
  const house = { url, phaseMs, pacers };
  const [quiet] = SCENARIOS;
  /** @type {Reading[]} */
  const readings = [];
  for (const scenario of SCENARIOS.slice(1)) {
    const { name, hasBar = false } = scenario;
    /** @type {Reading} */
    const reading = { name, hasBar, wall: [], own: [], perSecond: 0 };
    for (let round = 0; round < rounds; round += 1) {
      const base = await measure(/** @type {Scenario} */ (quiet), house);
      const busy = await measure(scenario, house);
      reading.perSecond += (busy.answers * 1000) / (rounds * phaseMs);
      for (const kind of KINDS)
        reading[kind].push({ without: p99(base.late, kind), with: p99(busy.late, kind) });
    }
    readings.push(reading);
  }
  for (const pacer of pacers) pacer.stop();
  dashboard.close();
  server.closeAllConnections();
  server.close();
  return KINDS.map((kind) => toScenario(kind, readings));
}

/** A round in which frames are later than this without readers says nothing of readers: the machine was busy with others. */
const MAX_DISTURBANCE_MS = 1;

const TITLES = {
  own: 'How late frames are while readers read, p99, as far as this process was busy',
  wall: 'The same by the clock: also while others had the processor',
};

/** @param {keyof Lateness} kind @param {readonly Reading[]} readings */
function toScenario(kind, readings) {
  const bars = readings.map((reading) => {
    const figures = reading[kind];
    const calm = figures.filter((_, round) => (reading.own[round]?.without ?? Infinity) < MAX_DISTURBANCE_MS);
    const added = median(calm.map((figure) => figure.with - figure.without)).toFixed(2);
    const pace = reading.perSecond > 0 ? `, ${reading.perSecond.toFixed(1)} answers/s` : '';
    return {
      label: `offhook, ${reading.name}${pace}`,
      value: median(figures.map((figure) => figure.with)),
      goal:
        calm.length === 0
          ? 'not judged'
          : `adds ${added}${reading.hasBar ? ' of at most 1' : ''} (${calm.length} of ${figures.length} rounds)`,
    };
  });
  const without = readings.flatMap((reading) => reading[kind].map((figure) => figure.without));
  return {
    title: TITLES[kind],
    unit: 'ms',
    note: `${CALLS} calls that talk, ${ENDED_CALLS} ended ones of ${TURNS} turns. What readers add is measured round by round.`,
    bars: [{ label: 'no reader', value: median(without) }, ...bars],
  };
}
