// What happens to broker and servers of the trial, by name, and which of it may happen beside what.
import { pause } from '../world.mjs';
import { OldBroker } from './broker.mjs';

/** A cluster is itself again so long after its broker is: it was told everything, and no server goes by its share. */
export const BROKER_BACK_MS = 8000;
/** The calls of a server that is gone are taken up by then: its lease, and two looks. */
const TAKEN_UP_MS = 10_000;
/** The least that is left in peace. */
const LEFT_ALONE = 2;
/** Between one trouble and the next. */
const PAUSE_MS = /** @type {const} */ ([800, 3000]);
/** No server is started within less, as no replica is. */
const START_MS = 2500;
/** What is still to be played is not given up sooner: a busy machine takes its time. */
const GRACE_MS = 60_000;
/** How a server is cut off, where it is. */
const MANNERS = /** @type {const} */ (['silent', 'refused']);
const PASSWORD = 'a password that no server has';
const SLOW_MS = 500;
/** A replica is behind for no longer. */
const LAG_MS = 400;

/** @typedef {import('./cluster.mjs').TrialCluster} TrialCluster */
/** @typedef {import('./cluster.mjs').ClusterNode} ClusterNode */
/** @typedef {import('../world.mjs').Dice} Dice */
/** @typedef {import('./network.mjs').CutManner} CutManner */
/** @typedef {() => void | Promise<void>} Mend */
/**
 * `of`: the broker, the way of one server to it, or a server that others may take for dead. `begin` resolves to what
 * mends it, after a time within `lastsMs`.
 * @typedef {{
 *   of: 'broker' | 'way' | 'server',
 *   lastsMs: readonly [number, number],
 *   begin: (cluster: TrialCluster, dice: Dice, about: { node: ClusterNode, manner: CutManner }) => void | Mend | Promise<void | Mend>,
 * }} Trouble
 */

export const CUT_OFF = 'a server is cut off from everybody';
export const KILLED = 'a server is killed, and another started';
/** Shorter, or longer, than others wait for it. */
export const STANDS_STILL = ['a server stands still for a moment', 'a server stands still for 20 s'];

