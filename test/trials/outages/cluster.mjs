// The servers of one cluster in the trial, with their broker, the network between them, a load balancer and a carrier; and what each of them states and shows.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { CREDENTIALS, OWN_NUMBER, PUBLIC_HOST } from '../numbers.mjs';
import { freePort, pause, testing } from '../world.mjs';
import { Balancer } from './balancer.mjs';
import { Broker } from './broker.mjs';
import { addressOf, Door } from './network.mjs';

const CHILD = fileURLToPath(new URL('node-process.mjs', import.meta.url));
const NAME = 'trial';
const SECRET = 'a secret of thirty-two bytes, or more';
const START_MS = 30_000;
const START_AGAIN_MS = 500;
const ASK_MS = 10_000;
const AROUND_MS = 1000;
const SHORT_OF_TIME_MS = 60;
/** What was done to a server is over for its calls so long after. */
const RECOVERED_MS = 12_000;
/** What is kept of the log of a server. */
const MAX_LINES = 5000;

/** Calls of all servers. Callers want more. */
export const MAX_CALLS = 6;
/** All callers come from one address. While the broker is away, each server has its share of what is left, and those that end leave theirs to nobody else. */
const MAX_STREAMS = 3 * MAX_CALLS;

const HOUR_MS = 3_600_000;
/** Carrier B dates what it signs: a server whose clock is further off takes nothing of it. */
const WITHIN_SIGNATURE_MS = 240_000;
/** Servers that each cluster has from the beginning. */
export const UNLIKE_OTHERS = /** @type {const} */ ({
  clock: 'a server has a clock that is an hour off',
  version: 'a server of the next version states what others do not know',
});

/** @typedef {import('../../../src/index.js').CallEvent} CallEvent */
/** @typedef {import('../../../src/index.js').CallRecord} CallRecord */
/** @typedef {{ at: number, lateMs: number, busyMs: number }} Stall */
/** @typedef {{ level: string, sentence: string, at: number, callId?: string }} Line */

/** Follows the event stream of a dashboard, and keeps its facts in the order in which they came. */
class FollowedDashboard {
  /** @type {CallEvent[]} */
  facts = [];
  /** It ended before it was to. */
  hasBroken = false;
  #over = new AbortController();

  /** Resolves with the snapshot. @param {number} port */
  async open(port) {
    const response = await fetch(`http://127.0.0.1:${port}/api/dashboard/events`, {
      signal: this.#over.signal,
    });
    const body = response.body;
    if (body === null) throw new Error('a dashboard has no event stream');
    await new Promise((resolve) => void this.#read(body, () => resolve(undefined)));
  }

  close() {
    this.#over.abort();
  }

  /** @param {ReadableStream<Uint8Array>} body @param {() => void} onSnapshot */
  async #read(body, onSnapshot) {
    let rest = '';
    const decoder = new TextDecoder();
    try {
      for await (const bytes of body) {
        const events = (rest + decoder.decode(bytes, { stream: true })).split('\n\n');
        rest = events.pop() ?? '';
        for (const event of events) {
          const type = /^event: (.*)$/m.exec(event)?.[1];
          const data = /^data: (.*)$/m.exec(event)?.[1];
          if (type === undefined || type === 'draining') continue;
          if (type === 'snapshot') onSnapshot();
          else if (data !== undefined) this.facts.push(JSON.parse(data));
        }
      }
    } catch {
      // It says so below.
    }
    this.hasBroken = !this.#over.signal.aborted;
    onSnapshot();
  }
}

/** One server. */
export class ClusterNode {
  /** Those that it has stated: `at` is when that was, on the clock of the trial. @type {CallEvent[]} */
  facts = [];
  /** How often `onCallEnd` was called, by call. @type {Map<string, number>} */
  ended = new Map();
  /** @type {Line[]} */
  lines = [];
  /** @type {Stall[]} */
  stalls = [];
  /** When something was done to it; the last one may go on. @type {{ from: number, to: number }[]} */
  touched = [];
  /** When it knew the others, and its dashboard had told what there was. */
  joinedAt = 0;
  /** When the broker was away for it, every 100 ms of that time. @type {number[]} */
  away = [];
  /** @type {number | undefined} */
  goneAt;
  dashboard = new FollowedDashboard();
  #isListening = false;

  /** @param {import('node:child_process').ChildProcess} child @param {{ index: number, port: number, door: Door, front: Door, unlike: string | undefined }} place */
  constructor(child, { index, port, door, front, unlike }) {
    this.child = child;
    /** The others. */
    this.unlike = unlike;
    this.index = index;
    this.port = port;
    /** Where the others reach it. */
    this.door = door;
    /** Where the load balancer reaches it. */
    this.front = front;
    this.from = addressOf(index);
    this.name = `server ${index}`;
    child.on('message', (/** @type {any} */ told) => {
      if (told.listening) this.#isListening = true;
      else if (told.fact) this.facts.push({ ...told.fact, at: Date.now() });
      else if (told.ended) this.ended.set(told.ended, (this.ended.get(told.ended) ?? 0) + 1);
      else if (told.away) this.away.push(told.away);
      else if (told.stall) this.stalls.push(told.stall);
      else if (told.log && this.lines.length < MAX_LINES) this.lines.push(told.log);
    });
  }

