// A server of a cluster in a process of its own, with the local stack. Its settings come as JSON; tells its parent what it states.
import { Socket } from 'node:net';
import { CarrierA, CarrierB, load, Offhook, tts } from '../../support/child-server.mjs';
import { UNKNOWN_FACT } from '../numbers.mjs';

/** @typedef {{ carrier: 'carrier-a' | 'carrier-b', credentials: object, number: string, host: string, from: string, clockAheadMs: number, isNextVersion: boolean, serve: object }} Settings */
/** @typedef {{ listening: true } | { fact: import('../../../src/index.js').CallEvent } | { ended: string } | { away: number } | { log: object } | { stall: { at: number, lateMs: number, busyMs: number } }} Told */

const settings = /** @type {Settings} */ (JSON.parse(process.argv[2] ?? ''));
/** @param {Told} message */
const tell = (message) => void process.send?.(message);

// What is told to the parent is told in its time.
const { now } = Date;
Date.now = () => now() + settings.clockAheadMs;

// The doors of the network know this server by the address that it calls from.
const { connect } = Socket.prototype;
Socket.prototype.connect = /** @type {typeof connect} */ (
  /** @this {Socket} @param {any[]} args */
  function (...args) {
    const options = Array.isArray(args[0]) ? args[0][0] : args[0];
    if (options?.port !== undefined) options.localAddress = settings.from;
    return Reflect.apply(connect, this, args);
  }
);

// While the broker does not answer in the time of a webhook, limits are not exact: also where it is the machine that has no time.
/** @type {typeof import('../../../src/cluster/redis/redis-coordinator.js')} */
const { RedisCoordinator } = await load('cluster/redis/redis-coordinator.js');
const isThere = Object.getOwnPropertyDescriptor(RedisCoordinator.prototype, 'isThere')?.get;
let toldAwayAt = 0;
Object.defineProperty(RedisCoordinator.prototype, 'isThere', {
  get() {
    const is = isThere?.call(this) === true;
    if (!is && now() > toldAwayAt + 100) {
      toldAwayAt = now();
      tell({ away: toldAwayAt });
    }
    return is;
  },
});

if (settings.isNextVersion) {
  /** @type {typeof import('../../../src/calls/facts/fact-stamp.js')} */
  const { FactStamp } = await load('calls/facts/fact-stamp.js');
  const { publish } = FactStamp.prototype;
  FactStamp.prototype.publish = /** @this {any} @param {any} fact @param {[]} at */ function (fact, ...at) {
    publish.call(this, { ...fact, mood: 'good' }, ...at);
    if (fact.type === 'turn.completed')
      publish.call(this, /** @type {any} */ ({ type: UNKNOWN_FACT, mood: 'good' }));
  };
}

const { carrier: id, credentials } = settings;
const carrier = id === 'carrier-a' ? new CarrierA(credentials) : new CarrierB(credentials);
const phone = new Offhook({ carrier, phoneNumber: settings.number, webhookUrl: settings.host });

/** Says what it has heard, and goes on for some seconds: a hole in it is heard. @type {import('../../../src/index.js').LanguageModel} */
const llm = {
  name: 'test/talker',
  async *respond({ messages }) {
    const said = messages.findLast(({ role }) => role === 'user')?.content ?? '';
    yield { type: 'text', delta: `You said ${said} I write that down, and I read it back to you now.` };
  },
};
const agent = phone.agent({
  systemPrompt: 'You help.',
  firstMessage: 'Hello, how can I help you today?',
  idle: false,
  turnTaking: { fillers: [] },
  tts,
  llm,
});

/** @param {string} level */
const keep =
  (level) =>
  (/** @type {any} */ fields, sentence = '') =>
    tell({ log: { ...fields, at: now(), level, sentence } });
const { events } = await phone.serve({
  agent,
  host: '127.0.0.1',
  manageWebhook: false,
  logger: { debug() {}, info: keep('info'), warn: keep('warn'), error: keep('error') },
  onCallEnd: ({ callId }) => tell({ ended: callId }),
  ...settings.serve,
});
events.subscribe((fact) => tell({ fact }));

const LOOK_MS = 20;
const LATE_MS = 20;
let lookedAt = performance.now();
let used = process.cpuUsage();
setInterval(() => {
  const lookAt = performance.now();
  const { user, system } = process.cpuUsage(used);
  const lateMs = lookAt - lookedAt - LOOK_MS;
  // What it did not compute in, the machine did not give it.
  if (lateMs > LATE_MS) tell({ stall: { at: now(), lateMs, busyMs: (user + system) / 1000 } });
  lookedAt = lookAt;
  used = process.cpuUsage();
}, LOOK_MS).unref();

/** Without its parent it serves nobody. */
process.on('disconnect', () => process.exit(1));
tell({ listening: true });