/** @type {Readonly<Record<string, Trouble>>} */
export const TROUBLES = {
  'the broker stands still': {
    of: 'broker',
    lastsMs: [1500, 12_000],
    begin: ({ broker }) => {
      broker.freeze();
      return () => broker.thaw();
    },
  },
  'the broker is killed, and starts empty': {
    of: 'broker',
    lastsMs: [300, 8000],
    begin: (cluster) => {
      cluster.losses.push(Date.now());
      void cluster.broker.kill();
      return () => cluster.broker.start();
    },
  },
  'the broker loses everything': {
    of: 'broker',
    lastsMs: [0, 0],
    begin: async (cluster) => {
      cluster.losses.push(Date.now());
      await cluster.broker.ask('FLUSHALL');
    },
  },
  'the broker dies, and a replica that lacks the last of it has its place': {
    of: 'broker',
    lastsMs: [300, 8000],
    begin: async (cluster, dice) => {
      const replica = await cluster.startReplica();
      replica.way.shut('silent');
      await pause(dice.between(0, LAG_MS));
      void cluster.broker.kill();
      return () => cluster.failOver(replica);
    },
  },
  'the broker is slow': {
    of: 'broker',
    lastsMs: [2000, 10_000],
    begin: ({ brokerDoor }) => {
      brokerDoor.delayMs = SLOW_MS;
      return () => {
        brokerDoor.delayMs = 0;
      };
    },
  },
  'the broker is out of memory': {
    of: 'broker',
    lastsMs: [2000, 10_000],
    begin: async ({ broker }) => {
      await broker.ask('CONFIG', 'SET', 'maxmemory', '1');
      return async () => {
        await broker.ask('CONFIG', 'SET', 'maxmemory', '0');
      };
    },
  },
  'the broker takes no password that a server has': {
    of: 'broker',
    lastsMs: [1500, 8000],
    begin: async (cluster) => {
      const { broker, brokerDoor } = cluster;
      cluster.refusesUntil = Number.POSITIVE_INFINITY;
      await broker.demand(PASSWORD);
      brokerDoor.turnTo(broker.port);
      return async () => {
        await broker.demand(undefined);
        cluster.refusesUntil = Date.now();
      };
    },
  },
  'a broker of an older version has its place': {
    of: 'broker',
    lastsMs: [1500, 8000],
    begin: async (cluster) => {
      const old = await OldBroker.start();
      cluster.refusesUntil = Number.POSITIVE_INFINITY;
      cluster.brokerDoor.turnTo(old.port);
      return () => {
        cluster.brokerDoor.turnTo(cluster.broker.port);
        old.close();
        cluster.refusesUntil = Date.now();
      };
    },
  },
  'a server is cut off from the broker': {
    of: 'way',
    lastsMs: [2000, 12_000],
    begin: ({ brokerDoor }, _dice, { node: { from }, manner }) => {
      brokerDoor.cut(from, manner);
      return () => brokerDoor.mend(from);
    },
  },
  [CUT_OFF]: {
    of: 'server',
    lastsMs: [2000, 12_000],
    begin: (cluster, _dice, { node, manner }) => {
      const mend = cutOff(cluster, node, manner);
      cluster.carrierDoor.cut(node.from, manner);
      node.front.shut(manner);
      return () => {
        mend();
        cluster.carrierDoor.mend(node.from);
        node.front.shut(undefined);
      };
    },
  },
  'a server is cut off from broker and servers, and not from the carrier': {
    of: 'server',
    lastsMs: [2000, 12_000],
    begin: (cluster, _dice, { node, manner }) => cutOff(cluster, node, manner),
  },
  [KILLED]: {
    of: 'server',
    lastsMs: [500, 4000],
    begin: (cluster, _dice, { node }) => {
      void node.kill();
      return async () => {
        await cluster.startAgain();
      };
    },
  },
  ...Object.fromEntries(
    STANDS_STILL.map((name, index) => [
      name,
      /** @type {Trouble} */ ({
        of: 'server',
        lastsMs: index === 0 ? [1000, 8000] : [20_000, 20_000],
        begin: (_cluster, _dice, { node: { child } }) => {
          child.kill('SIGSTOP');
          return () => void child.kill('SIGCONT');
        },
      }),
    ]),
  ),
};

/** From broker and servers. @param {TrialCluster} cluster @param {ClusterNode} node @param {CutManner} manner */
function cutOff({ brokerDoor, living }, node, manner) {
  const others = living.filter((other) => other !== node);
  brokerDoor.cut(node.from, manner);
  node.door.shut(manner);
  for (const { door } of others) door.cut(node.from, manner);
  return () => {
    brokerDoor.mend(node.from);
    node.door.shut(undefined);
    for (const { door } of others) door.mend(node.from);
  };
}

/** @typedef {{ name: string, of: Trouble['of'], node: ClusterNode | undefined, from: number, to: number, manner: CutManner }} Played `to`: when it was mended, or infinity. */

/** In what order they are written. */
export const NAMES = Object.keys(TROUBLES);

const isOfServer = (/** @type {string} */ name) => TROUBLES[name]?.of === 'server';

/**
 * Every trouble once, in any order, for clusters that are played beside each other. Those of servers keep a distance from those of the broker: a cluster
 * has all of one kind first.
 * @param {Dice} dice @param {number} clusters @returns {string[][]}
 */
export function deal(dice, clusters) {
  const shuffled = NAMES.map((name) => ({ name, at: dice.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ name }) => name);
  const ordered = [...shuffled.filter(isOfServer), ...shuffled.filter((name) => !isOfServer(name))];
  return Array.from({ length: clusters }, (_, cluster) => {
    const own = ordered.filter((_name, index) => index % clusters === cluster);
    const [ofServers, others] = [own.filter(isOfServer), own.filter((name) => !isOfServer(name))];
    return dice.random() < 0.5 ? [...ofServers, ...others] : [...others, ...ofServers];
  });
}

/** What a trouble takes at least, until the next one may begin. @param {string} name */
function leastMs(name) {
  const { of, lastsMs } = /** @type {Trouble} */ (TROUBLES[name]);
  return lastsMs[0] + START_MS + (of === 'server' ? TAKEN_UP_MS : 0) + PAUSE_MS[1];
}