  /** When the broker last was away for it. */
  get awayAt() {
    return this.away.at(-1) ?? 0;
  }

  get isUp() {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Nothing was done to it since then. @param {number} since */
  isUntouched(since) {
    return this.isUp && this.goneAt === undefined && this.touched.every(({ to }) => to < since);
  }

  /** Nothing was done to it, or to its calls, at that time. @param {number} at */
  isUntouchedAround(at) {
    const isGone = this.goneAt !== undefined && this.goneAt < at + AROUND_MS;
    return !isGone && this.touched.every(({ from, to }) => at < from - AROUND_MS || at > to + RECOVERED_MS);
  }

  /** The machine gave it no time then, for a while. @param {number} from @param {number} to */
  wasShortOfTime(from, to) {
    return this.stalls.some(
      ({ at, lateMs, busyMs }) =>
        lateMs > SHORT_OF_TIME_MS && at >= from && at - lateMs <= to && busyMs < lateMs / 2,
    );
  }

  /** When the machine gave it no time for so long. @param {number} leastMs */
  stallsOf(leastMs) {
    return this.stalls
      .filter(({ lateMs, busyMs }) => lateMs >= leastMs && busyMs < lateMs / 2)
      .map(({ at }) => at);
  }

  /** What the machine did not give it of a time, in milliseconds. @param {number} from @param {number} to */
  lateMs(from, to) {
    return this.stalls
      .filter(({ at, lateMs, busyMs }) => at >= from && at <= to && busyMs < lateMs / 2)
      .reduce((all, { lateMs }) => all + lateMs, 0);
  }

  /** Resolves when it serves, and knows the other servers. */
  async ready() {
    const until = Date.now() + START_MS;
    while (Date.now() < until) {
      const isReady = this.#isListening && (await this.#isJoined());
      if (isReady) {
        await this.dashboard.open(this.port);
        this.joinedAt = Date.now();
        return;
      }
      if (!this.isUp) break;
      await pause(40);
    }
    throw new Error(`${this.name} did not start: ${JSON.stringify(this.lines.slice(-5))}`);
  }

  /** @param {string} path @returns {Promise<any>} */
  async get(path) {
    const response = await fetch(`http://127.0.0.1:${this.port}/api/dashboard${path}`, {
      signal: AbortSignal.timeout(ASK_MS),
    });
    if (!response.ok) throw new Error(`${this.name} answered ${path} with ${response.status}`);
    return response.json();
  }

  /** @param {string} path @param {object} body */
  async post(path, body) {
    const response = await fetch(`http://127.0.0.1:${this.port}/api/dashboard${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ASK_MS),
    });
    return response.status;
  }

  /** Whole records, by ID. @returns {Promise<Map<string, CallRecord>>} */
  async records() {
    const { calls } = await this.get('/calls?limit=500');
    const whole = await Promise.all(
      calls.map((/** @type {{ callId: string }} */ { callId }) =>
        this.get(`/calls/${encodeURIComponent(callId)}`),
      ),
    );
    return new Map(whole.map((record) => [record.callId, record]));
  }

  /** At once. Idempotent. */
  async kill() {
    this.goneAt ??= Date.now();
    this.dashboard.close();
    if (this.isUp) {
      const gone = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await gone;
    }
    this.door.close();
    this.front.close();
  }

  async #isJoined() {
    const response = await fetch(`http://127.0.0.1:${this.port}/ready`, {
      signal: AbortSignal.timeout(1000),
    }).catch(() => undefined);
    return response?.status === 200;
  }
}

/** A whole cluster. */
export class TrialCluster {
  /** All that there were, also those that are gone. @type {ClusterNode[]} */
  nodes = [];
  /** When the broker lost all that it knew. @type {number[]} */
  losses = [];
  /** Servers that ended, and nobody had ended them. @type {string[]} */
  crashes = [];
  /** Until when the broker takes nobody who begins, by `Date.now()`. */
  refusesUntil = 0;
  #count = 0;
  #isOver = false;

  /** `isAhead`: the clock of the server whose clock is wrong. @param {{ carrier: 'carrier-a' | 'carrier-b', servers: number, isAhead: boolean }} plan */
  static async open({ carrier, servers, isAhead }) {
    const broker = await Broker.start(await freePort());
    const brokerDoor = await Door.open(broker.port);
    const balancer = await Balancer.open();
    const simulator = await startCarrier(carrier, balancer.url);
    const carrierDoor = await Door.open(Number(new URL(simulator.url).port));
    const cluster = new TrialCluster({ broker, brokerDoor, carrierDoor, balancer, simulator });
    const offMs = carrier === 'carrier-b' ? WITHIN_SIGNATURE_MS : HOUR_MS;
    await Promise.all([
      cluster.start({ clockAheadMs: isAhead ? offMs : -offMs }),
      cluster.start({ isNextVersion: true }),
      ...Array.from({ length: servers - 2 }, () => cluster.start()),
    ]);
    return cluster;
  }

