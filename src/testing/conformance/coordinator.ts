// What every coordinator of a cluster must do, as a list of named checks that any test runner can run.
import { systemClock } from '../../base/clock.js';
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { NotFoundError, OffhookError } from '../../base/errors.js';
import type { Coordinator, CoordinatorEvents, NodeMessage } from '../../cluster/coordinator.js';
import type { CallEvent } from '../../contract/call-event.js';

/** One thing that a coordinator must do. `run` rejects when it does not. */
export interface CoordinatorCheck {
  readonly name: string;
  run(): Promise<void>;
}

/** An empty cluster of a check's own. */
export interface CheckedCluster {
  /** A node of it, which has not joined. IDs are compared as text. */
  node(nodeId: string): Promise<Coordinator>;
  /** After every node was closed. */
  close(): Promise<void>;
}

/** What takes longer does not happen, in milliseconds. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 5;
/** What clocks of one machine, and of a broker beside it, differ by at most, in milliseconds. */
const SAME_TIME_MS = 10_000;
/** A place that is over soon. */
const SHORT_MS = 30;
const LONG_MS = 60_000;

const ONE_PLACE = { name: 'one', limit: 1 };

/** The checks for a coordinator. `open` makes a cluster for each check. */
export function testCoordinator(open: () => Promise<CheckedCluster>): CoordinatorCheck[] {
  const check = (name: string, body: (nodes: Nodes) => Promise<void>): CoordinatorCheck => ({
    name,
    run: async () => {
      const cluster = await open();
      const nodes = new Nodes(cluster);
      try {
        await body(nodes);
      } finally {
        await nodes.close();
        await cluster.close();
      }
    },
  });
  return [
    check('a node knows itself, and those that join and leave', async (nodes) => {
      const one = await nodes.join('a');
      deepEqual(idsOf(one), ['a']);
      const two = await nodes.join('b');
      await until(() => deepEqual(idsOf(one), ['a', 'b']));
      await until(() => deepEqual(idsOf(two), ['a', 'b']));
      await two.close();
      await until(() => deepEqual(idsOf(one), ['a']));
    }),
    check('a node that has left is remembered, and that it has said so', async (nodes) => {
      const [one, two] = [await nodes.join('a'), await nodes.join('b')];
      const three = await nodes.join('c');
      await until(() => deepEqual(idsOf(one), ['a', 'b', 'c']));
      const { address } = one.find('b') ?? {};
      ok(address !== undefined);
      deepEqual(one.find('b'), { nodeId: 'b', address, hasLeft: false });
      equal(one.find('nobody'), undefined);
      await Promise.all([two.close(), three.close()]);
      await until(() => deepEqual(idsOf(one), ['a']));
      for (const id of ['b', 'c']) equal(one.find(id)?.hasLeft, true);
      equal(one.find('b')?.address, address);
      equal(one.find('a')?.hasLeft, false);
      // Who comes back under its ID is there.
      await nodes.join('b');
      await until(() => deepEqual(idsOf(one), ['a', 'b']));
      equal(one.find('b')?.hasLeft, false);
    }),
    check('one that only observes hears and asks the nodes, and is none', async (nodes) => {
      const one = await nodes.join('a', async (_, from) => `said to ${from}`);
      const observer = await nodes.observe('b');
      await until(() => deepEqual(idsOf(observer), ['a']));
      const two = await nodes.join('c');
      await until(() => deepEqual(idsOf(observer), ['a', 'c']));
      await until(() => deepEqual(idsOf(one), ['a', 'c']));
      const heard: number[] = [];
      observer.tail(({ seq }) => heard.push(seq));
      await one.append([factOf(1)]);
      await until(() => deepEqual(heard, [1]));
      equal(await observer.send('a', MESSAGE, PATIENCE_MS), 'said to b');
      await rejects(two.send('b', MESSAGE, PATIENCE_MS), hasCode('CLUSTER_FAILED'));
      await two.close();
      await until(() => deepEqual(idsOf(observer), ['a']));
      await observer.close();
      await until(() => deepEqual(idsOf(one), ['a']));
    }),
    check('a node that has joined is taken for alive', async (nodes) => {
      const one = await nodes.join('a');
      ok(one.isThere);
      ok(one.leasedUntil > systemClock.now());
    }),
    check('the first to claim a call has it', async (nodes) => {
      const [one, two] = [await nodes.join('b'), await nodes.join('a')];
      equal(await one.ownerOf('call'), undefined);
      deepEqual(await one.claim('call', 1), { nodeId: 'b', term: 1 });
      deepEqual(await two.claim('call', 1), { nodeId: 'b', term: 1 });
      deepEqual(await two.ownerOf('call'), { nodeId: 'b', term: 1 });
      deepEqual(await one.claim('call', 1), { nodeId: 'b', term: 1 });
    }),
    check('of many that claim one call at once, one has it', async (nodes) => {
      const all = await Promise.all(['a', 'b', 'c', 'd'].map((id) => nodes.join(id)));
      const owners = await Promise.all(all.map((node) => node.claim('call', 2)));
      equal(new Set(owners.map(({ nodeId }) => nodeId)).size, 1);
    }),
    check('a higher term takes a call from who had it', async (nodes) => {
      const [one, two] = [await nodes.join('a'), await nodes.join('b')];
      await one.claim('call', 1);
      deepEqual(await two.claim('call', 2), { nodeId: 'b', term: 2 });
      deepEqual(await one.claim('call', 1), { nodeId: 'b', term: 2 });
      deepEqual(await one.ownerOf('call'), { nodeId: 'b', term: 2 });
    }),
    check('claims of different calls have nothing to do with each other', async (nodes) => {
      const [one, two] = [await nodes.join('a'), await nodes.join('b')];
      await one.claim('call-1', 3);
      deepEqual(await two.claim('call-2', 1), { nodeId: 'b', term: 1 });
    }),
    check('a call that is released has its last owner for a while', async (nodes) => {
      const [one, two] = [await nodes.join('a'), await nodes.join('b')];
      await one.claim('kept', 1);
      await one.claim('gone', 1);
      await one.release('kept', LONG_MS);
      await one.release('gone', 0);
      deepEqual(await two.ownerOf('kept'), { nodeId: 'a', term: 1 });
      equal(await two.ownerOf('gone'), undefined);
    }),
    check('nobody releases the call of another', async (nodes) => {
      const [one, two] = [await nodes.join('a'), await nodes.join('b')];
      await one.claim('call', 1);
      await two.release('call', 0);
      deepEqual(await two.ownerOf('call'), { nodeId: 'a', term: 1 });
    }),
    check('the calls and places of a node that leaves are free', async (nodes) => {
      const [one, two] = [await nodes.join('a'), await nodes.join('b')];
      await one.claim('call', 4);
      ok((await one.take(ONE_PLACE, 'x', LONG_MS)).hasPlace);
      await one.close();
      equal(await two.ownerOf('call'), undefined);
      ok((await two.take(ONE_PLACE, 'y', LONG_MS)).hasPlace);
    }),
    check('the state of a call is kept for the others, the newest of the highest term', async (nodes) => {
      const [one, two] = [await nodes.join('a'), await nodes.join('b')];
      equal(await two.stateOf('call'), undefined);
      await one.claim('call', 1);
      await one.keepState('call', 1, 'first ä "');
      await one.keepState('call', 1, 'second ä "');
      const { term, text } = (await two.stateOf('call')) ?? {};
      deepEqual([term, text], [1, 'second ä "']);
      await two.keepState('call', 2, 'third');
      await one.keepState('call', 1, 'too late');
      equal((await one.stateOf('call'))?.text, 'third');
    }),
    check('states and facts are dated by a time that all nodes share', async (nodes) => {
      const [one, two] = [await nodes.join('a'), await nodes.join('b')];
      const isNow = (at: number | undefined) =>
        ok(Math.abs((at ?? 0) - two.time.now()) < SAME_TIME_MS, `${at} is not now`);
      isNow(one.time.now());
      await one.keepState('call', 1, 'state');
      isNow((await two.stateOf('call'))?.at);
      const told: number[] = [];
      await one.append([factOf(1)]);
      two.tail((_, toldAt) => told.push(toldAt));
      await until(() => equal(told.length, 1));
      isNow(told[0]);
    }),
    check('the state of a call goes as its owner releases it', async (nodes) => {
      const [one, two] = [await nodes.join('a'), await nodes.join('b')];
      await one.claim('call', 1);
      await one.keepState('call', 1, 'state');
      await two.release('call', 0);
      equal((await two.stateOf('call'))?.text, 'state');
      await one.release('call', LONG_MS);
      equal(await two.stateOf('call'), undefined);
      deepEqual(await two.ownerOf('call'), { nodeId: 'a', term: 1 });
    }),
    check('as many places are taken as there are, by all nodes together', async (nodes) => {
      const [one, two] = [await nodes.join('a'), await nodes.join('b')];
      const pool = { name: 'three', limit: 3 };
      const tries = Array.from({ length: 10 }, (_, index) =>
        (index % 2 === 0 ? one : two).take(pool, `place-${index}`, LONG_MS),
      );
      const answers = await Promise.all(tries);
      const had = answers.filter(({ hasPlace }) => hasPlace).map(({ taken }) => taken);
      deepEqual(had.sort(), [1, 2, 3]);
      equal(await two.taken(pool), 3);
      deepEqual(await one.take({ name: 'another', limit: 1 }, 'place', LONG_MS), {
        hasPlace: true,
        taken: 1,
      });
    }),
    check('a place is kept by who has it, and taken by the next once it is given back', async (nodes) => {
      const [one, two] = [await nodes.join('a'), await nodes.join('b')];
      ok((await one.take(ONE_PLACE, 'x', LONG_MS)).hasPlace);
      ok((await one.take(ONE_PLACE, 'x', LONG_MS)).hasPlace);
      deepEqual(await two.take(ONE_PLACE, 'y', LONG_MS), { hasPlace: false, taken: 1 });
      await one.giveBack(ONE_PLACE, 'x');
      ok((await two.take(ONE_PLACE, 'y', LONG_MS)).hasPlace);
    }),
    check('a place that goes to another node is one, and stays as the first one leaves', async (nodes) => {
      const [one, two] = [await nodes.join('a'), await nodes.join('b')];
      await one.take(ONE_PLACE, 'x', LONG_MS);
      deepEqual(await two.take(ONE_PLACE, 'x', LONG_MS), { hasPlace: true, taken: 1 });
      one.handOn(ONE_PLACE, 'x');
      await one.close();
      equal(await two.taken(ONE_PLACE), 1);
      await two.giveBack(ONE_PLACE, 'x');
      await two.giveBack(ONE_PLACE, 'x');
      equal(await two.taken(ONE_PLACE), 0);
    }),
    check('a place that is handed on and kept by nobody is free after its time', async (nodes) => {
      const [one, two] = [await nodes.join('a'), await nodes.join('b')];
      await one.take(ONE_PLACE, 'x', SHORT_MS);
      one.handOn(ONE_PLACE, 'x');
      await until(async () => equal(await two.taken(ONE_PLACE), 0));
    }),
    check('a place that nobody keeps is free after its time', async (nodes) => {
      const [one, two] = [await nodes.join('a'), await nodes.join('b')];
      ok((await one.take(ONE_PLACE, 'x', SHORT_MS)).hasPlace);
      await until(async () => ok((await two.take(ONE_PLACE, 'y', LONG_MS)).hasPlace));
    }),
    check('every node hears the facts of another, in order, also one that comes later', async (nodes) => {
      const [one, two] = [await nodes.join('a'), await nodes.join('b')];
      const heard: CallEvent[][] = [[], []];
      const follow = (node: Coordinator, index: number) => node.tail((fact) => heard[index]?.push(fact));
      follow(two, 0);
      await one.append([factOf(1), factOf(2)]);
      // One that it has of a call that it took over.
      await two.append([factOf(3)]);
      await one.append([]);
      follow(await nodes.join('c'), 1);
      await one.append([factOf(4)]);
      const all = [1, 2, 3, 4].map(factOf);
      for (const facts of heard) await until(() => deepEqual(facts, all));
    }),
    check('a fact is heard as it was said, whatever is in it', async (nodes) => {
      const [one, two] = [await nodes.join('a'), await nodes.join('b')];
      const heard: CallEvent[] = [];
      two.tail((fact) => heard.push(fact));
      const unknown = { ...factOf(1), type: 'of.another.version', words: 'ä "\u2028" 😀', deep: { n: null } };
      await one.append([unknown as unknown as CallEvent]);
      await until(() => deepEqual(heard, [unknown]));
    }),
    check('a node answers what another asks', async (nodes) => {
      const one = await nodes.join('a');
      await nodes.join('b', async ({ type, callId, body }, from) =>
        JSON.stringify([type, callId, body, from]),
      );
      await until(() => deepEqual(idsOf(one), ['a', 'b']));
      const message = { type: 'hang-up', callId: 'call', body: 'ä "' };
      equal(await one.send('b', message, PATIENCE_MS), JSON.stringify(['hang-up', 'call', 'ä "', 'a']));
      equal(
        await one.send('b', { ...message, callId: null }, PATIENCE_MS),
        JSON.stringify(['hang-up', null, 'ä "', 'a']),
      );
    }),
    check('what a node throws is thrown where it was asked', async (nodes) => {
      const one = await nodes.join('a');
      await nodes.join('b', async () => {
        throw new NotFoundError('No such call.');
      });
      await until(() => deepEqual(idsOf(one), ['a', 'b']));
      await rejects(one.send('b', MESSAGE, PATIENCE_MS), hasCode('NOT_FOUND'));
    }),
    check('a node that is not there, or does not answer, is given up', async (nodes) => {
      const one = await nodes.join('a');
      await nodes.join('b', () => new Promise(() => {}));
      await until(() => deepEqual(idsOf(one), ['a', 'b']));
      await rejects(one.send('nobody', MESSAGE, PATIENCE_MS), hasCode('CLUSTER_FAILED'));
      await rejects(one.send('b', MESSAGE, SHORT_MS), hasCode('CLUSTER_FAILED'));
    }),
    check('can be closed twice', async (nodes) => {
      const one = await nodes.join('a');
      await Promise.all([one.close(), one.close()]);
      await one.close();
    }),
  ];
}

