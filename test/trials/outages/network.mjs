// The network between the servers of the trial: every connection passes a door that knows whose it is, and can be cut, or slow.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** Each server connects from an address of its own: this one and those that follow. */
const FIRST_OWN = 11;

/** What a server calls from. @param {number} index */
export const addressOf = (index) => `127.0.0.${FIRST_OWN + index}`;

/** @typedef {'silent' | 'refused'} CutManner Bytes are held until the cut is mended, or connections break. */

/** One port that leads to another. */
export class Door {
  /** Delays what comes back, in milliseconds. */
  delayMs = 0;
  /** By the address that somebody calls from. @type {Map<string, CutManner>} */
  #cuts = new Map();
  /** Of everybody. @type {CutManner | undefined} */
  #shut;
  /** @type {Set<Passage>} */
  #passages = new Set();
  #server;
  #port = 0;
  #target;

  /** @param {number} target */
  static async open(target) {
    const door = new Door(target);
    door.#server.listen(0, '127.0.0.1');
    await once(door.#server, 'listening');
    const address = door.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    door.#port = address.port;
    return door;
  }

  /** @param {number} target @private */
  constructor(target) {
    this.#target = target;
    this.#server = createServer((near) => {
      const from = near.remoteAddress ?? '';
      if (this.#cutOf(from) === 'refused') {
        near.on('error', () => {});
        near.destroy();
        return;
      }
      const passage = new Passage(near, connect(this.#target, '127.0.0.1'), {
        from,
        delayMs: () => this.delayMs,
        onClose: () => this.#passages.delete(passage),
      });
      this.#passages.add(passage);
      if (this.#cutOf(from) === 'silent') passage.hold();
    });
  }

  get port() {
    return this.#port;
  }

  /** Nothing passes any more between here and whoever calls from there. @param {string} from @param {CutManner} manner */
  cut(from, manner) {
    this.#cuts.set(from, manner);
    this.#apply(from);
  }

  /** @param {string} from */
  mend(from) {
    this.#cuts.delete(from);
    this.#apply(from);
  }

  /** Ends all connections. Who connects from now on gets to this port. @param {number} target */
  turnTo(target) {
    this.#target = target;
    for (const passage of [...this.#passages]) passage.end();
  }

  /** The same for everybody. @param {CutManner | undefined} manner */
  shut(manner) {
    this.#shut = manner;
    for (const { from } of [...this.#passages]) this.#apply(from);
  }

  close() {
    for (const passage of [...this.#passages]) passage.end();
    this.#server.close();
  }

  /** @param {string} from */
  #cutOf(from) {
    return this.#shut ?? this.#cuts.get(from);
  }

  /** @param {string} from */
  #apply(from) {
    const manner = this.#cutOf(from);
    for (const passage of [...this.#passages]) {
      if (passage.from !== from) continue;
      if (manner === 'refused') passage.end();
      else if (manner === 'silent') passage.hold();
      else passage.release();
    }
  }
}

/** One connection through a door. */
class Passage {
  #near;
  #far;
  #options;
  /** What came while nothing passes. @type {(() => void)[] | undefined} */
  #held;
  /** What comes back late, in its order. @type {(() => void)[]} */
  #late = [];
  #lateUntil = 0;

  /** @param {import('node:net').Socket} near @param {import('node:net').Socket} far @param {{ from: string, delayMs: () => number, onClose: () => void }} options */
  constructor(near, far, options) {
    this.#near = near;
    this.#far = far;
    this.#options = options;
    this.from = options.from;
    for (const [one, other] of /** @type {const} */ ([
      [near, far],
      [far, near],
    ])) {
      one.setNoDelay(true);
      one.on('error', () => {});
      one.on('close', () => {
        // What came back before goes first.
        const pass = one === far ? this.#passLate : this.#pass;
        pass.call(this, () => other.destroy());
        options.onClose();
      });
    }
    near.on('data', (bytes) => this.#pass(() => void far.write(bytes)));
    far.on('data', (bytes) => this.#passLate(() => void near.write(bytes)));
  }

  hold() {
    this.#held ??= [];
  }

  release() {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const act of held) act();
  }

  end() {
    this.#held = undefined;
    this.#near.destroy();
    this.#far.destroy();
  }

  /** @param {() => void} act */
  #pass(act) {
    if (this.#held === undefined) act();
    else this.#held.push(act);
  }

  /** Nothing overtakes what came before it, also once there is no delay any more. @param {() => void} act */
  #passLate(act) {
    const now = performance.now();
    this.#lateUntil = Math.max(this.#lateUntil, now + this.#options.delayMs());
    if (this.#late.length === 0 && this.#lateUntil <= now) {
      this.#pass(act);
      return;
    }
    this.#late.push(act);
    setTimeout(() => {
      const next = this.#late.shift();
      if (next !== undefined) this.#pass(next);
    }, this.#lateUntil - now);
  }
}
