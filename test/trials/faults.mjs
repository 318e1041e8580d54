// Everything that can go wrong around a call, by name. A fault that lasts returns what mends it.
import { connect } from 'node:net';

/** @typedef {import('./world.mjs').World} World */
/** @typedef {import('./world.mjs').Dice} Dice */
/** @typedef {import('./world.mjs').Exchange} Exchange */
/** @typedef {(world: World, dice: Dice) => (() => void) | void} Fault */

const NO_DISTURBANCES = {
  duplicates: 0,
  clockSkewSeconds: 0,
  restFailures: [],
  lostAnswers: [],
  restDelayMs: 0,
  streamDelayMs: 0,
};
const NO_B_DISTURBANCES = {
  ...NO_DISTURBANCES,
  webhookDelayMs: 0,
  unknownEvents: false,
  flatEnvelopes: false,
  prefixedStreamEvents: false,
  shuffledChunks: false,
  repeatedChunks: false,
  oddPayloads: false,
  errorFrames: false,
  failedStreams: 0,
  closedBeforeStart: 0,
};
const REST_PURPOSES = /** @type {const} */ ([
  'dial',
  'answer',
  'start-stream',
  'hang-up',
  'transfer',
  'look-up',
]);
const CLOSE_CODES = [1000, 1001, 1006, 1008, 1011, 1013, 4000];

/** @param {World} world @param {Dice} dice */
const someVendor = ({ vendors }, dice) => dice.pick(Object.values(vendors));
/** @param {World} world @param {Dice} dice @param {'carrier-a' | 'carrier-b'} [carrier] */
const someExchange = ({ exchanges }, dice, carrier) =>
  dice.pick(exchanges.filter(({ simulator }) => carrier === undefined || simulator.carrier === carrier));

/** @param {import('../../src/testing/index.js').WireTroubles} troubles @returns {Fault} */
const wire = (troubles) => (world, dice) => {
  const vendor = someVendor(world, dice);
  vendor.troubles = troubles;
  return () => {
    vendor.troubles = {};
  };
};

/** @param {import('../../src/testing/index.js').SocketTrouble} trouble @returns {Fault} */
const breaks = (trouble) => (world, dice) => someVendor(world, dice).break(trouble);

/** @param {(dice: Dice) => object} make @param {'carrier-a' | 'carrier-b'} [carrier] @returns {Fault} */
const disturbed = (make, carrier) => (world, dice) => {
  const { simulator } = someExchange(world, dice, carrier);
  simulator.disturb(make(dice));
  return () => simulator.disturb(simulator.carrier === 'carrier-b' ? NO_B_DISTURBANCES : NO_DISTURBANCES);
};

/** @param {Exchange} exchange @param {import('./phone-process.mjs').Order} order */
const tell = ({ phone }, order) => {
  if (phone.isUp) void phone.ask(order).catch(() => {});
};

/** @param {'throw' | 'hang'} behave @returns {Fault} */
const callbacks = (behave) => (world, dice) => {
  const exchange = someExchange(world, dice);
  tell(exchange, { type: 'callbacks', behave });
  return () => tell(exchange, { type: 'callbacks', behave: 'well' });
};

/** @param {string | Buffer} text @returns {Fault} */
const atTheDoor = (text) => (world, dice) => {
  const { port } = new URL(someExchange(world, dice).phone.url);
  const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
  socket.on('error', () => {});
  socket.setTimeout(5000, () => socket.destroy());
  return () => socket.destroy();
};

/** @param {'hangup' | 'transfer'} what @returns {Fault} */
const operator = (what) => (world, dice) => {
  const { phone } = someExchange(world, dice);
  void (async () => {
    const { calls } = await phone.get('/active');
    if (calls.length === 0) return;
    const { callId } = dice.pick(/** @type {{ callId: string }[]} */ (calls));
    await phone.post(
      `/calls/${encodeURIComponent(callId)}/${what}`,
      what === 'transfer' ? { to: '+15005550030' } : {},
    );
  })().catch(() => {});
};

const HEAD = 'Host: voice.example.com\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';