  /** @param {{ broker: Broker, brokerDoor: Door, carrierDoor: Door, balancer: Balancer, simulator: import('../../../src/testing/index.js').CarrierSimulator }} parts @private */
  constructor({ broker, brokerDoor, carrierDoor, balancer, simulator }) {
    this.broker = broker;
    /** All servers reach the broker by it. */
    this.brokerDoor = brokerDoor;
    /** And the carrier's REST API by this one. */
    this.carrierDoor = carrierDoor;
    this.balancer = balancer;
    this.simulator = simulator;
    process.on('exit', this.#killAll);
  }

  /** Those that are up. */
  get living() {
    return this.nodes.filter((node) => node.goneAt === undefined);
  }

  /** Those that know the others. */
  get ready() {
    return this.living.filter(({ joinedAt }) => joinedAt > 0);
  }

  /** Another server, as whoever watches over it starts it: again and again where the broker takes nobody. */
  async startAgain() {
    for (;;) {
      const begunAt = Date.now();
      try {
        return await this.start();
      } catch (error) {
        if (this.refusesUntil <= begunAt) throw error;
        await pause(START_AGAIN_MS);
      }
    }
  }

  /** Another server. */
  async start({ clockAheadMs = 0, isNextVersion = false } = {}) {
    this.#count += 1;
    const index = this.#count;
    const begunAt = Date.now();
    const port = await freePort();
    const [door, front] = [await Door.open(port), await Door.open(port)];
    const settings = {
      carrier: this.simulator.carrier,
      credentials: credentialsOf(this.simulator, `http://127.0.0.1:${this.carrierDoor.port}`),
      number: OWN_NUMBER,
      host: PUBLIC_HOST,
      from: addressOf(index),
      clockAheadMs,
      isNextVersion,
      serve: {
        port,
        dataDir: false,
        drainSeconds: 1,
        maxCalls: MAX_CALLS,
        maxStreamsPerIp: MAX_STREAMS,
        cluster: {
          url: `redis://127.0.0.1:${this.brokerDoor.port}`,
          name: NAME,
          secret: SECRET,
          address: `http://127.0.0.1:${door.port}`,
        },
      },
    };
    const child = fork(CHILD, [JSON.stringify(settings)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { PATH: process.env.PATH ?? '', XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR ?? '' },
    });
    const unlike =
      clockAheadMs === 0 ? (isNextVersion ? UNLIKE_OTHERS.version : undefined) : UNLIKE_OTHERS.clock;
    const node = new ClusterNode(child, { index, port, door, front, unlike });
    this.nodes.push(node);
    child.on('exit', (code, signal) => {
      if (node.joinedAt === 0 && this.refusesUntil > begunAt) void node.kill();
      if (node.goneAt === undefined && !this.#isOver)
        this.crashes.push(`${node.name} ended with ${code ?? signal}`);
      this.balancer.remove(front.port);
    });
    await node.ready();
    this.balancer.add(front.port);
    return node;
  }

  /** A broker that is told what this one is. @returns {Promise<{ broker: Broker, way: Door }>} */
  async startReplica() {
    const way = await Door.open(this.broker.port);
    const broker = await Broker.start(await freePort(), ['--replicaof', '127.0.0.1', String(way.port)]);
    const until = Date.now() + START_MS;
    while (!/master_link_status:up/.test(String(await broker.ask('INFO', 'replication')))) {
      if (Date.now() > until) throw new Error('the replica of the broker does not begin');
      await pause(20);
    }
    return { broker, way };
  }

  /** Has the place of the broker from now on. @param {{ broker: Broker, way: Door }} replica */
  async failOver({ broker, way }) {
    await broker.promote();
    this.brokerDoor.turnTo(broker.port);
    way.close();
    await this.broker.close();
    this.broker = broker;
  }

  async close() {
    this.#isOver = true;
    this.broker.thaw();
    await Promise.all(this.nodes.map((node) => node.kill()));
    await this.simulator.close();
    await this.balancer.close();
    this.brokerDoor.close();
    this.carrierDoor.close();
    await this.broker.close();
    process.off('exit', this.#killAll);
  }

  #killAll = () => {
    for (const { child } of this.nodes) child.kill('SIGKILL');
  };
}

/** @param {'carrier-a' | 'carrier-b'} carrier @param {string} url */
function startCarrier(carrier, url) {
  const { accountSid, authToken, apiKey, connectionId } = CREDENTIALS;
  const common = { url, webhookHost: PUBLIC_HOST, openVoice: testing.openToneVoice };
  return carrier === 'carrier-a'
    ? testing.startCarrierASimulator({ ...common, accountSid, authToken, phoneNumbers: [OWN_NUMBER] })
    : testing.startCarrierBSimulator({ ...common, apiKey, connectionId });
}

/** @param {import('../../../src/testing/index.js').CarrierSimulator} simulator @param {string} baseUrl */
function credentialsOf(simulator, baseUrl) {
  const { accountSid, authToken, apiKey, connectionId } = CREDENTIALS;
  return 'publicKey' in simulator
    ? { apiKey, connectionId, publicKey: simulator.publicKey, baseUrl }
    : { accountSid, authToken, baseUrl };
}
