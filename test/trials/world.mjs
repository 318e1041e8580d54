// The world of a trial: vendors and carriers in this process, phone servers in processes of their own.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CREDENTIALS, OWN_NUMBER, PUBLIC_HOST } from './numbers.mjs';

/** @type {typeof import('../../src/testing/index.js')} */
export const testing = await import(new URL('../../dist/testing/index.js', import.meta.url).href);

const PATH = fileURLToPath(new URL('phone-process.mjs', import.meta.url));
const ANSWER_MS = 30_000;
const FIRST_PORT = 20_500;
const PORTS = 10_000;
/** @type {Set<number>} */
const given = new Set();

/** @param {number} ms @returns {Promise<void>} */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Randomness that can be repeated. @param {number} seed */
export function createDice(seed) {
  let state = seed >>> 0;
  // Source: the public-domain generator mulberry32.
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    random,
    /** @param {number} from @param {number} to */
    between: (from, to) => from + Math.floor(random() * (to - from + 1)),
    /** @template T @param {readonly T[]} list @returns {T} */
    pick: (list) => /** @type {T} */ (list[Math.floor(random() * list.length)]),
    /** A word that nobody else says. */
    word: () =>
      Array.from({ length: 4 }, () => {
        const consonant = 'bdfgklmnprstvz'[Math.floor(random() * 14)];
        return `${consonant}${'aeiou'[Math.floor(random() * 5)]}`;
      }).join(''),
  };
}

/** @typedef {ReturnType<typeof createDice>} Dice */

/**
 * Below the ports that systems give to outgoing connections: who closes a port to open it again finds it free. Another one each time.
 * @returns {Promise<number>}
 */
export async function freePort() {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    if (given.has(port)) continue;
    given.add(port);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error('no port is free');
}