/** @type {Readonly<Record<string, Fault>>} */
export const FAULTS = {
  'vendor refuses': (world, dice) =>
    someVendor(world, dice).refuseNext({
      status: dice.pick([401, 403, 404, 429, 500, 503]),
      times: dice.between(1, 4),
    }),
  'vendor resets connections': (world, dice) => someVendor(world, dice).resetNext(dice.between(1, 4)),
  'vendor takes connections and is silent': (world, dice) => someVendor(world, dice).ignoreNext(2),
  'vendor freezes': (world, dice) => someVendor(world, dice).freeze(),
  'vendor closes sockets': (world, dice) => someVendor(world, dice).disconnectAll(dice.pick(CLOSE_CODES)),
  'vendor cuts requests': (world, dice) => someVendor(world, dice).cutRequests(),
  'vendor cuts connections': breaks('reset'),
  'vendor sends garbage': breaks('garbage'),
  'vendor sends bytes that are no message': breaks('binary-garbage'),
  'vendor sends a message too long': breaks('oversized'),
  'vendor sends another event': breaks({ send: { type: 'weather', id: null, delta: 7 } }),
  'vendor is late': wire({ delayMs: 1500, jitterMs: 700 }),
  'vendor drops messages': wire({ dropEvery: 7 }),
  'vendor repeats messages': wire({ duplicateEvery: 3 }),
  'vendor swaps messages': wire({ reorderEvery: 4 }),
  'vendor splits messages': wire({ split: true }),
  'vendor drips': wire({ segmentBytes: 200, segmentEveryMs: 2 }),
  'carrier repeats webhooks': disturbed((dice) => ({ duplicates: dice.between(1, 3) })),
  'carrier shuffles webhooks': disturbed((dice) => ({ shuffle: dice.between(1, 1000) })),
  "carrier's clock is off": disturbed((dice) => ({ clockSkewSeconds: dice.pick([-200, 200]) })),
  "carrier's REST fails": disturbed((dice) => ({
    restFailures: REST_PURPOSES.map((purpose) => ({
      purpose,
      status: dice.pick([0, 429, 500, 503]),
      times: dice.between(1, 6),
    })),
  })),
  "carrier's REST loses answers": disturbed((dice) => ({ lostAnswers: [dice.pick(REST_PURPOSES)] })),
  "carrier's REST is slow": disturbed((dice) => ({ restDelayMs: dice.between(500, 3000) })),
  "carrier's streams are late": disturbed((dice) => ({ streamDelayMs: dice.between(500, 3000) })),
  "carrier B's webhooks are late": disturbed(
    (dice) => ({ webhookDelayMs: dice.between(200, 2000) }),
    'carrier-b',
  ),
  'carrier B sends unknown events': disturbed(
    () => ({ unknownEvents: true, errorFrames: true }),
    'carrier-b',
  ),
  'carrier B uses old envelopes': disturbed(
    () => ({ flatEnvelopes: true, prefixedStreamEvents: true }),
    'carrier-b',
  ),
  'carrier B mixes up media': disturbed(
    () => ({ shuffledChunks: true, repeatedChunks: true, oddPayloads: true }),
    'carrier-b',
  ),
  'carrier B opens no stream': disturbed(() => ({ failedStreams: 1, closedBeforeStart: 1 }), 'carrier-b'),
  'callbacks throw': callbacks('throw'),
  'callbacks never return': callbacks('hang'),
  'the event loop stands still': (world, dice) =>
    tell(someExchange(world, dice), { type: 'stall', ms: dice.between(200, 1200) }),
  'an operator hangs up': operator('hangup'),
  'an operator transfers': operator('transfer'),
  'an upgrade of garbage': atTheDoor(
    `GET /ws/stream/%zz//?caller=% HTTP/1.1\r\n${HEAD}Sec-WebSocket-Key: x\r\n\r\n`,
  ),
  'a request of garbage': atTheDoor(Buffer.from([0x16, 3, 1, 0, 0xff, 0, 0x0d, 0x0a, 0x0d, 0x0a])),
  'a request that never ends': atTheDoor(
    'POST /webhooks/carrier-a/voice HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\na=1',
  ),
  'a dashboard that never reads': atTheDoor('GET /api/dashboard/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'),
  'the process is killed': (world, dice) => {
    const { phone } = someExchange(world, dice);
    void phone.kill(dice.between(100, 1500)).catch(() => {});
  },
};
