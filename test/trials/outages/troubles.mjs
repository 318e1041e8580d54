// What happens to broker and servers of the trial, by name, and which of it may happen beside what.
import { pause } from '../world.mjs';

/** A cluster is itself again so long after its broker is: it was told everything, and no server goes by its share. */
export const BROKER_BACK_MS = 8000;
/** The calls of a server that is gone are taken up by then: its lease, and two looks. */
const TAKEN_UP_MS = 10_000;
/** The least that is left in peace. */
const LEFT_ALONE = 2;
const SLOW_MS = 500;
/** A replica is behind for no longer. */
const LAG_MS = 400;

/** @typedef {import('./cluster.mjs').TrialCluster} TrialCluster */
/** @typedef {import('./cluster.mjs').ClusterNode} ClusterNode */
/** @typedef {import('../world.mjs').Dice} Dice */
/** @typedef {() => void | Promise<void>} Mend */
/**
 * `of`: the broker, the way of one server to it, or a server that others may take for dead. `begin` resolves to what
 * mends it, after a time within `lastsMs`.
 * @typedef {{
 *   of: 'broker' | 'way' | 'server',
 *   lastsMs: readonly [number, number],
 *   begin: (cluster: TrialCluster, dice: Dice, node: ClusterNode) => void | Mend | Promise<void | Mend>,
 * }} Trouble
 */

export const CUT_OFF = 'a server is cut off from everybody';

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
  'a server is cut off from the broker': {
    of: 'way',
    lastsMs: [2000, 12_000],
    begin: ({ brokerDoor }, dice, { from }) => {
      brokerDoor.cut(from, dice.pick(/** @type {const} */ (['silent', 'refused'])));
      return () => brokerDoor.mend(from);
    },
  },
  [CUT_OFF]: {
    of: 'server',
    lastsMs: [2000, 12_000],
    begin: (cluster, dice, node) => {
      const manner = dice.pick(/** @type {const} */ (['silent', 'refused']));
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
    begin: (cluster, dice, node) =>
      cutOff(cluster, node, dice.pick(/** @type {const} */ (['silent', 'refused']))),
  },
  'a server is killed, and another started': {
    of: 'server',
    lastsMs: [500, 4000],
    begin: (cluster, _, node) => {
      void node.kill();
      return async () => {
        await cluster.start();
      };
    },
  },
  'a server stands still': {
    of: 'server',
    lastsMs: [1000, 20_000],
    begin: (_cluster, _dice, { child }) => {
      child.kill('SIGSTOP');
      return () => void child.kill('SIGCONT');
    },
  },
};

/** From broker and servers. @param {TrialCluster} cluster @param {ClusterNode} node @param {import('./network.mjs').CutManner} manner */
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

/** @typedef {{ name: string, of: Trouble['of'], node: ClusterNode | undefined, from: number, to: number }} Played `to`: when it was mended, or infinity. */

/** In what order they are written. */
export const NAMES = Object.keys(TROUBLES);

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

  /** @param {TrialCluster} cluster @param {{ dice: Dice, queue: string[], canMeet: boolean }} options `canMeet`: a server dies also while the broker is away or another one dies. */
  constructor(cluster, { dice, queue, canMeet }) {
    this.#cluster = cluster;
    this.#dice = dice;
    this.#queue = queue;
    this.#canMeet = canMeet;
  }

  /** One after the other, or beside each other, until then. Resolves when everything is mended. @param {number} until */
  async play(until) {
    while (Date.now() < until) {
      this.#begin(until);
      await pause(this.#dice.between(800, 3000));
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
    const running = this.#run(name, until).finally(() => this.#running.delete(running));
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

  /** @param {string} name @param {number} until */
  async #run(name, until) {
    const { of, lastsMs, begin } = /** @type {Trouble} */ (TROUBLES[name]);
    const node = this.#dice.pick(this.#targets);
    const lasts = Math.max(0, Math.min(this.#dice.between(...lastsMs), until - Date.now()));
    const own = {
      name,
      of,
      node: of === 'broker' ? undefined : node,
      from: Date.now(),
      to: Number.POSITIVE_INFINITY,
    };
    this.played.push(own);
    const touch = { from: own.from, to: own.to };
    if (of !== 'broker') node.touched.push(touch);
    try {
      const mend = await begin(this.#cluster, this.#dice, node);
      await pause(lasts);
      await mend?.();
    } finally {
      own.to = Date.now();
      touch.to = own.to;
    }
  }
}