const MESSAGE: NodeMessage = { type: 'probe', callId: null, body: '' };

/** The nodes of one check. */
class Nodes {
  readonly #cluster: CheckedCluster;
  readonly #joined: Coordinator[] = [];

  constructor(cluster: CheckedCluster) {
    this.#cluster = cluster;
  }

  async join(nodeId: string, answer: CoordinatorEvents['answer'] = async () => ''): Promise<Coordinator> {
    const node = await this.#open(nodeId);
    await node.join({ answer, outranked() {}, emptied() {} });
    return node;
  }

  async observe(nodeId: string): Promise<Coordinator> {
    const node = await this.#open(nodeId);
    await node.observe();
    return node;
  }

  async #open(nodeId: string): Promise<Coordinator> {
    const node = await this.#cluster.node(nodeId);
    this.#joined.push(node);
    return node;
  }

  async close(): Promise<void> {
    await Promise.all(this.#joined.map((node) => node.close()));
  }
}

/** The nodes that it knows. */
export function idsOf(node: Coordinator): string[] {
  return node
    .nodes()
    .map(({ nodeId }) => nodeId)
    .sort();
}

/** Of one call, in order of `seq`. */
export function factOf(seq: number): CallEvent {
  const envelope = { callId: 'call', nodeId: 'a', originId: 'a', term: 1, seq, at: 1_700_000_000_000 + seq };
  return { ...envelope, type: 'dtmf.received', digit: String(seq % 10) };
}

function hasCode(code: string): (error: unknown) => boolean {
  return (error) => OffhookError.isInstance(error) && error.code === code;
}

/** Looks again until `check` passes. */
async function until(check: () => void | Promise<void>): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    try {
      await check();
      return;
    } catch (error) {
      if (waitedMs >= PATIENCE_MS) throw error;
      await pause(LOOK_MS);
    }
  }
}