/** Stands before the servers that follow each other, on a port that stays. @param {number} port */
async function openFront(port) {
  let upstream = 0;
  const server = createServer((client) => {
    const onward = connect(upstream, '127.0.0.1');
    for (const [side, other] of [
      [client, onward],
      [onward, client],
    ]) {
      side?.on('error', () => {});
      side?.on('close', () => other?.destroy());
    }
    client.pipe(onward).pipe(client);
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    /** What comes next goes to this port. @param {number} next */
    switchTo(next) {
      upstream = next;
    },
    close: () => server.close(),
  };
}

/** A phone server that can die and be started again on what it kept. */
export class PhoneProcess {
  /** How often each call was told to `onCallEnd`. @type {Map<string, number>} */
  ended = new Map();
  /** The same for `onCallStart`. @type {Map<string, number>} */
  started = new Map();
  /** From when to when there was no server, by `Date.now()`. @type {{ from: number, to: number }[]} */
  absences = [];
  /** Exits that nobody had ordered. @type {string[]} */
  crashes = [];
  /** Servers that have ended because the next one has their calls. */
  deploys = 0;
  /** Those that end by themselves. @type {WeakSet<import('node:child_process').ChildProcess>} */
  #leaving = new WeakSet();
  /** @type {Awaited<ReturnType<typeof openFront>> | undefined} */
  #front;
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #child;
  /** The next ones, where they are there already. @type {import('node:child_process').ChildProcess[]} */
  #spares = [];
  #isExpectedToGo = false;
  #nextId = 0;
  /** @type {import('./phone-process.mjs').ServeOrder} */
  #order;
  #nodeFlags;

  /** @param {string} name @param {import('./phone-process.mjs').ServeOrder} order @param {readonly string[]} [nodeFlags] */
  constructor(name, order, nodeFlags = []) {
    this.name = name;
    this.url = `http://127.0.0.1:${order.port}`;
    this.mode = order.mode;
    this.#order = order;
    this.#nodeFlags = nodeFlags;
  }

  /** It serves, and nobody has ordered it to go. */
  isUp = false;

  /** Of the process that serves now. */
  get pid() {
    return this.#child?.pid;
  }

  /** Loads the next processes before they are needed: how long a restart takes then says nothing of the machine. @param {number} [count] */
  async prepare(count = 1) {
    while (this.#spares.length < count) this.#spares.push(this.#fork());
    await Promise.all(this.#spares.map((spare) => this.#askOf(spare, { type: 'load', order: this.#order })));
  }

  #fork() {
    return fork(PATH, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: ['--expose-gc', ...this.#nodeFlags],
      env: { PATH: process.env.PATH ?? '', XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR ?? '' },
    });
  }

  /** From now on each server has a port of its own, behind one that stays. */
  async open() {
    this.#front = await openFront(this.#order.port);
    await this.start();
  }

  async start() {
    const child = this.#begin();
    this.#isExpectedToGo = false;
    this.#child = child;
    const port = this.#front === undefined ? this.#order.port : await freePort();
    await this.ask({ ...this.#order, port });
    this.#front?.switchTo(port);
    this.isUp = true;
  }

  /** Starts the next server, which takes over in mid-call. Resolves when the one before has ended by itself. @param {number} withinMs */
  async deploy(withinMs) {
    const old = this.#child;
    if (old === undefined || this.#front === undefined) return;
    const gone = once(old, 'exit');
    this.#leaving.add(old);
    const child = this.#begin();
    const port = await freePort();
    await this.#askOf(child, { ...this.#order, port, takesOver: true });
    this.#child = child;
    this.#front.switchTo(port);
    const isGone = await Promise.race([gone.then(() => true), pause(withinMs).then(() => false)]);
    if (isGone) this.deploys += 1;
    else {
      this.crashes.push(`${this.name} did not end once its calls were handed over`);
      old.kill('SIGKILL');
    }
  }

  #begin() {
    const child = this.#spares.shift() ?? this.#fork();
    child.on('message', (/** @type {any} */ message) => {
      const told =
        message.type === 'ended' ? this.ended : message.type === 'started' ? this.started : undefined;
      told?.set(message.callId, (told.get(message.callId) ?? 0) + 1);
    });
    child.on('exit', (code, signal) => {
      const isExpected = this.#leaving.has(child) ? code === 0 : this.#isExpectedToGo;
      if (!isExpected) this.crashes.push(`${this.name} ended with ${code ?? signal}`);
      if (this.#child !== child) return;
      this.#child = undefined;
      this.isUp = false;
    });
    return child;
  }

  /** @param {import('./phone-process.mjs').Order} order @returns {Promise<any>} */
  async ask(order) {
    if (this.#child === undefined) throw new Error(`${this.name} is not up`);
    return this.#askOf(this.#child, order);
  }

  /** @param {import('node:child_process').ChildProcess} child @param {import('./phone-process.mjs').Order} order @returns {Promise<any>} */
  async #askOf(child, order) {
    this.#nextId += 1;
    const id = this.#nextId;
    child.send({ id, order });
    return new Promise((resolve, reject) => {
      const finish = (/** @type {() => void} */ act) => {
        clearTimeout(timer);
        child.off('message', hear).off('exit', leave);
        act();
      };
      const hear = (/** @type {any} */ message) => {
        if (message.id !== id) return;
        finish(() =>
          message.type === 'answer' ? resolve(message.answer) : reject(new Error(message.reason)),
        );
      };
      const leave = () => finish(() => reject(new Error(`${this.name} is gone`)));
      const timer = setTimeout(
        () => finish(() => reject(new Error(`${this.name} does not answer to ${order.type}`))),
        ANSWER_MS,
      );
      child.on('message', hear).on('exit', leave);
    });
  }

  /** Kills the process as an operating system does, and starts the next one on the same folder. @param {number} absentMs */
  async kill(absentMs) {
    const child = this.#child;
    if (child === undefined || !this.isUp) return;
    const from = Date.now();
    this.isUp = false;
    this.#isExpectedToGo = true;
    child.kill('SIGKILL');
    await once(child, 'exit');
    await pause(absentMs);
    await this.start();
    this.absences.push({ from, to: Date.now() });
  }

  /** Disconnects, and tells whether the process then ended by itself. @param {number} withinMs */
  async leave(withinMs) {
    const child = this.#child;
    if (child === undefined) return false;
    this.isUp = false;
    this.#isExpectedToGo = true;
    const gone = once(child, 'exit').then(() => true);
    await this.ask({ type: 'disconnect' });
    const isGone = await Promise.race([gone, pause(withinMs).then(() => false)]);
    if (!isGone) {
      child.kill('SIGKILL');
      await gone;
    }
    return isGone;
  }

  /** Ends it without ceremony. */
  async end() {
    for (const spare of this.#spares) spare.kill('SIGKILL');
    this.#front?.close();
    const child = this.#child;
    if (child === undefined) return;
    this.#isExpectedToGo = true;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** @param {string} path @returns {Promise<any>} */
  async get(path) {
    const response = await fetch(`${this.url}/api/dashboard${path}`, { signal: AbortSignal.timeout(10_000) });
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
    return response.json();
  }

  /** @param {string} path @param {object} body */
  async post(path, body) {
    const headers = { 'content-type': 'application/json' };
    const init = {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    };
    return (await fetch(`${this.url}/api/dashboard${path}`, init)).status;
  }

  /** Whole records, ended and active. @returns {Promise<import('../../src/index.js').CallRecord[]>} */
  async records() {
    const { calls } = await this.get('/calls?limit=500');
    return Promise.all(
      calls.map((/** @type {{ callId: string }} */ { callId }) =>
        this.get(`/calls/${encodeURIComponent(callId)}`),
      ),
    );
  }
}

/** @typedef {{ phone: PhoneProcess, simulator: import('../../src/testing/index.js').CarrierSimulator }} Exchange */

/**
 * An open one has no secret of its carrier, a blind one takes every call whatever its load.
 * @typedef {{ carrier: 'carrier-a' | 'carrier-b', mode: 'pipeline' | 'realtime', isOpen?: boolean, isBlind?: boolean, nodeFlags?: readonly string[] }} ServerPlan
 */

/** @type {readonly ServerPlan[]} */
export const SERVERS = [
  { carrier: 'carrier-a', mode: 'pipeline' },
  { carrier: 'carrier-b', mode: 'pipeline' },
  { carrier: 'carrier-a', mode: 'realtime' },
  { carrier: 'carrier-b', mode: 'realtime' },
];

/**
 * Who answers what, who is called, and what a server is told beside that.
 * @typedef {{
 *   answer?: string,
 *   mind?: import('../../src/testing/index.js').EmulateChatCompletionsOptions,
 *   model?: import('../../src/testing/index.js').EmulateOpenAIRealtimeOptions,
 *   callees?: Readonly<Record<string, import('../../src/testing/index.js').Callee>>,
 *   disturbances?: import('../../src/testing/index.js').Disturbances,
 *   effects?: string,
 *   isFronted?: boolean,
 * }} WorldOptions
 * `isFronted`: servers can follow each other, behind one port.
 */

/** A carrier that finds its server on this port. @param {ServerPlan['carrier']} carrier @param {number} port @param {Pick<WorldOptions, 'callees' | 'disturbances'>} [options] */
export function startSimulator(carrier, port, { callees, disturbances = {} } = {}) {
  const { accountSid, authToken, apiKey, connectionId } = CREDENTIALS;
  const common = {
    url: `http://127.0.0.1:${port}`,
    webhookHost: PUBLIC_HOST,
    openVoice: testing.openToneVoice,
    callees: { '*': /** @type {const} */ ({ type: 'human', ringMs: 200 }), ...callees },
    disturbances,
  };
  return carrier === 'carrier-a'
    ? testing.startCarrierASimulator({ ...common, accountSid, authToken, phoneNumbers: [OWN_NUMBER] })
    : testing.startCarrierBSimulator({ ...common, apiKey, connectionId });
}

/** Starts everything: by default one server for each carrier and voice mode, and agents who repeat what they hear. @param {readonly ServerPlan[]} [servers] @param {WorldOptions} [options] */
export async function openWorld(servers = SERVERS, { answer, ...options } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-trial-'));
  // Calls of a trial must not appear on a dashboard that happens to run.
  process.env.XDG_RUNTIME_DIR = folder;
  const ears = await testing.emulateDeepgram();
  const says = answer === undefined ? {} : { replies: () => ({ text: answer }) };
  const mind = await testing.emulateChatCompletions({ ...says, ...options.mind });
  const voice = await testing.emulateElevenLabs({ firstAudioMs: 40, chunkEveryMs: 20 });
  const model = await testing.emulateOpenAIRealtime({ ...says, ...options.model });
  const vendors = { ears, mind, voice, model };
  /** @type {Exchange[]} */
  const exchanges = [];
  for (const { carrier, mode, isOpen = false, isBlind = false, nodeFlags } of servers) {
    const name = `${carrier}, ${mode}${isOpen ? ', open' : ''}`;
    const port = await freePort();
    const simulator = await startSimulator(carrier, port, options);
    const order = {
      ...{ type: /** @type {const} */ ('serve'), carrier, mode, port, isOpen, isBlind },
      ...{ ears: ears.url, mind: mind.url, voice: voice.url, model: model.url },
      simulator: simulator.url,
      dataDir: join(folder, name),
      ...('publicKey' in simulator ? { publicKey: simulator.publicKey } : {}),
      ...(options.effects === undefined ? {} : { effects: options.effects }),
    };
    const phone = new PhoneProcess(name, order, nodeFlags);
    await (options.isFronted === true ? phone.open() : phone.start());
    exchanges.push({ phone, simulator });
  }
  return {
    folder,
    vendors,
    exchanges,
    async close() {
      await Promise.all(exchanges.map(({ phone }) => phone.end()));
      await Promise.all(exchanges.map(({ simulator }) => simulator.close()));
      await Promise.all(Object.values(vendors).map((vendor) => vendor.close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof openWorld>>} World */

/** Collects what must hold, each with a sentence and with what breaks it. */
export class Verdict {
  passed = 0;
  failed = 0;

  /** @param {string} sentence @param {readonly unknown[]} breaches */
  check(sentence, breaches) {
    if (breaches.length === 0) {
      this.passed += 1;
      console.log(`  holds: ${sentence}`);
      return;
    }
    this.failed += 1;
    console.log(`  BROKEN: ${sentence}`);
    for (const breach of breaches.slice(0, 5)) console.log(`    ${String(breach)}`);
    if (breaches.length > 5) console.log(`    and ${breaches.length - 5} more`);
  }
}