/** Plays troubles on one cluster. */
export class Schedule {
  /** @type {Played[]} */
  played = [];
  #cluster;
  #dice;
  #canMeet;
  /** Names that are still to come, before any comes again. */
  #queue;
  /** @type {Set<Promise<void>>} */
  #running = new Set();

  /** @param {TrialCluster} cluster @param {{ dice: Dice, queue: readonly string[], canMeet: boolean }} options `canMeet`: a server dies also while the broker is away or another one dies. */
  constructor(cluster, { dice, queue, canMeet }) {
    this.#cluster = cluster;
    this.#dice = dice;
    this.#queue = [...queue];
    this.#canMeet = canMeet;
  }

  /** One after the other, or beside each other, until then, and until all were played that are to be. Resolves when everything is mended. @param {number} until */
  async play(until) {
    while (Date.now() < until + (this.#queue.length > 0 ? GRACE_MS : 0)) {
      this.#begin(until);
      await pause(this.#dice.between(...PAUSE_MS));
    }
    await Promise.all(this.#running);
  }

  /** The broker answers every server, and has for some time. @param {number} at */
  isBrokerThere(at) {
    return this.played.every(({ of, from, to }) => of === 'server' || at < from || at > to + BROKER_BACK_MS);
  }

  /** @param {number} at */
  at(at) {
    return this.played.filter(({ from, to }) => from <= at && at <= to + TAKEN_UP_MS).map(({ name }) => name);
  }

  /** @param {number} until */
  #begin(until) {
    const names = this.#queue.length > 0 ? this.#queue : NAMES;
    const possible = names.filter((name) => this.#isPossible(name));
    if (possible.length === 0) return;
    const name = this.#queue.length > 0 ? /** @type {string} */ (possible[0]) : this.#dice.pick(possible);
    const at = this.#queue.indexOf(name);
    if (at !== -1) this.#queue.splice(at, 1);
    const running = this.#run(name, { until, isDue: at !== -1 }).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** @param {string} name */
  #isPossible(name) {
    const { of } = /** @type {Trouble} */ (TROUBLES[name]);
    const now = Date.now();
    const isRecent = (/** @type {Played} */ { of, to }) =>
      now < to + (of === 'server' ? TAKEN_UP_MS : BROKER_BACK_MS);
    const recent = this.played.filter(isRecent);
    const servers = recent.filter((each) => each.of === 'server');
    if (of === 'broker' && this.played.some((each) => each.of === 'broker' && each.to > now)) return false;
    if (of !== 'broker' && this.#targets.length <= LEFT_ALONE) return false;
    if (this.#canMeet) return true;
    return of === 'server' ? recent.length === 0 : servers.length === 0;
  }

  get #targets() {
    return this.#cluster.ready.filter((node) => node.isUntouched(Date.now()));
  }

  /** What it may last, so that there is time for those that are still to come. `isDue`: it is one of those. @param {string} name @param {{ until: number, isDue: boolean }} about */
  #lasting(name, { until, isDue }) {
    const [least, most] = /** @type {Trouble} */ (TROUBLES[name]).lastsMs;
    const wanted = this.#dice.between(least, most);
    if (!isDue) return Math.max(0, Math.min(wanted, until - Date.now()));
    const rest = this.#queue.reduce((sum, each) => sum + leastMs(each), leastMs(name) - least);
    return Math.max(least, Math.min(wanted, until - Date.now() - rest));
  }

  /** @param {string} name @param {{ until: number, isDue: boolean }} about */
  async #run(name, about) {
    const { of, begin } = /** @type {Trouble} */ (TROUBLES[name]);
    const node = this.#dice.pick(this.#targets);
    const lasts = this.#lasting(name, about);
    const manner = this.#dice.pick(MANNERS);
    const own = {
      name,
      of,
      node: of === 'broker' ? undefined : node,
      from: Date.now(),
      to: Number.POSITIVE_INFINITY,
      manner,
    };
    this.played.push(own);
    const touch = { from: own.from, to: own.to };
    if (of !== 'broker') node.touched.push(touch);
    try {
      const mend = await begin(this.#cluster, this.#dice, { node, manner });
      await pause(lasts);
      await mend?.();
    } finally {
      own.to = Date.now();
      touch.to = own.to;
    }
  }
}
