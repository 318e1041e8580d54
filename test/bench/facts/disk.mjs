// What keeping facts on disk costs: each figure beside what memory alone takes in the same run.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTick, setTimeout as pause } from 'node:timers/promises';
import { heavyCall } from './heavy-calls.mjs';

const built = (/** @type {string} */ path) => new URL(`../../../dist/${path}`, import.meta.url).href;
/** @type {typeof import('../../../src/stores/index.js')} */
const { DiskStore, MemoryStore } = await import(built('stores/index.js'));
/** @type {typeof import('../../../src/events/bus.js')} */
const { EventBus } = await import(built('events/bus.js'));
/** @type {typeof import('../../../src/events/reduce.js')} */
const { reduceCall } = await import(built('events/reduce.js'));
/** @type {typeof import('../../../src/base/log.js')} */
const { silentLogger } = await import(built('base/log.js'));

/** @typedef {import('../../../src/stores/index.js').CallStore} CallStore */
/** @typedef {import('../../../src/contract/call-event.js').CallEvent} CallEvent */
/** @typedef {{ label: string, value: number, goal?: string }} Bar */
/** @typedef {{ title: string, unit: string, bars: Bar[], note: string }} Scenario */

const CALLS = 500;
const TURNS = 60;
const ROUNDS = 5;
const LAG_MS = 8000;
const LAG_CALLS = 100;
const FRAME_MS = 20;

/** @param {readonly number[]} values @param {number} share */
const quantile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

/** @template T @param {(folder: string) => Promise<T>} body */
async function withFolder(body) {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-bench-'));
  try {
    return await body(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param {CallStore} store */
function createBus(store) {
  const bus = new EventBus(silentLogger);
  bus.subscribeDurable((event) => store.append(event));
  return bus;
}

/** Facts of many calls at a time, as they would mix. @param {readonly CallEvent[][]} calls */
function* mixed(calls) {
  const longest = Math.max(...calls.map((events) => events.length));
  for (let index = 0; index < longest; index += 1)
    for (const events of calls)
      if (events[index] !== undefined) yield/** @type {CallEvent} */ (events[index]);
}

/** Facts a second, until the last one is stored. @param {CallStore} store @param {readonly CallEvent[][]} calls */
async function throughput(store, calls) {
  const bus = createBus(store);
  const start = performance.now();
  let count = 0;
  for (const event of mixed(calls)) {
    bus.publish(event);
    count += 1;
    if (count % 100 === 0) await nextTick();
  }
  await bus.settled();
  await store.close();
  return (count / (performance.now() - start)) * 1000;
}

/** How late a timer of 20 ms comes while calls talk: their facts at real pace. @param {CallStore | undefined} store */
async function lateness(store) {
  const bus = store === undefined ? undefined : createBus(store);
  const calls = Array.from({ length: LAG_CALLS }, (_, index) => heavyCall({ index, turns: 10, partials: 6 }));
  /** @type {number[]} */
  const late = [];
  const start = performance.now();
  for (let frame = 1; performance.now() - start < LAG_MS; frame += 1) {
    const due = start + frame * FRAME_MS;
    await pause(Math.max(0, due - performance.now()));
    late.push(Math.max(0, performance.now() - due));
    for (const [index, events] of calls.entries()) {
      // Every call a fact each 80 ms: twelve a second, as in brisk talk with partial transcripts.
      const event = (frame + index) % 4 === 0 ? events[Math.floor(frame / 4)] : undefined;
      if (event !== undefined) bus?.publish(event);
    }
  }
  await bus?.settled();
  await store?.close();
  return late;
}

/** @param {string} folder @returns {number} */
function bytesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? bytesBelow(path) : statSync(path).size);
  }, 0);
}

/** @returns {Promise<Scenario>} */
async function measureThroughput() {
  const calls = Array.from({ length: 100 }, (_, index) => heavyCall({ index, turns: TURNS, partials: 2 }));
  /** @type {[number[], number[]]} */
  const [memory, disk] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    memory.push(await throughput(new MemoryStore(), calls));
    disk.push(await withFolder(async (folder) => throughput(await DiskStore.open({ folder }), calls)));
  }
  return {
    title: 'Facts through bus, reducer and store',
    unit: 'facts/s',
    note: `100 calls of ${TURNS} turns at a time, two partial transcripts each, until the last is stored.`,
    bars: [
      { label: 'memory store', value: quantile(memory, 0.5) },
      { label: 'offhook disk store', value: quantile(disk, 0.5) },
    ],
  };
}

/** @returns {Promise<Scenario[]>} */
async function measureHydration() {
  const calls = Array.from({ length: CALLS }, (_, index) => heavyCall({ index, turns: TURNS }));
  const lines = calls.flat().map((event) => JSON.stringify(event));
  return withFolder(async (folder) => {
    const first = await DiskStore.open({ folder });
    await throughput(first, calls);
    const bytes = bytesBelow(folder);
    /** @type {[number[], number[]]} */
    const [plain, disk] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      let start = performance.now();
      const records = new Map();
      for (const line of lines) {
        const event = JSON.parse(line);
        records.set(event.callId, reduceCall(records.get(event.callId), event));
      }
      plain.push(performance.now() - start);
      start = performance.now();
      const store = await DiskStore.open({ folder });
      disk.push(performance.now() - start);
      await store.close();
    }
    const text = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    return [
      {
        title: `Reading ${CALLS} calls of ${TURNS} turns at the start`,
        unit: 'ms',
        note: `${lines.length} facts.`,
        bars: [
          { label: 'JSON.parse and reducer alone', value: quantile(plain, 0.5) },
          { label: 'offhook disk store', value: quantile(disk, 0.5), goal: 'at most 1000' },
        ],
      },
      {
        title: `A call of ${TURNS} turns on disk`,
        unit: 'kB',
        note: 'Files of the folder after the calls, without compacting it.',
        bars: [
          { label: 'its facts as lines of JSON', value: text / CALLS / 1000 },
          { label: 'offhook disk store', value: bytes / CALLS / 1000 },
        ],
      },
    ];
  });
}

/** @returns {Promise<Scenario>} */
async function measureLateness() {
  const idle = await lateness(undefined);
  const memory = await lateness(new MemoryStore());
  const disk = await withFolder(async (folder) => lateness(await DiskStore.open({ folder })));
  return {
    title: 'How late a 20 ms timer comes, p99',
    unit: 'ms',
    note: `${LAG_CALLS} calls with twelve facts a second each, for ${LAG_MS / 1000} s.`,
    bars: [
      { label: 'no facts', value: quantile(idle, 0.99) },
      { label: 'memory store', value: quantile(memory, 0.99) },
      { label: 'offhook disk store', value: quantile(disk, 0.99) },
    ],
  };
}

/** @returns {Promise<Scenario[]>} */
export async function measureDisk() {
  return [await measureThroughput(), ...(await measureHydration()), await measureLateness()];
}
